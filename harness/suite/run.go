package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"recount/harness"
	"recount/harness/record"
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
	Done, Of int
	Broken   int
	Doing    string
}

// Outcome is what a suite has come to.
type Outcome struct {
	File        string        `json:"file"`
	About       string        `json:"about,omitempty"`
	Shard       string        `json:"shard,omitempty"`
	Started     time.Time     `json:"started"`
	Took        time.Duration `json:"took"`
	Status      int           `json:"status"`
	Interrupted bool          `json:"interrupted,omitempty"`
	Spent       bool          `json:"spent,omitempty"` // the budget was, before all was done
	Runs        []*Run        `json:"runs"`
	Known       []*Standing   `json:"known,omitempty"`

	Dir string `json:"-"`
}

// Standing is how a known weakness stands after the runs.
type Standing struct {
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
	o := &Outcome{File: s.File, About: s.About, Started: time.Now()}
	if cfg.Shard.Of > 1 {
		o.Shard = fmt.Sprintf("%d/%d", cfg.Shard.Number, cfg.Shard.Of)
	}
	if o.Dir, err = record.NewFolder(cfg.Results, "suite", o.Started); err != nil {
		return nil, fmt.Errorf("suite: %w", err)
	}
	m := &maker{suite: s, cfg: cfg, outcome: o}
	if s.Budget > 0 {
		m.deadline = o.Started.Add(s.Budget)
	}
	var simulated, contained []int
	for i, j := range jobs {
		if !cfg.Shard.has(i) {
			continue
		}
		n := len(o.Runs)
		o.Runs = append(o.Runs, &Run{Target: j.target.Name, Scenario: j.scenario.Name, Seed: j.plan.Seed, State: NotRun,
			Repeat: j.repeat})
		m.jobs = append(m.jobs, j)
		if j.plan.On == record.OnSim {
			simulated = append(simulated, n)
		} else {
			contained = append(contained, n)
		}
	}
	workers := cfg.Jobs
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	m.work(ctx, simulated, workers)
	m.work(ctx, contained, 1)
	o.Interrupted = ctx.Err() != nil
	o.Took = time.Since(o.Started)
	s.standings(o, jobs, cfg)
	o.Status = o.status()
	return o, o.write()
}

// maker makes the runs of a suite.
type maker struct {
	suite    *Suite
	cfg      Config
	outcome  *Outcome
	jobs     []job // of the outcome's runs
	deadline time.Time

	mu     sync.Mutex // guards the rest
	done   int
	broken int
}

func (m *maker) work(ctx context.Context, which []int, workers int) {
	next := make(chan int)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := range next {
				m.make(ctx, i)
			}
		})
	}
	for _, i := range which {
		if !m.deadline.IsZero() && time.Now().After(m.deadline) {
			m.outcome.Spent = true
			break
		}
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	all.Wait()
}

// make makes one run. Its folder lies in the suite's.
func (m *maker) make(ctx context.Context, i int) {
	if ctx.Err() != nil {
		return
	}
	r, j := m.outcome.Runs[i], m.jobs[i]
	title := fmt.Sprintf("%s on %s, seed %d", r.Scenario, r.Target, r.Seed)
	began := time.Now()
	say := func(string) {}
	if j.plan.On != record.OnSim && m.cfg.Say != nil {
		m.cfg.Say(title)
		say = m.cfg.Say
	}
	made, err := harness.Run(ctx, j.plan, harness.Config{
		Results: filepath.Join(m.outcome.Dir, "runs"), Repeat: j.repeat, Compress: true, Progress: say,
	})
	r.Took = time.Since(began)
	switch {
	case err != nil && ctx.Err() != nil:
		r.State, r.Error = Interrupted, err.Error()
	case err != nil:
		r.State, r.Error = Failed, err.Error()
	default:
		if rel, err := filepath.Rel(m.outcome.Dir, made.Dir); err == nil {
			r.Dir = filepath.ToSlash(rel)
		}
		m.suite.judge(r, made, m.cfg.Now)
		if !made.History.Complete() && r.State != Broken {
			r.State = Interrupted
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done++
	if r.State == Broken {
		m.broken++
	}
	if m.cfg.Progress != nil {
		m.cfg.Progress(Progress{Done: m.done, Of: len(m.outcome.Runs), Broken: m.broken, Doing: title})
	}
}

// standings works out what became of each known weakness. One that some other shard may have seen has not vanished.
func (s *Suite) standings(o *Outcome, jobs []job, cfg Config) {
	for i := range s.Known {
		k := &s.Known[i]
		st := &Standing{Known: *k, Expired: k.Until.passed(cfg.Now)}
		could := 0
		for _, r := range o.Runs {
			if !k.speaks(r, k.Property) {
				continue
			}
			could++
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
		finished := !o.Interrupted && !o.Spent && could == all
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
	case count[Undecided]+count[NotRun]+count[Interrupted] > 0, len(o.Runs) == 0, o.Interrupted:
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
