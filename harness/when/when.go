// Package when finds out when it was decided that a run would break what it broke. A run in virtual time is the same each time up to any
// moment; from there on it is made with other chance, many times, and the share of these futures that break the same tells how likely that
// was by then. Where the share jumps, something happened that counts.
//
// That one can go back to a moment of a deterministic run and look at other futures of it is what Antithesis calls its multiverse; the same
// estimate of a rare event by runs that branch is multilevel splitting (Kahn and Harris, 1951).
package when

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"recount/harness/batch"
	"recount/harness/estimate"
	"recount/harness/record"
)

// Config says how to look.
type Config struct {
	// Future makes a run that is the same as that of a plan up to a moment, and goes on with another chance: harness.Future.
	Future  func(ctx context.Context, p record.Plan, from time.Duration, chance uint64) (*record.Run, error)
	Breaks  func(r *record.Run) bool // whether a run breaks the same
	Futures int                      // of each moment, at least 1
	Fine    time.Duration            // to which it is narrowed down when the share jumped
	Jobs    int                      // runs at a time; 0 for one a core
	Budget  time.Duration            // real time after which no more moments are looked at; 0 for no limit

	Progress func(moments, runs int) // told after each run; may be nil
}

// Moment is a moment of the run.
type Moment struct {
	At    time.Duration `json:"at"`    // of the run
	Broke estimate.Rate `json:"broke"` // of the runs that are the same until then
}

// Jump is where the share changed by more than chance explains, from one moment to the next.
type Jump struct {
	Before Moment `json:"before"`
	After  Moment `json:"after"`
}

// Result is what was found.
type Result struct {
	Moments []Moment `json:"moments"` // in order of time
	Jumps   []Jump   `json:"jumps"`   // in order of time
	Certain bool     `json:"certain"` // it broke in all runs, whatever chance they had
	Runs    int      `json:"runs"`
	// Coarse says that jumps could have been narrowed down further: the budget was spent, or somebody has ended it.
	Coarse bool `json:"coarse,omitempty"`
}

const (
	parts = 16 // of the time until it broke, looked at first
	most  = 64 // moments in all
)

// Find looks at the moments of the run of a plan that broke something by end. When ctx ends it returns what was found by then. An error is
// that of a run.
func (c Config) Find(ctx context.Context, p record.Plan, end time.Duration) (*Result, error) {
	s := &search{Config: c, plan: p, result: &Result{Moments: []Moment{}, Jumps: []Jump{}}, begun: time.Now()}
	for step := parts; step > 0; step /= 2 { // all of it roughly, before any of it finely
		for i := 0; i <= parts; i += step {
			if step < parts && i%(2*step) == 0 {
				continue
			}
			if err := s.look(ctx, end*time.Duration(i)/parts); err != nil {
				return nil, err
			}
		}
		if step == parts/4 && s.certain() {
			break
		}
	}
	for len(s.result.Moments) < most {
		i := s.steepest()
		if i < 0 {
			break
		}
		all := s.result.Moments
		if !s.going(ctx) {
			s.result.Coarse = true
			break
		}
		if err := s.look(ctx, (all[i].At + (all[i+1].At-all[i].At)/2).Round(time.Microsecond)); err != nil {
			return nil, err
		}
	}
	s.result.Certain = len(s.result.Moments) > 0 && s.certain()
	all := s.result.Moments
	for i := range len(all) - 1 {
		if differ(all[i].Broke, all[i+1].Broke) {
			s.result.Jumps = append(s.result.Jumps, Jump{all[i], all[i+1]})
		}
	}
	return s.result, nil
}

// search is a search under way.
type search struct {
	Config
	plan   record.Plan
	result *Result
	begun  time.Time
}

// certain tells whether all futures of all moments broke it.
func (s *search) certain() bool {
	return !slices.ContainsFunc(s.result.Moments, func(m Moment) bool { return m.Broke.Hits < m.Broke.Trials })
}

func (s *search) going(ctx context.Context) bool {
	return ctx.Err() == nil && (s.Budget == 0 || time.Since(s.begun) < s.Budget)
}

// look adds a moment, unless somebody ends the search before all of its futures were made.
func (s *search) look(ctx context.Context, at time.Duration) error {
	if !s.going(ctx) {
		s.result.Coarse = true
		return nil
	}
	b := batch.Batch[uint64, bool]{Jobs: s.Jobs, Do: func(ctx context.Context, chance uint64) (bool, error) {
		r, err := s.Future(ctx, s.plan, at, chance)
		return err == nil && s.Breaks(r), err
	}}
	broke, made := 0, 0
	for d := range b.Each(ctx, s.chances()) {
		switch {
		case ctx.Err() != nil: // what was cut short may have broken it yet
		case d.Err != nil:
			return d.Err
		default:
			made++
			s.result.Runs++
			if d.Result {
				broke++
			}
			if s.Progress != nil {
				s.Progress(len(s.result.Moments), s.result.Runs)
			}
		}
	}
	if ctx.Err() != nil || made < s.Futures {
		s.result.Coarse = true
		return nil
	}
	m := Moment{at, estimate.Of(broke, made)}
	i, _ := slices.BinarySearchFunc(s.result.Moments, m, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	s.result.Moments = slices.Insert(s.result.Moments, i, m)
	return nil
}

// chances are the seeds of futures: those of each moment are the same.
func (s *search) chances() func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for k := range uint64(s.Futures) {
			if !yield(s.plan.Seed ^ (k+1)*0x9e3779b97f4a7c15) {
				return
			}
		}
	}
}

// steepest is the place of the moment after which the share changes most until the next, of those that are to be narrowed down; -1 if none
// is.
func (s *search) steepest() int {
	at, by := -1, 0.0
	all := s.result.Moments
	for i := range len(all) - 1 {
		d := math.Abs(all[i+1].Broke.Share() - all[i].Broke.Share())
		if all[i+1].At-all[i].At > s.Fine && d > by && differ(all[i].Broke, all[i+1].Broke) {
			at, by = i, d
		}
	}
	return at
}

// differ tells whether two shares differ by more than chance explains: their intervals have nothing in common.
func differ(a, b estimate.Rate) bool { return a.High < b.Low || b.High < a.Low }
