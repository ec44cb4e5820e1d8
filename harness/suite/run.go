package suite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/looked"
	"recount/harness/record"
	"recount/internal/count"
	"recount/internal/hint"
)

// Config is how a suite is run.
type Config struct {
	Results  string // folder under which the suite gets its own
	Shard    Shard
	Jobs     int // simulated runs at a time; 0 is one a core. Runs on containers are made one after the other.
	Progress func(Progress)
	Say      func(line string) // told what is worth a line of its own
	Now      time.Time         // by which known weaknesses expire
}

// Progress is how far a suite is.
type Progress struct {
	batch.Progress
	Broken int
	Last   string // run that was made
}

// Outcome is what a suite has come to.
type Outcome struct {
	File        string        `json:"file"`
	Dir         string        `json:"folder"` // where its reports and runs are
	About       string        `json:"about,omitempty"`
	Shard       string        `json:"shard,omitempty"`
	Started     time.Time     `json:"started"`
	Took        time.Duration `json:"took"`
	Status      int           `json:"status"`
	Interrupted bool          `json:"interrupted,omitempty"`
	Spent       bool          `json:"spent,omitempty"`    // the budget was, before all was done
	LeftOut     int           `json:"left_out,omitempty"` // runs that were not made, since none of their scenario and target started
	Runs        []*Run        `json:"runs"`
	Known       []*KnownState `json:"known,omitempty"`
	Looked      looked.Looked `json:"looked"` // how much all runs together have looked at

	unwritten bool // its reports are not in its folder
}

// KnownState is how a known weakness stands after the runs.
type KnownState struct {
	Known
	Seen     int  `json:"seen"`               // runs that showed it
	Clean    int  `json:"clean"`              // runs that could have shown it and did not
	Vanished bool `json:"vanished,omitempty"` // all of the suite's runs could have, and none did
	Expired  bool `json:"expired,omitempty"`
}

// Make makes the suite's runs and writes its reports. When ctx ends, or the budget is spent, what was done is kept.
func (s *Suite) Make(ctx context.Context, cfg Config) (*Outcome, error) {
	jobs, err := s.jobs()
	if err != nil {
		return nil, err
	}
	if cfg.Shard.Number > len(jobs) {
		return nil, harness.Usage(hint.Add(fmt.Errorf("--shard %d/%d: the suite has %s, and none falls to it",
			cfg.Shard.Number, cfg.Shard.Of, count.Of(len(jobs), "run")), "more parts than --shard 1/%d to %[1]d/%[1]d make are too many", len(jobs)))
	}
	o := &Outcome{File: s.File, About: s.About, Started: time.Now()}
	if cfg.Shard.Of > 1 {
		o.Shard = fmt.Sprintf("%d/%d", cfg.Shard.Number, cfg.Shard.Of)
	}
	if o.Dir, err = record.NewFolder(cfg.Results, "suite", o.Started); err != nil {
		return nil, err
	}
	m := &maker{suite: s, cfg: cfg, outcome: o, looking: looked.NewCount()}
	var simulated, contained []int
	for i, j := range jobs {
		if !cfg.Shard.has(i) {
			continue
		}
		n := len(o.Runs)
		o.Runs = append(o.Runs, &Run{Target: j.target.Name, Scenario: j.scenario.Name, Seed: j.plan.Seed, State: NotRun,
			Repeat: j.repeat})
		m.jobs = append(m.jobs, j)
		if record.Repeats(j.plan.On) {
			simulated = append(simulated, n)
		} else {
			contained = append(contained, n)
		}
	}
	m.work(ctx, simulated, cfg.Jobs)
	m.work(ctx, contained, 1)
	o.Interrupted = ctx.Err() != nil
	o.Took, o.Looked = time.Since(o.Started), m.looking.So()
	s.standings(o, jobs, cfg)
	o.Status = o.status()
	if err := o.write(); err != nil {
		o.unwritten = true
		return o, err
	}
	return o, m.full
}

// maker makes the runs of a suite.
type maker struct {
	suite   *Suite
	cfg     Config
	outcome *Outcome
	looking *looked.Count
	jobs    []job // of the outcome's runs
	starts  harness.Starts[pair]
	done    int // made or left out
	broken  int
	last    string // run that was made
	full    error  // of the disk, on which no other run could be kept either
}

// pair is a scenario with a target.
type pair struct{ scenario, target string }

func (r *Run) pair() pair { return pair{r.Scenario, r.Target} }

// maxUnstarted is how many runs of a pair are made first: it has no more if none of them starts.
const maxUnstarted = 6

// hopeless reports whether a run is left out, since none of its scenario and target starts.
func (m *maker) hopeless(r *Run) bool {
	did, failed := m.starts.Of(r.pair())
	return did == 0 && failed >= maxUnstarted
}

// work makes some of the runs, given by their numbers, so many at a time. Those by which it is told whether a pair is hopeless are all
// done before others begin: which of these are left out does not depend on how many are made at once.
func (m *maker) work(ctx context.Context, which []int, workers int) {
	first, others := m.split(which)
	m.each(ctx, first, workers)
	m.each(ctx, m.hopeful(others), workers)
}

func (m *maker) each(ctx context.Context, which []int, workers int) {
	b := batch.Batch[int, *record.Run]{Do: m.make, Jobs: workers}
	numbers := func(yield func(int) bool) {
		for _, i := range which {
			if m.spent() {
				m.outcome.Spent = true
				return
			}
			if !yield(i) {
				return
			}
		}
	}
	if m.full != nil {
		return
	}
	for d := range b.Each(ctx, numbers) {
		m.note(ctx, d)
		if errors.Is(d.Err, syscall.ENOSPC) || errors.Is(d.Err, syscall.EDQUOT) {
			m.full = d.Err
			return
		}
	}
}

// split takes the first runs of each pair apart from the others.
func (m *maker) split(which []int) (first, others []int) {
	seen := map[pair]int{}
	for _, i := range which {
		of := m.outcome.Runs[i].pair()
		if seen[of]++; seen[of] <= maxUnstarted {
			first = append(first, i)
		} else {
			others = append(others, i)
		}
	}
	return first, others
}

// hopeful are those of some runs whose pairs are not hopeless. The others are left out.
func (m *maker) hopeful(which []int) []int {
	hopeful := slices.DeleteFunc(slices.Clone(which), func(i int) bool { return m.hopeless(m.outcome.Runs[i]) })
	if left := len(which) - len(hopeful); left > 0 {
		m.outcome.LeftOut += left
		m.done += left
		m.tell()
	}
	return hopeful
}

func (m *maker) spent() bool {
	return m.suite.Budget.Duration > 0 && time.Since(m.outcome.Started) > m.suite.Budget.Duration
}

// make makes one run. Its folder lies in the suite's.
func (m *maker) make(ctx context.Context, i int) (*record.Run, error) {
	var say func(string) // of a run of which nothing is told, what is built is
	if !record.Repeats(m.jobs[i].plan.On) && m.cfg.Say != nil {
		m.cfg.Say(fmt.Sprintf("run %d of %d, %s", m.done+1, len(m.outcome.Runs), m.title(i))) // one at a time: done changes between them alone
		say = m.cfg.Say
	}
	return harness.Run(ctx, m.jobs[i].plan, harness.Config{
		Results: filepath.Join(m.outcome.Dir, "runs"), Repeat: m.jobs[i].repeat, Compress: true, Progress: say,
	})
}

func (m *maker) title(i int) string {
	r := m.outcome.Runs[i]
	return fmt.Sprintf("%s on %s, seed %d", r.Scenario, r.Target, r.Seed)
}

// note takes up what came of a run.
func (m *maker) note(ctx context.Context, d batch.Done[int, *record.Run]) {
	r, made := m.outcome.Runs[d.Job], d.Result
	r.Took = d.Took
	switch {
	case d.Err != nil && ctx.Err() != nil:
		r.State, r.Error = Interrupted, d.Err.Error()
	case harness.DidNotStart(d.Err) != nil:
		r.State, r.Error, r.Dir = Unstarted, d.Err.Error(), m.folder(harness.DidNotStart(d.Err).Dir)
		m.starts.Note(r.pair(), false)
	case d.Err != nil:
		r.State, r.Error = Failed, d.Err.Error()
	default:
		m.starts.Note(r.pair(), true)
		r.Dir = m.folder(made.Dir)
		m.suite.judge(r, made, m.cfg.Now)
		m.looking.Add(made.Target, looked.Of(made, nil))
		if !made.History.Complete() && r.State != Broken {
			r.State = Interrupted
		}
	}
	m.done++
	if r.State == Broken {
		m.broken++
	}
	m.last = m.title(d.Job)
	m.tell()
}

// tell tells how far the suite is.
func (m *maker) tell() {
	if m.cfg.Progress == nil {
		return
	}
	p := batch.Progress{Doing: filepath.Base(m.suite.File), Done: m.done, Planned: len(m.outcome.Runs), Passed: time.Since(m.outcome.Started)}
	m.cfg.Progress(Progress{p.Estimate(m.suite.Budget.Duration), m.broken, m.last})
}

// folder is a run's folder within the suite's; "" where it cannot be told.
func (m *maker) folder(dir string) string {
	rel, err := filepath.Rel(m.outcome.Dir, dir)
	if err != nil || dir == "" {
		return ""
	}
	return filepath.ToSlash(rel)
}

// standings works out what became of each known weakness. One that some other shard may have seen has not vanished.
func (s *Suite) standings(o *Outcome, jobs []job, cfg Config) {
	for i := range s.Known {
		k := &s.Known[i]
		st := &KnownState{Known: *k, Expired: k.Until.passed(cfg.Now)}
		could, missed := 0, false // runs that could have shown it; some of them came to nothing
		for _, r := range o.Runs {
			if !k.speaks(r, k.Property) {
				continue
			}
			could++
			missed = missed || slices.Contains([]State{Unstarted, NotRun, Failed}, r.State)
			for _, w := range r.Weaknesses {
				if w.Known == k {
					st.Seen++
				}
			}
			for _, property := range r.tested {
				if property == k.Property {
					st.Clean++
				}
			}
		}
		st.Clean -= st.Seen
		all := 0
		for _, j := range jobs {
			if k.speaks(&Run{Target: j.target.Name, Scenario: j.scenario.Name}, k.Property) {
				all++
			}
		}
		finished := !missed && !o.Interrupted && !o.Spent && could == all
		st.Vanished = finished && st.Seen == 0 && st.Clean > 0
		o.Known = append(o.Known, st)
	}
}

// status is what recount exits with.
func (o *Outcome) status() int {
	count := o.count()
	switch {
	case count[Broken] > 0:
		return record.StatusBroken
	case count[Failed] > 0:
		return record.StatusFailed
	case count[Undecided]+count[Unstarted]+count[NotRun]+count[Interrupted] > 0, len(o.Runs) == 0, o.Interrupted:
		return record.StatusUnknown
	}
	return record.StatusHeld
}

func (o *Outcome) count() map[State]int {
	n := map[State]int{}
	for _, r := range o.Runs {
		n[r.State]++
	}
	return n
}
