package campaign

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"sync"

	"recount/harness/campaign/store"
	"recount/harness/estimate"
)

// pack is results put together, so that the sum of many takes few reads. What they have reached is merged already, and what they
// have aimed at is told once: most of a result is the same words as in the one before. Only the program that made the results reads it,
// so it is written as Go writes data: to read JSON took half the time of a sum.
type pack struct {
	Results []*Result
	Aims    []Aim  // of all, without how often they were
	Counts  []byte // of each result, as varints: how many aims, and of each which, how often, how often it took
	Reach   []byte
}

// packed is how many results a pack has.
const packed = 250

// together puts results together.
func together(all []*Result) (*pack, error) {
	p := &pack{}
	var reach estimate.Reach
	known := map[Aim]int{}
	for _, r := range all {
		if err := reach.MergeBinary(r.Reach); err != nil {
			return nil, err
		}
		p.Counts = binary.AppendUvarint(p.Counts, uint64(len(r.Aims)))
		for _, a := range r.Aims {
			key := Aim{Fault: a.Fault, At: a.At, Why: a.Why}
			k, is := known[key]
			if !is {
				k, known[key] = len(p.Aims), len(p.Aims)
				p.Aims = append(p.Aims, key)
			}
			for _, n := range []int{k, a.Times, a.Took} {
				p.Counts = binary.AppendUvarint(p.Counts, uint64(n))
			}
		}
		without := *r
		without.Reach, without.Aims = nil, nil
		p.Results = append(p.Results, &without)
	}
	var err error
	p.Reach, err = reach.MarshalBinary()
	return p, err
}

var errPack = errors.New("counts that do not fit its results")

// take gives the results what they have aimed at again.
func (p *pack) take() error {
	counts, cut := p.Counts, false
	next := func() int {
		v, n := binary.Uvarint(counts)
		if n <= 0 {
			cut = true
			return 0
		}
		counts = counts[n:]
		return int(v)
	}
	for _, r := range p.Results {
		many := next()
		if many < 0 || many > len(counts) {
			return errPack
		}
		r.Aims = make([]Aim, many)
		for i := range r.Aims {
			k := next()
			if k < 0 || k >= len(p.Aims) {
				return errPack
			}
			r.Aims[i] = p.Aims[k]
			r.Aims[i].Times, r.Aims[i].Took = next(), next()
		}
	}
	if cut || len(counts) > 0 {
		return errPack
	}
	return nil
}

// eachPack reads packs, and gives them to f one at a time.
func eachPack(ctx context.Context, s *store.Store, all []string, f func(key string, p *pack) error) error {
	var mu sync.Mutex
	return s.Each(ctx, all, func(key string, text []byte) error {
		p := &pack{}
		err := gob.NewDecoder(bytes.NewReader(text)).Decode(p)
		if err == nil {
			err = p.take()
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", s.URL, key, err)
		}
		mu.Lock()
		defer mu.Unlock()
		return f(key, p)
	})
}

// keepPack keeps results together.
func keepPack(ctx context.Context, s *store.Store, subject string, all []*Result) error {
	var ids []string
	for _, r := range all {
		ids = append(ids, r.Shard)
	}
	p, err := together(all)
	var text bytes.Buffer
	if err == nil {
		err = gob.NewEncoder(&text).Encode(p)
	}
	if err == nil {
		err = s.Put(ctx, packPrefix(subject)+hash(ids), text.Bytes())
	}
	return err
}

// putPack keeps results together, and then removes them one by one.
func putPack(ctx context.Context, s *store.Store, subject string, all []*Result) error {
	if err := keepPack(ctx, s, subject, all); err != nil {
		return err
	}
	var loose []string
	for _, r := range all {
		loose = append(loose, "results/"+subject+"/"+r.Shard)
	}
	return s.DeleteAll(ctx, loose)
}
