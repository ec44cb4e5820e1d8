// Package claims puts numbers to what is said about elections: it makes the experiments behind the claims, in
// simulation, and sets what it finds beside what was claimed.
package claims

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recount/harness/batch"
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

// Measure makes all trials of a plan, experiment by experiment, and returns what they come to. When ctx ends, what was
// measured by then is returned, each result saying how much it rests on. An error means that the harness failed.
func Measure(ctx context.Context, p Plan, progress func(batch.Progress)) (*Report, error) {
	started := time.Now()
	var all []*found
	var trials []trial
	for _, e := range p.Experiments {
		for _, s := range e.series(p.Effort) {
			f := &found{series: s, of: e, samples: make([]sample, s.trials)}
			all = append(all, f)
			for n := range s.trials {
				trials = append(trials, trial{f, n, p.Seed*1_000_003 + uint64(n)})
			}
		}
	}
	b := batch.Batch[trial, sample]{Jobs: p.Jobs, Do: func(_ context.Context, t trial) (sample, error) { return t.of.trial(t.seed) }}
	done := 0
	for d := range b.Each(ctx, slices.Values(trials)) {
		t := d.Job
		if d.Err != nil {
			return nil, fmt.Errorf("%s, %s, trial %d: %w", t.of.of.Name, t.of.name, t.number+1, d.Err)
		}
		t.of.samples[t.number] = d.Result
		done++
		now := batch.Progress{Doing: t.of.of.Name, Done: done, Planned: len(trials), Passed: time.Since(started)}
		progress(now.Estimate(0))
	}
	return report(p, all, ctx.Err() != nil)
}

// trial is one of a series.
type trial struct {
	of     *found
	number int // from 0
	seed   uint64
}

// report has each experiment conclude from its trials.
func report(p Plan, all []*found, interrupted bool) (*Report, error) {
	r := &Report{Seed: p.Seed, Effort: p.Effort, Interrupted: interrupted}
	for _, e := range p.Experiments {
		res := Result{Name: e.Name, Title: e.Title, About: e.About, Source: e.Source, quick: p.Effort < Full}
		var own []*found
		for _, f := range all {
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
				return nil, fmt.Errorf("%s: %w", e.Name, err)
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

// column returns the k-th number of each sample.
func (f *found) column(k int) []float64 {
	all := make([]float64, len(f.samples))
	for i, s := range f.samples {
		all[i] = s[k]
	}
	return all
}
