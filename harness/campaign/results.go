package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"recount/harness/campaign/store"
	"recount/harness/estimate"
	"recount/harness/record"
)

// Where things lie in the store.
func resultKey(s Shard) string               { return "results/" + s.Subject + "/" + s.ID() }
func packPrefix(subject string) string       { return "packs/" + subject + "/" }
func parentsKey(s Shard) string              { return "parents/" + s.Subject + "/" + s.ID() }
func claimKey(c Chain) string                { return fmt.Sprintf("claims/%s/%d", c.Subject, c.Number) }
func findingKey(subject, kind string) string { return "findings/" + subject + "/" + hash(kind) }

// Prefixes are those of the keys that lie in a store beside the copy of the campaign's folder.
var Prefixes = []string{"claims", "findings", "packs", "parents", "plans", "results", "yardstick"}

// Sum is what shards of a subject have come to together. To add a result again changes nothing.
type Sum struct {
	Runs   int             // those that did not start, or were left out, among them
	Done   map[string]bool // by the ids of shards
	Broken map[string]int
	Waves  []map[string]*Kind // see wave
	Cut    map[string]int     // by property, runs of kinds that shards do not tell of
	Aims   map[Aim]Aim        // by fault and roles
	Came   map[string]int     // lines that are to come sometimes
	Sizes  sizes
	Reach  estimate.Reach

	counts func(*Result) bool // which results do; nil for all
}

func newSum() *Sum {
	return &Sum{Done: map[string]bool{}, Broken: map[string]int{}, Cut: map[string]int{}, Aims: map[Aim]Aim{}, Came: map[string]int{}}
}

func (s *Sum) wants(r *Result) bool { return s.counts == nil || s.counts(r) }

// add adds a shard's result.
func (s *Sum) add(r *Result) error {
	if s.Done[r.Shard] || !s.wants(r) {
		return nil
	}
	s.Done[r.Shard] = true
	s.Runs += r.Runs
	for property, n := range r.Broken {
		s.Broken[property] += n
	}
	for property, n := range r.Cut {
		s.Cut[property] += n
	}
	for line, n := range r.Came {
		s.Came[line] += n
	}
	for i := range r.Kinds {
		s.addKind(r.Chain/wave, r.Kinds[i])
	}
	for _, z := range r.Sizes {
		s.Sizes.join(z)
	}
	for _, a := range r.Aims {
		key := Aim{Fault: a.Fault, At: a.At}
		s.Aims[key] = s.Aims[key].join(a)
	}
	return s.Reach.MergeBinary(r.Reach)
}

// addPack adds results that were put together. What they have reached counts together with their runs: it is set against these.
func (s *Sum) addPack(p *pack) error {
	others := map[uint64]bool{}
	for _, r := range p.Results {
		if err := s.add(r); err != nil {
			return err
		}
		if !s.wants(r) {
			others[numbered(r.Shard)] = true
		}
	}
	err := s.Reach.MergeBinary(p.Reach)
	if len(others) > 0 { // what they have reached together with runs that count stays, as reached by several
		s.Reach.Forget(func(run uint64) bool { return others[run&^(maxShard-1)] })
	}
	return err
}

// join adds how often the same fault was aimed at the same. Of reasons the first by the alphabet counts, so that it does not matter
// which came first.
func (a Aim) join(other Aim) Aim {
	other.Times += a.Times
	switch other.Took += a.Took; {
	case other.Took > 0:
		other.Why = ""
	case other.Why == "" || a.Why != "" && a.Why < other.Why:
		other.Why = a.Why
	}
	return other
}

// wave is how many chains of a subject make a wave, after which new kinds of findings are shrunk. What is shrunk depends on the
// wave and those before it alone, whatever else was made by then.
const wave = 16

// addKind counts runs of a kind that a wave has shown, and keeps the least.
func (s *Sum) addKind(w int, k Kind) {
	for len(s.Waves) <= w {
		s.Waves = append(s.Waves, map[string]*Kind{})
	}
	if known := s.Waves[w][k.Kind]; known != nil {
		known.join(k)
	} else {
		s.Waves[w][k.Kind] = &k
	}
}

// join adds runs of the same kind. The least is the one with the smallest plan, or else with the smallest seed, so that it does
// not matter which came first.
func (k *Kind) join(other Kind) {
	k.Runs += other.Runs
	if cmp.Or(other.Size-k.Size, cmp.Compare(other.Seed, k.Seed)) < 0 {
		k.Size, k.Seed, k.Plan = other.Size, other.Seed, other.Plan
	}
}

// kinds are those that the waves before one have shown.
func (s *Sum) kinds(before int) map[string]*Kind {
	all := map[string]*Kind{}
	for _, of := range s.Waves[:min(before, len(s.Waves))] {
		for name, k := range of {
			if all[name] == nil {
				copied := *k
				all[name] = &copied
			} else {
				all[name].join(*k)
			}
		}
	}
	return all
}

// Total sums up those results of a subject that count; with nil all do. With keep it also puts results together that lie there one by one.
func Total(ctx context.Context, s *store.Store, subject string, counts func(*Result) bool, keep bool) (*Sum, error) {
	sum := newSum()
	sum.counts = counts
	// First what lies there one by one, then the packs: what is packed between is in one of both lists.
	loose, err := keys(ctx, s, "results/"+subject+"/")
	if err != nil {
		return nil, err
	}
	packs, err := keys(ctx, s, packPrefix(subject))
	if err != nil {
		return nil, err
	}
	err = eachPack(ctx, s, packs, func(_ string, p *pack) error {
		return sum.addPack(p)
	})
	if err != nil {
		return nil, err
	}
	loose = slices.DeleteFunc(loose, func(key string) bool { return sum.Done[key[strings.LastIndexByte(key, '/')+1:]] })
	var mu sync.Mutex
	var all []*Result
	err = s.Each(ctx, loose, func(_ string, text []byte) error {
		r := &Result{}
		if json.Unmarshal(text, r) != nil {
			return nil // who makes the shard says so
		}
		mu.Lock()
		defer mu.Unlock()
		if keep {
			all = append(all, r)
		}
		return sum.add(r)
	})
	if err == nil && keep {
		for part := range slices.Chunk(all, packed) {
			if len(part) == packed {
				err = errors.Join(err, putPack(ctx, s, subject, part))
			}
		}
	}
	return sum, err
}

func keys(ctx context.Context, s *store.Store, prefix string) (all []string, err error) {
	for key, err := range s.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		all = append(all, key)
	}
	return all, nil
}

// plan reads a plan from the store: the target is where this process has it.
func (s *subject) plan(text []byte) (p record.Plan, err error) {
	err = json.Unmarshal(text, &p)
	p.Target = s.target.Target
	return p, err
}

// parents returns the plans that the shard before handed on.
func (s *subject) parents(ctx context.Context, st *store.Store, before Shard) (plans []record.Plan, err error) {
	text, err := st.Get(ctx, parentsKey(before))
	if err == nil {
		err = json.Unmarshal(text, &plans)
	}
	for i := range plans {
		plans[i].Target = s.target.Target
	}
	return plans, err
}

// missing reports whether an error says that something is not in the store.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
