// Package claims puts numbers to what is said about elections: it makes the experiments behind the claims, in
// simulation, and sets what it finds beside what was claimed.
package claims

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Plan is what is to be measured.
type Plan struct {
	Experiments []*Experiment
	// Seed decides all that is drawn: the same plan finds the same, whatever the number of jobs.
	Seed uint64
	// Effort is the share of all trials that is made of each experiment; 1 is all of them.
	Effort Effort
	// Jobs is how many trials are made at once.
	Jobs int
}

// Effort is a share of work.
type Effort float64

// The efforts that people ask for.
const (
	Full  Effort = 1
	Quick Effort = 0.02 // seconds: enough to see that everything works, not enough to believe the numbers
)

// of returns how many of so many trials are made.
func (e Effort) of(trials int) int { return max(2, int(float64(trials)*float64(e))) }

// Progress is how far the work is.
type Progress struct {
	Doing         string // the experiment
	Done, Planned int    // trials
	Left          time.Duration
}

// Measure makes all trials of a plan, experiment by experiment, and returns what they come to. When ctx ends, what was
// measured by then is returned, each result saying how much it rests on. An error means that the harness failed.
func Measure(ctx context.Context, p Plan, progress func(Progress)) (*Report, error) {
	w := &work{ctx: ctx, plan: p, progress: progress, started: time.Now()}
	for _, e := range p.Experiments {
		for _, s := range e.series(p.Effort) {
			f := &found{series: s, of: e, samples: make([]sample, s.trials)}
			w.all = append(w.all, f)
			w.planned += s.trials
		}
	}
	var wg sync.WaitGroup
	for range p.Jobs {
		wg.Go(w.work)
	}
	wg.Wait()
	if w.failed != nil {
		return nil, w.failed
	}
	return w.report()
}

// work is trials being made by several goroutines.
type work struct {
	ctx      context.Context
	plan     Plan
	progress func(Progress)
	started  time.Time
	all      []*found
	planned  int

	mu     sync.Mutex
	at     int // series, and the trial of it, that is next
	next   int
	done   int
	failed error
}

func (w *work) work() {
	for {
		f, n := w.take()
		if f == nil {
			return
		}
		s, err := f.make(w.plan.Seed, n)
		w.add(f, n, s, err)
	}
}

// take returns the next trial, or nil.
func (w *work) take() (f *found, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.at < len(w.all) && w.next >= w.all[w.at].trials {
		w.at, w.next = w.at+1, 0
	}
	if w.ctx.Err() != nil || w.failed != nil || w.at == len(w.all) {
		return nil, 0
	}
	w.next++
	return w.all[w.at], w.next - 1
}

func (w *work) add(f *found, n int, s sample, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.failed == nil {
		w.failed = fmt.Errorf("measure: %s, %s, trial %d: %w", f.of.Name, f.name, n+1, err)
	}
	f.samples[n] = s
	w.done++
	passed := time.Since(w.started)
	w.progress(Progress{
		Doing: f.of.Name, Done: w.done, Planned: w.planned,
		Left: time.Duration(float64(passed) * float64(w.planned-w.done) / float64(w.done)),
	})
}

// report has each experiment conclude from its trials.
func (w *work) report() (*Report, error) {
	r := &Report{Seed: w.plan.Seed, Effort: w.plan.Effort, Interrupted: w.ctx.Err() != nil}
	for _, e := range w.plan.Experiments {
		res := Result{Name: e.Name, Title: e.Title, About: e.About, Source: e.Source, quick: w.plan.Effort < Full}
		var own []*found
		for _, f := range w.all {
			if f.of != e {
				continue
			}
			f.samples = slices.DeleteFunc(f.samples, func(s sample) bool { return s == nil })
			res.Trials += len(f.samples)
			res.Planned += f.trials
			own = append(own, f)
		}
		if res.Trials > 0 {
			if err := e.conclude(&res, own); err != nil {
				return nil, fmt.Errorf("measure: %s: %w", e.Name, err)
			}
		}
		r.Results = append(r.Results, res)
	}
	return r, nil
}

// series are trials of one kind.
type series struct {
	name   string
	trials int
	trial  func(seed uint64) (sample, error)
}

// sample is what one trial came to: the numbers that its experiment knows the meaning of.
type sample []float64

// found are the samples of a series, in the order of its trials.
type found struct {
	series
	of      *Experiment
	samples []sample
}

// make makes the n-th trial. A crash of an algorithm is an error that tells where it was.
func (f *found) make(seed uint64, n int) (s sample, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = fmt.Errorf("%v\n%s", crash, debug.Stack())
		}
	}()
	return f.trial(seed*1_000_003 + uint64(n))
}

// column returns the k-th number of each sample.
func (f *found) column(k int) []float64 {
	all := make([]float64, len(f.samples))
	for i, s := range f.samples {
		all[i] = s[k]
	}
	return all
}
