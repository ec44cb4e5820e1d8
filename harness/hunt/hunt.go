// Package hunt searches for what breaks an election: it makes many runs with faults drawn at random, prefers to vary
// those that reached something new, and keeps the plans whose runs broke a property.
package hunt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"recount/checkers"
	"recount/harness"
	"recount/harness/batch"
	"recount/harness/looked"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/internal/hint"
	"recount/internal/seed"
	"recount/targets"
)

// Config says what to hunt for, and where.
type Config struct {
	Target    string
	Options   map[string][]string // of the target: the values to draw each from
	Faults    []string            // to draw from
	Nodes     [2]int              // the smallest and the largest cluster; with zeros the target's, or those of Sizes
	Time      time.Duration       // of each run; 0 for what suits the target
	Workloads []string
	// Sometimes are workloads that a part of the runs has besides.
	Sometimes []string
	On        string // where runs take place
	// Goroutines are the orders to draw from, with real servers in virtual time; nil for all of record.Orders.
	Goroutines []string
	// Property is what must break; with "" it is any that the target promises.
	Property string
	Seed     uint64 // decides which runs are made, in which order
	Runs     int    // how many at most; 0 for no limit
	// Budget is how long it takes at most, from its first run on; 0 for no limit. A hunt that goes on leaves a third of it for what it has found to
	// be shrunk.
	Budget time.Duration
	Jobs   int // runs at once; 0 for one a core
	// KeepGoing goes on after the first finding, and has one of each property that a run has broken.
	KeepGoing bool
	// Parents are plans to vary from the first run on, as if runs of this hunt had reached something new by them.
	Parents []record.Plan
	// Each is told of each run, in their order; it may be nil.
	Each func(Trial)
	// Make makes a run; nil simulates it.
	Make func(ctx context.Context, p record.Plan) (*record.Run, error)
	// Progress is told how it goes, often; it may be nil.
	Progress func(Progress)
}

// Pinned are the options that have one value in all runs.
func (cfg Config) Pinned() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(cfg.Options)) {
		if len(cfg.Options[name]) == 1 {
			names = append(names, name)
		}
	}
	return names
}

// Progress is how far a hunt is.
type Progress struct {
	Runs     int
	Took     time.Duration // real time until the last of the runs was made; one that was cut short does not count, unless it is the only one
	Coverage int           // how many different things the runs have reached
	Findings int           // runs that broke what is looked for
	// NotStarted is how many runs more did not start: a node did not come up.
	NotStarted int
	// LeftOut is how many runs were planned of sizes that were given up by then, and not made.
	LeftOut int
	// StoodStill is how many runs more a server brought to a standstill.
	StoodStill int
}

// Done is how many of the runs that were planned are over with, made or not.
func (p Progress) Done() int { return p.Runs + p.NotStarted + p.LeftOut + p.StoodStill }

// Finding is a run that broke a property.
type Finding struct {
	Property string
	Plan     record.Plan
	Why      string
	Run      int      // the number of the run among those of its hunt, from 1
	Under    []string // the faults that were under way when it broke, or the last before
	Whole    bool     // whether the cluster was in good health again by then

	run *record.Run // nil if another of the same kind is smaller: that one will be kept
}

// Trial is what a run of a hunt showed.
type Trial struct {
	Plan record.Plan
	// Unstarted says why it did not start, and LeftOut that it was not made, since no cluster of its size starts: then it showed nothing.
	Unstarted *harness.Unstarted
	LeftOut   bool
	looked.Look
	Fresh  bool       // no run of this hunt had reached some of it before
	Broken []string   // the properties that it broke, looked for or not
	Found  []*Finding // none if it broke nothing that is looked for
}

// Result is what a hunt came to.
type Result struct {
	Progress
	Begun     time.Time      // when the first run did, and the budget with it: with one, what runs in virtual time was built by then
	Findings  []Finding      // in the order of their runs
	Broken    map[string]int // how many runs broke each property, looked for or not
	Excused   map[string]int // and how many of them had taken away what the promise of it rests on
	Judged    int            // how many runs decided what is looked for
	Undecided string         // why the last of the others did not
	// Unstarted is the first run that did not start, of those of sizes that do, or of all where a hunt ended over it; nil if there was none.
	Unstarted *Unstarted
	Stuck     *Stuck // the first run that a server brought to a standstill; nil if there was none
	// GivenUp are the sizes of clusters of which none started, with why the first did not.
	GivenUp     []GivenUp
	Interrupted bool   // ctx ended before the runs or the budget did
	Looked      Looked // how much was looked at
}

// window is how many runs are planned ahead of those whose results are known. It does not depend on the number of jobs,
// so neither do the plans: the same seed hunts the same runs on every machine.
const window = 64

// Hunt makes runs until it has found something, or until its budget is spent, or ctx ends. An error is one of the
// configuration, and the result nil, or one of the harness, and the result what was found until then.
func Hunt(ctx context.Context, cfg Config) (*Result, error) {
	h, err := newHunter(cfg)
	if err != nil {
		return nil, err
	}
	return h.hunt(ctx)
}

// Check finds what is wrong with a configuration, without a run.
func (cfg Config) Check() error {
	_, err := newHunter(cfg)
	return err
}

// hunter is a hunt under way. Runs are planned and taken note of in order.
type hunter struct {
	Config
	target  *targets.Target
	corpus  corpus
	looking *looked.Count
	result  Result
	sizes   []int               // of clusters, each as often as it is drawn
	edges   []float64           // drifts that just take no promise away
	kinds   []string            // of messages, as they were met
	focus   string              // the kind that the plan under way is about; "" for no single one
	best    map[string]int      // of the findings of each kind the one to be kept
	starts  harness.Starts[int] // by sizes
	failed  []*Unstarted        // runs that did not start, the first of each size
}

func newHunter(cfg Config) (*hunter, error) {
	h := &hunter{Config: cfg, corpus: newCorpus(cfg.Parents), looking: looked.NewCount(), best: map[string]int{}}
	h.result.Broken, h.result.Excused = map[string]int{}, map[string]int{}
	if err := h.check(); err != nil {
		return nil, harness.Usage(err)
	}
	if h.Progress == nil {
		h.Progress = func(Progress) {}
	}
	if h.Each == nil {
		h.Each = func(Trial) {}
	}
	return h, nil
}

// check finds what is wrong with the configuration, so that every plan that is drawn can be made.
func (h *hunter) check() (err error) {
	if h.target, err = targets.Find(h.Target); err != nil {
		return err
	}
	if h.Property != "" {
		if err := harness.KnownProperty(h.Property); err != nil {
			return err
		}
	}
	if h.Nodes == [2]int{} && h.target.Size > 0 {
		h.sizes = []int{h.target.Size}
	} else if h.Nodes == [2]int{} {
		h.sizes = Sizes
	} else if h.Nodes[1] < h.Nodes[0] || harness.CheckSize(h.Nodes[0]) != nil || harness.CheckSize(h.Nodes[1]) != nil {
		return hint.Add(fmt.Errorf("clusters of %d to %d nodes", h.Nodes[0], h.Nodes[1]), "3 to 7 are a good start; an election takes 2 to %d nodes", targets.MaxNodes)
	}
	for n := h.Nodes[0]; n > 0 && n <= h.Nodes[1]; n++ {
		h.sizes = append(h.sizes, n)
	}
	if h.On == record.OnVirtual && len(h.Goroutines) == 0 {
		h.Goroutines = record.Orders
	}
	if len(h.Faults) == 0 {
		return hint.Add(fmt.Errorf("no faults to draw from"), "recount list faults shows them")
	}
	for _, name := range slices.Sorted(maps.Keys(h.Options)) {
		values := h.Options[name]
		if len(values) == 0 {
			return hint.Add(fmt.Errorf("option %s has no values to draw from", name), "leave it out for the default")
		}
		for _, v := range values {
			if _, err := h.target.Parse(map[string]string{name: v}); err != nil {
				return err
			}
		}
	}
	p := record.Plan{Target: h.Target, On: h.On, Nodes: slices.Max(h.sizes), Faults: h.Faults, Workloads: slices.Concat(h.Workloads, h.Sometimes)}
	h.drawOptions(&p, seed.New(h.Seed, "check"))
	h.edges = edges(h.target)
	for _, p.Goroutines = range h.Goroutines {
		if err := harness.Check(p); err != nil {
			return err
		}
	}
	return harness.Check(p)
}

// trial is what one run of a hunt showed.
type trial struct {
	looked.Look
	broken    []string // properties
	excused   []string // of them, those whose promise rests on what the run took away
	found     []*Finding
	judged    bool               // whether what is looked for was decided
	undecided string             // why it was not
	unstarted *harness.Unstarted // why it did not start; nil if it did
	stood     error              // why it came to a standstill; nil if it did not
	leftOut   bool               // it was not made: no cluster of its size starts
}

func (h *hunter) hunt(ctx context.Context) (*Result, error) {
	first, err := h.plan(0)
	if err != nil {
		return nil, err
	}
	if err := h.build(ctx, first); err != nil && ctx.Err() == nil {
		return nil, err
	}
	h.result.Begun = time.Now()
	inner, stop := context.WithCancel(ctx)
	defer stop()
	if h.Budget > 0 {
		var end context.CancelFunc
		inner, end = context.WithTimeout(inner, h.Budget)
		defer end()
	}
	var failed error
	attempts := func(yield func(attempt) bool) {
		for k := 0; h.Runs == 0 || k < h.Runs; k++ {
			p := first
			if k > 0 {
				p, failed = h.plan(k)
			}
			if failed != nil || !yield(attempt{p, k%harness.Sample == 0}) {
				return
			}
		}
	}
	b := batch.Batch[attempt, *trial]{Do: h.make, Jobs: h.Jobs, Ordered: true, Ahead: window}
	for d := range b.Each(inner, attempts) {
		switch {
		case failed != nil:
			return nil, failed
		case d.Err != nil:
			return &h.result, fmt.Errorf("run %d, seed %d: %w", d.Number+1, d.Job.Seed, d.Err)
		}
		t := d.Result
		if t != nil {
			err := h.take(d.Number, d.Job.Plan, t)
			if err != nil {
				return &h.result, err
			}
		}
		if t != nil || h.result.Runs == 0 {
			h.result.Took = time.Since(h.result.Begun)
		}
		h.Progress(h.result.Progress)
		if t != nil && t.found != nil && !h.KeepGoing {
			break
		}
		if h.spent() { // what is under way is cut short, and what was made behind it counts, as when ctx ends
			stop()
		}
	}
	if failed != nil {
		return nil, failed
	}
	h.unstarted()
	h.result.Interrupted = ctx.Err() != nil
	h.result.Looked = lookedAt(h.looking.So())
	return &h.result, nil
}

// spent reports whether what is left of the budget is for shrinking.
func (h *hunter) spent() bool {
	return h.KeepGoing && h.Budget > 0 && len(h.result.Findings) > 0 && h.result.Took > h.Budget*2/3
}

// attempt is a run to be made.
type attempt struct {
	record.Plan
	twice bool // and compared with itself, in virtual time
}

// make makes a run and keeps of it what counts: nothing if it was cut short.
func (h *hunter) make(ctx context.Context, a attempt) (*trial, error) {
	if h.starts.Never(a.Nodes) {
		return &trial{leftOut: true}, nil
	}
	s, p := looked.NewSituation(), a.Plan
	r, err := h.run(ctx, p, s)
	if err == nil && a.twice {
		err = harness.Twice(ctx, r)
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	if u := harness.DidNotStart(err); u != nil {
		return &trial{unstarted: u}, nil
	}
	if harness.StoodStill(err) {
		return &trial{stood: err}, nil
	}
	if err != nil {
		return nil, err
	}
	t := &trial{Look: looked.Of(r, s)}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if h.after(r, v) {
			if v.Verdict != checkers.Unknown {
				t.judged = true
			} else if t.undecided == "" {
				t.undecided = v.Property + ": " + v.Why
			}
		}
		if v.Verdict != checkers.Invalid {
			continue
		}
		if t.broken = append(t.broken, v.Property); v.Meaning() == record.Excused {
			t.excused = append(t.excused, v.Property)
		}
		if (h.KeepGoing || t.found == nil) && (Wanted(v, h.Property) || h.planted(r, v)) {
			own := r
			if t.found != nil { // each finding is kept by itself, and the run's folder goes with the first
				same := *r
				same.Dir, same.Verdicts = "", slices.Clone(r.Verdicts)
				own = &same
			}
			f := &Finding{Property: v.Property, Plan: p, Why: v.Why, run: own}
			f.Under, f.Whole = shrink.Circumstances(r.Frame(), v)
			t.found = append(t.found, f)
		}
	}
	return t, nil
}

// run makes a run and has its ops looked at as they come. One that is simulated keeps no history: it is judged while it goes on,
// and made again if somebody wants to see it.
func (h *hunter) run(ctx context.Context, p record.Plan, s *looked.Situation) (*record.Run, error) {
	if h.Make == nil && p.On == record.OnSim {
		return harness.Glance(ctx, p) // whose Relations tell more
	} else if h.Make == nil {
		return harness.Glance(ctx, p, s.Take)
	}
	r, err := h.Make(ctx, p)
	if err == nil && r.History != nil {
		for i := range r.History.Ops {
			s.Take(&r.History.Ops[i])
		}
	}
	return r, err
}

// planted reports whether a verdict is on a promise that only an option takes away that is there to break it: a hunt of such
// an election looks for what it breaks.
func (h *hunter) planted(r *record.Run, v *record.Verdict) bool {
	if h.Property != "" || v.Excused {
		return false
	}
	o, err := h.target.Parse(r.Options)
	return err == nil && h.target.Planted(o, v.Property)
}

// after reports whether a verdict is on what is looked for.
func (h *hunter) after(r *record.Run, v *record.Verdict) bool {
	if h.Property != "" {
		return v.Property == h.Property
	}
	return v.Promised || h.planted(r, v)
}

// Wanted reports whether a verdict is what a hunt for a property looks for: with "", a promise that broke.
func Wanted(v *record.Verdict, property string) bool {
	return v.Meaning() == record.Broken && property == "" || v.Verdict == checkers.Invalid && property == v.Property
}

// note takes up what run number k, from 0, has shown.
func (h *hunter) note(k int, p record.Plan, t *trial) {
	fresh := h.corpus.note(p, t.Reached)
	h.looking.Add(p.Target, t.Look)
	for _, kind := range t.Kinds {
		if h.On == record.OnSim && !slices.Contains(h.kinds, kind) { // no trap there knows one
			h.kinds = append(h.kinds, kind)
		}
	}
	h.result.Runs++
	h.result.Coverage = h.corpus.size()
	if t.judged || h.Property == harness.NoProgress { // which every run shows that does not break it
		h.result.Judged++
	} else {
		h.result.Undecided = t.undecided
	}
	for _, property := range t.broken {
		h.result.Broken[property]++
	}
	for _, property := range t.excused {
		h.result.Excused[property]++
	}
	if t.found != nil {
		h.result.Progress.Findings++
	}
	for _, f := range t.found {
		f.Run = k + 1
		h.result.Findings = append(h.result.Findings, *f)
		h.spare(len(h.result.Findings) - 1)
	}
	h.Each(Trial{Plan: p, Look: t.Look, Fresh: fresh, Broken: t.broken, Found: t.found})
}

// spare lets go of the runs of findings that will not be kept: of each kind one is, and the last finding may be it.
func (h *hunter) spare(last int) {
	f := &h.result.Findings[last]
	best, known := h.best[f.Kind()]
	if known && h.result.Findings[best].Size() <= f.Size() {
		f.run = nil
		return
	}
	if known {
		h.result.Findings[best].run = nil
	}
	h.best[f.Kind()] = last
}
