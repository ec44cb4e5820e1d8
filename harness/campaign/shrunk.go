package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"recount/harness"
	"recount/harness/campaign/store"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/internal/whole"
	"recount/report"
)

// Shrunk is what a kind of findings was shrunk to.
type Shrunk struct {
	Kind      string            `json:"kind"`
	Wave      int               `json:"wave"`
	Signature string            `json:"signature"` // "" if the run, made again, did not break the property
	Property  string            `json:"property"`
	Why       string            `json:"why"`
	Options   map[string]string `json:"options,omitempty"`
	Plan      record.Plan       `json:"plan"`
	Hits      int               `json:"hits"` // of so many runs of the plan with other seeds
	Measured  int               `json:"measured"`
	Took      int               `json:"took"` // runs

	hurried bool // there was no time for more: it may not be the least
}

// shrinking is how kinds are shrunk, by where the runs take place. How many runs it may take decides on what is found, so it is the same
// everywhere: as many as take some minutes.
var shrinking = map[string]shrink.Config{
	record.OnSim:     {Jobs: 1, Runs: 1500},
	record.OnVirtual: {Jobs: 1, Runs: 150, Measure: 10},
	record.OnDocker:  {Jobs: 1, Runs: 60, Measure: 10, Need: 2, Of: 3, Budget: 30 * time.Minute},
}

// Run is the name of the folder of the kept run: the same for all kinds of a subject that are shrunk to the same.
func (s *Shrunk) Run(subject string) string { return hash([]string{subject, s.Signature})[:12] }

// choose returns the kinds that are to be shrunk after a wave, the smallest first.
func (s *Sum) choose(w int, known map[string]*Shrunk) []*Kind {
	all := s.kinds(w + 1)
	maps.DeleteFunc(all, func(name string, _ *Kind) bool { return known[name] != nil })
	return slices.SortedFunc(maps.Values(all), func(a, b *Kind) int {
		return cmp.Or(a.Size-b.Size, b.Runs-a.Runs, cmp.Compare(a.Kind, b.Kind))
	})
}

// allowance is how many runs a wave may spend on shrinking: half as many again as it has made, and enough for one finding.
func allowance(on string, runs int) int { return max(runs/2, shrinking[on].Runs) }

// shrinker makes kinds smaller, and keeps the runs of what it comes to.
type shrinker struct {
	store  *store.Store
	folder string // of the campaign
	make   func(ctx context.Context, p record.Plan) (*record.Run, error)
	at     atomic.Int32 // how many kinds are being shrunk
}

// shrink makes the least plan of a kind of a subject smaller, where its runs take place, down to a cluster of the fewest nodes that were hunted.
func (s *shrinker) shrink(ctx context.Context, of *subject, k *Kind, w int) (*Shrunk, error) {
	s.at.Add(1)
	defer s.at.Add(-1)
	out := &Shrunk{Kind: k.Kind, Wave: w, Property: k.Property}
	plan, err := of.plan(k.Plan)
	if err != nil {
		return nil, err
	}
	out.Plan = of.stored(plan)
	cfg := shrinking[of.On]
	cfg.Property, cfg.Fewest, cfg.Pinned = k.Property, of.config.Nodes[0], of.config.Pinned()
	if of.On != record.OnSim {
		cfg.Make = s.make
	}
	end, limited := ctx.Deadline()
	if left := time.Until(end) * 9 / 10; limited && (cfg.Budget == 0 || left < cfg.Budget) {
		cfg.Budget = left // the least until then is better than nothing
	}
	var again *record.Run
	for range max(1, cfg.Of) { // where runs do not repeat, the violation may take some
		again, err = s.make(ctx, plan)
		if out.Took++; harness.DidNotStart(err) != nil {
			again = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		if shrink.Breaks(again, k.Property) {
			break
		}
	}
	if again == nil || !shrink.Breaks(again, k.Property) {
		return out, ctx.Err()
	}
	small, err := shrink.Shrink(ctx, again, cfg)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	out.hurried = limited && (small.Took >= cfg.Budget || small.Interrupted && small.Took >= cfg.Budget/2)
	named := *small
	named.Plan = of.stored(small.Plan)
	out.Signature, out.Why, out.Plan, out.Took = named.Signature(), small.Verdict.Why, named.Plan, out.Took+small.Runs
	out.Options, out.Hits, out.Measured = small.Plan.Options, small.Hits, small.Measured
	return out, s.keepRun(ctx, of.id, small, out)
}

// keepRun keeps the run that a kind was shrunk to, unless another kind came to the same.
func (s *shrinker) keepRun(ctx context.Context, subject string, small *shrink.Result, as *Shrunk) error {
	dir := s.dir(subject, as)
	return harness.KeepAs(ctx, small.Run, dir, func(r *record.Run) error {
		text, err := small.Scenario("Found by campaign " + filepath.Base(s.folder) + ".")
		if err != nil {
			return err
		}
		name := record.ScenarioFile(small.Property)
		r.Repeat = "recount run " + record.Quote(filepath.Join(dir, name))
		if r.Cluster != record.OnSim {
			r.Repeat += " --on " + r.Cluster
		}
		r.Plan.Require = []string{small.Property}
		r.Require(small.Property)
		if err := whole.Write(filepath.Join(r.Dir, name), text); err != nil {
			return err
		}
		return report.Write(r)
	})
}

// dir is where the run is kept that a kind was shrunk to.
func (s *shrinker) dir(subject string, f *Shrunk) string {
	return filepath.Join(s.folder, "runs", f.Run(subject))
}

// keepRuns makes those runs again, and keeps them, that were shrunk elsewhere, with the same store and another folder. What runs
// in containers is kept only where it came to pass.
func (s *shrinker) keepRuns(ctx context.Context, of *subject) error {
	for _, name := range slices.Sorted(maps.Keys(of.shrunk)) {
		f := of.shrunk[name]
		if f.Signature == "" || !record.Repeats(f.Plan.On) {
			continue
		}
		if _, err := os.Stat(s.dir(of.id, f)); err == nil {
			continue
		}
		k := of.sum.kinds(f.Wave + 1)[name]
		if k == nil {
			continue // what showed it is lost, and it is not told of
		}
		from, err := of.plan(k.Plan)
		if err != nil {
			return err
		}
		plan := f.Plan
		plan.Target = of.target.Target
		r, err := s.make(ctx, plan)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		at := slices.IndexFunc(r.Verdicts, func(v record.Verdict) bool { return v.Property == f.Property })
		if at < 0 || !shrink.Breaks(r, f.Property) {
			return fmt.Errorf("%s: the run that broke %s does not break it again", s.store.URL, f.Property)
		}
		small := &shrink.Result{Progress: shrink.Progress{Plan: plan, Runs: f.Took - 1}, Property: f.Property, From: from, Run: r,
			Verdict: &r.Verdicts[at], Hits: f.Hits, Measured: f.Measured, ToMeasure: f.Measured}
		if err := s.keepRun(ctx, of.id, small, f); err != nil {
			return err
		}
	}
	return nil
}

// shrunk reads what kinds of a subject were shrunk to.
func shrunk(ctx context.Context, s *store.Store, subject string) (map[string]*Shrunk, error) {
	names, err := keys(ctx, s, "findings/"+subject+"/")
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	all := map[string]*Shrunk{}
	err = s.Each(ctx, names, func(key string, text []byte) error {
		f := &Shrunk{}
		if err := json.Unmarshal(text, f); err != nil {
			return fmt.Errorf("%s: %s: %w", s.URL, key, err)
		}
		mu.Lock()
		defer mu.Unlock()
		all[f.Kind] = f
		return nil
	})
	return all, err
}

// conclude shrinks what is new after a wave, and adds it to what is known; with keep also to the store, but for what there was no time to
// shrink as far as it goes, after which it returns errSpent. What came to pass on containers is kept at any rate: it may not again.
func (s *shrinker) conclude(ctx context.Context, of *subject, w, runs int, keep bool) error {
	known, left := of.shrunk, allowance(of.On, runs)
	for _, f := range known {
		if f.Wave == w {
			left -= f.Took
		}
	}
	for _, k := range of.sum.choose(w, known) {
		if left <= 0 {
			break
		}
		f, err := s.shrink(ctx, of, k, w)
		if err != nil {
			return fmt.Errorf("shrink %s: %w", k.Kind, err)
		}
		if keep && !f.hurried || !record.Repeats(of.On) {
			text, err := json.Marshal(f)
			if err == nil {
				err = s.store.Put(ctx, findingKey(of.id, k.Kind), text)
			}
			if err != nil {
				return err
			}
		}
		known[k.Kind] = f
		left -= f.Took
		if f.hurried {
			return errSpent
		}
	}
	return s.keepRuns(ctx, of)
}
