package campaign

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"recount/harness/estimate"
	"recount/harness/hunt"
	"recount/harness/looked"
	"recount/harness/record"
)

// Result is what a shard came to. It depends on the shard alone: no time of day, no machine.
type Result struct {
	Shard  string         `json:"shard"` // its id
	Chain  int            `json:"chain"`
	Link   int            `json:"link,omitempty"`
	Runs   int            `json:"runs"`
	Broken map[string]int `json:"broken,omitempty"` // how many runs broke each property, promised or not
	Kinds  []Kind         `json:"kinds,omitempty"`
	Cut    map[string]int `json:"cut,omitempty"` // by property, runs of kinds that are not told of: see maxKinds
	Aims   []Aim          `json:"aims,omitempty"`
	Came   map[string]int `json:"came,omitempty"`  // by their patterns, lines that are to come sometimes in logs of nodes
	Sizes  []Size         `json:"sizes,omitempty"` // how clusters came up, smaller ones first; none where all did, in simulation
	Reach  []byte         `json:"reach,omitempty"` // see estimate.Reach
}

// Kind is findings that are likely to be the same: by the same faults the same property broke in the same circumstances. What
// they are is known when the least of them is shrunk.
type Kind struct {
	Kind     string          `json:"kind"`
	Property string          `json:"property"`
	Runs     int             `json:"runs"`
	Size     int             `json:"size"` // of the least
	Seed     uint64          `json:"seed"` // of the least
	Plan     json.RawMessage `json:"plan"` // of the least, a record.Plan: of thousands of plans few are ever looked at
}

// Aim is how often a fault was aimed at something.
type Aim struct {
	Fault string `json:"fault"`
	At    string `json:"at,omitempty"` // roles
	Times int    `json:"times"`
	Took  int    `json:"took"` // it was seen to take effect
	// Why says why it did not, one of the times, where it never did; "" if nobody knows.
	Why string `json:"why,omitempty"`
}

// maxKinds is how many kinds a shard tells of: the smallest ones, of each property in turn, and of the others how many runs showed
// them. A weakness that any fault brings to light comes in hundreds of kinds, which are shrunk to a few.
const maxKinds = 30

// maxParents is how many plans a shard hands on to the next of its chain.
const maxParents = 100

// Make makes a shard's runs: a hunt, by cfg, that begins with parents. It returns the plans that are worth varying by the next. The
// plans of the result name the target as the subject does.
func (s Shard) Make(ctx context.Context, cfg hunt.Config, of Subject, parents []record.Plan) (*Result, []record.Plan, error) {
	r := &Result{Shard: s.ID(), Chain: s.Chain, Link: s.Link, Runs: s.Runs, Came: map[string]int{}}
	var reach estimate.Reach
	run, number := s.number(), uint64(0)
	kinds, aims := map[string]*Kind{}, map[looked.Aimed]*Aim{}
	var came sizes
	worth := slices.Clone(parents)
	var failed error
	each := cfg.Each
	cfg.Seed, cfg.Runs, cfg.Budget, cfg.KeepGoing, cfg.Parents = s.Seed(of.Seed), s.Runs, 0, true, parents
	cfg.Each = func(t hunt.Trial) {
		if each != nil {
			each(t)
		}
		failed = errors.Join(failed, came.note(t, of))
		if t.LeftOut || t.Unstarted != nil {
			return
		}
		number++
		reach.Add(run+number, short(t.Reached))
		if t.Fresh {
			worth = append(worth, t.Plan)
		}
		for _, line := range t.Sometimes {
			r.Came[line.Pattern] += line.Times
		}
		for _, a := range t.Aimed {
			at := looked.Aimed{Fault: a.Fault, At: a.At}
			if aims[at] == nil {
				aims[at] = &Aim{Fault: a.Fault, At: a.At}
			}
			aims[at].Times++
			if aims[at].Why = cmp.Or(aims[at].Why, a.Why); a.Took {
				aims[at].Took++
			}
		}
		for _, f := range t.Found {
			failed = errors.Join(failed, noteKind(kinds, f, of))
		}
	}
	result, err := hunt.Hunt(ctx, cfg)
	err = errors.Join(err, failed)
	switch {
	case err != nil:
		return nil, nil, err
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case result.Stuck != nil:
		return nil, nil, fmt.Errorf("run %d, seed %d: %w", result.Stuck.Run, result.Stuck.Plan.Seed, result.Stuck.Err)
	case result.Done() != s.Runs:
		return nil, nil, fmt.Errorf("shard %s: %d of %d runs were made", s.ID(), result.Runs, s.Runs)
	}
	r.Broken = result.Broken
	if cfg.On != record.OnSim || result.NotStarted > 0 {
		r.Sizes = came.sorted()
	}
	r.Kinds, r.Cut = told(kinds)
	for _, a := range aims {
		if a.Took > 0 {
			a.Why = ""
		}
		r.Aims = append(r.Aims, *a)
	}
	slices.SortFunc(r.Aims, func(a, b Aim) int { return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.At, b.At)) })
	if r.Reach, err = reach.MarshalBinary(); err != nil {
		return nil, nil, err
	}
	return r, worth[max(0, len(worth)-maxParents):], nil
}

// told are the kinds that a shard tells of, and how many runs showed others of each property.
func told(kinds map[string]*Kind) (all []Kind, cut map[string]int) {
	cut = map[string]int{}
	for _, k := range kinds {
		all = append(all, *k)
	}
	slices.SortFunc(all, func(a, b Kind) int { return cmp.Or(a.Size-b.Size, b.Runs-a.Runs, cmp.Compare(a.Kind, b.Kind)) })
	before, rank := map[string]int{}, map[string]int{} // of the same property
	for _, k := range all {
		rank[k.Kind] = before[k.Property]
		before[k.Property]++
	}
	slices.SortStableFunc(all, func(a, b Kind) int { return rank[a.Kind] - rank[b.Kind] })
	for _, k := range all[min(len(all), maxKinds):] {
		cut[k.Property] += k.Runs
	}
	return all[:min(len(all), maxKinds)], cut
}

func noteKind(kinds map[string]*Kind, f *hunt.Finding, of Subject) (err error) {
	k := kinds[f.Kind()]
	if k == nil {
		k = &Kind{Kind: f.Kind(), Property: f.Property}
		kinds[k.Kind] = k
	}
	k.Runs++
	if k.Runs == 1 || f.Size() < k.Size {
		k.Size, k.Seed = f.Size(), f.Plan.Seed
		k.Plan, err = json.Marshal(of.stored(f.Plan))
	}
	return err
}

// number is where the numbers of the shard's runs begin: no other shard's are near.
func (s Shard) number() uint64 { return numbered(s.ID()) }

// numbered is where the numbers of the runs of a shard of that id begin.
func numbered(id string) uint64 {
	b, err := hex.DecodeString(id)
	if err != nil {
		panic(err) // an id is such digits
	}
	return binary.BigEndian.Uint64(b) &^ (maxShard - 1)
}

// short are the keys that coverage is merged by.
func short(all map[looked.Feature]struct{}) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for k := range all {
			if !yield(uint32(k)) {
				return
			}
		}
	}
}
