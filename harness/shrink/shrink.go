// Package shrink makes the plan of a run that broke a property smaller, for as long as it breaks it: fewer faults, fewer
// nodes, simpler faults, shorter and rounder times, and the simplest seed. What is left is what it takes.
package shrink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"recount/checkers"
	"recount/harness"
	"recount/harness/batch"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
)

// Config says how to shrink.
type Config struct {
	// Property is what must stay broken; with "" it is the first promise that the run broke, or else the first property.
	Property string
	// Make makes a run; nil simulates it.
	Make func(ctx context.Context, p record.Plan) (*record.Run, error)
	Jobs int // runs at once; 0 for one a core
	// Of so many runs of a plan, each with a seed of its own, Need must break the property. With Of 0 it is one of as many
	// as the property is rare: enough where anything that can be made is made at no cost.
	Need, Of int
	// Measure is how many further runs of the result tell how often it shows the violation; 0 for 100.
	Measure int
	// Pinned are options of the target that stay as they are: with another value it is another election.
	Pinned []string
	// Fewest is how many nodes a plan has at least; 0 for the target's Size, or 2. One that has fewer from the beginning keeps them.
	Fewest int
	// Budget is how long it may take; 0 for no limit. What it takes to measure is set aside of it, half of it at most.
	Budget time.Duration
	// Runs is how many runs it may take besides those that measure the result; 0 for no limit. Unlike a budget of time it
	// leads to the same result on every machine.
	Runs     int
	Progress func(Progress)
}

// Progress is how far shrinking is.
type Progress struct {
	Tried, Runs int           // plans, and runs of them
	Took        time.Duration // real time …
	Budget      time.Duration // … of so much; 0 for no limit
	Plan        record.Plan   // the smallest so far
}

// Result is what shrinking came to.
type Result struct {
	Progress
	Property string
	From     record.Plan // where it began
	Run      *record.Run // of Plan
	Verdict  *record.Verdict
	// Hits of Measured further runs of the plan, with other seeds, break the property too. There are fewer than ToMeasure
	// if ctx or the budget ended before.
	Hits, Measured, ToMeasure int
	// Decision is what decided, in simulation, where it was a single message; else nil.
	Decision *Decision
	// Interrupted says that ctx or the budget ended before nothing was left to try.
	Interrupted bool
	// Spent says that it was the budget, so that a longer one gets further.
	Spent bool
	// Failed says that a run could not be made, and nothing more was tried.
	Failed bool
}

// Shrink makes the plan of a judged run as small as it can. It returns the best so far when ctx ends, and beside an error of
// a run that could not be made. The result is nil if the run does not break the property.
func Shrink(ctx context.Context, r *record.Run, cfg Config) (*Result, error) {
	s, err := newShrinker(r, cfg)
	if err != nil {
		return nil, err
	}
	if s.Budget > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, s.begun.Add(s.Budget))
		defer stop()
	}
	s.ctx = ctx
	s.swiftly()
	s.gauge()
	for before := -1; s.accepted > before && s.going(); {
		before = s.accepted
		s.passes()
	}
	s.seed()
	s.result.Interrupted = !s.going() && s.err == nil
	s.result.Spent = s.result.Interrupted && s.spent()
	s.measure()
	s.err = errors.Join(s.err, harness.Recall(s.result.Run))
	if s.err == nil && !s.result.Interrupted {
		s.result.Decision = s.decide(ctx)
	}
	s.result.Took, s.result.Failed = time.Since(s.begun), s.err != nil
	return &s.result, s.err
}

// shrinker is a shrinking under way.
type shrinker struct {
	Config
	ctx context.Context
	criterion
	result   Result
	best     record.Plan
	took     time.Duration // by a run of the best plan
	tries    int           // runs of a plan before it is given up
	need     int           // how many of them must break the property
	rate     float64       // how often the property broke with the plan that broke it most often
	accepted int
	failed   map[string]map[uint64]bool // plans, and the seeds by which they do not do
	err      error
	// simulates says that runs are made by the simulator, as the ones that decide looks at are.
	simulates bool
	begun     time.Time
	starts    harness.Starts[int] // by sizes
}

// criterion is what a smaller run must still show. It is to be the same thing, not just a thing of the same name: what
// broke in a cluster that was whole again is not what breaks under a fault, and what broke before the faults were over is
// not what comes of their end. The other way round a fault was under way that it did not take.
type criterion struct {
	property string
	promised bool
	excused  bool // faults had taken away what a promise of it rests on
	whole    bool // the cluster was in good health again when it broke
	late     bool // it broke when all was healed at the end, or after
}

// shows returns the verdict by which a run meets the criterion, or nil.
func (c criterion) shows(r *record.Run, planned time.Duration) *record.Verdict {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Property == c.property && v.Verdict == checkers.Invalid && (v.Promised || !c.promised) && (c.excused || !v.Excused) {
			if _, whole := Circumstances(r.Frame(), v); (whole || !c.whole) && (c.late || !late(r.Frame(), v, planned)) {
				return v
			}
		}
	}
	return nil
}

// late reports whether a violation was complete only after the time for faults was over.
func late(h *history.Frame, v *record.Verdict, planned time.Duration) bool {
	settled, _ := h.Settled()
	return v.To > settled+planned
}

func newShrinker(r *record.Run, cfg Config) (*shrinker, error) {
	p := r.Plan
	if !p.Known() || r.History == nil && r.Unkept == nil {
		return nil, harness.Usage(errors.New("there is no plan to shrink: name a run's folder"))
	}
	if len(p.Recorded) > 0 {
		return nil, harness.Usage(hint.Add(errors.New("the run repeats the faults of another"), "shrink that one"))
	}
	p = plain(p)
	s := &shrinker{Config: cfg, best: p, failed: map[string]map[uint64]bool{}, begun: time.Now()}
	v := broken(r, cfg.Property)
	if v == nil {
		what := cfg.Property
		if what == "" {
			what = "any property"
		}
		return nil, harness.Usage(fmt.Errorf("the run does not break %s", what))
	}
	_, whole := Circumstances(r.Frame(), v)
	s.criterion = criterion{v.Property, v.Promised, v.Excused, whole, late(r.Frame(), v, p.Time)}
	if s.simulates = p.On == record.OnSim; s.Make == nil {
		s.Make = func(ctx context.Context, p record.Plan) (*record.Run, error) { return harness.Glance(ctx, p) }
	}
	if t, err := targets.Find(p.Target); err == nil {
		s.Fewest = cmp.Or(s.Fewest, t.Size)
	}
	s.Fewest = max(s.Fewest, 2)
	s.Jobs = batch.Workers(s.Jobs)
	if s.Progress == nil {
		s.Progress = func(Progress) {}
	}
	if s.Measure <= 0 {
		s.Measure = finalRuns
	}
	s.starts.Note(p.Nodes, true)
	s.tries, s.need, s.took = s.Of, max(s.Need, 1), r.Took
	s.result = Result{Property: v.Property, From: p, Run: r, Verdict: v, ToMeasure: s.Measure}
	s.result.Plan, s.result.Budget = p, s.Budget
	return s, nil
}

// plain is the plan without what shrinking has no use for: it names its faults, and nothing twice.
func plain(p record.Plan) record.Plan {
	p.Scenario, p.Unfit, p.Faults, p.Expect = "", nil, nil, nil
	p.Schedule = p.Schedule.Untimed()
	return p
}

// Breaks reports whether a judged run breaks the property, or with "" any: whether there is something to shrink.
func Breaks(r *record.Run, property string) bool { return broken(r, property) != nil }

// Broken returns the first promise that a judged run broke, or else the first property; "" if it broke none.
func Broken(r *record.Run) string {
	if v := broken(r, ""); v != nil {
		return v.Property
	}
	return ""
}

// broken returns the verdict on the property that a run broke, or on the first of those that it broke.
func broken(r *record.Run, property string) (first *record.Verdict) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		switch {
		case v.Verdict != checkers.Invalid, property != "" && v.Property != property:
		case first == nil, v.Promised && !first.Promised:
			first = v
		}
	}
	return first
}

// going reports whether there is time to try more.
func (s *shrinker) going() bool { return s.err == nil && s.ctx.Err() == nil && !s.spent() }

// spent reports whether no more is left of the budget than is set aside.
func (s *shrinker) spent() bool {
	if s.Runs > 0 && s.result.Runs >= s.Runs {
		return true
	}
	if s.Budget == 0 {
		return false
	}
	return s.Budget-time.Since(s.begun) < s.reserve()
}

// reserve is what is set aside of the budget: what it takes to end what is begun and to measure, with a run to spare.
func (s *shrinker) reserve() time.Duration {
	rounds := 1 + (s.Measure+s.Jobs-1)/s.Jobs + 1
	return min(time.Duration(rounds)*s.took, s.Budget/2)
}
