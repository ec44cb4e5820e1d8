package shrink

import (
	"math"
	"slices"
	"time"

	"recount/harness/record"
	"recount/nemesis"
)

// leastTime is the place in round of the shortest time that a run is tried with.
const leastTime = 8

// round are times that people like.
var round = []time.Duration{
	0, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
	300 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second,
	8 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, 45 * time.Second, time.Minute,
}

// calm leaves out the time before the first fault, and the time well after the violation: then all runs that follow take
// less of it.
func (s *shrinker) calm() {
	first := s.best.Time
	for _, st := range s.best.Schedule {
		first = min(first, st.At)
	}
	if 0 < first && first < s.best.Time {
		s.try(s.with(func(p *record.Plan) {
			p.Time -= first
			for i := range p.Schedule {
				p.Schedule[i].At -= first
			}
		}))
	}
	if s.late {
		s.shorten(s.best.Time, leastTime, func(p *record.Plan, d time.Duration) { p.Time = d })
		return
	}
	settled, _ := s.result.Run.Frame().Settled()
	over := s.result.Verdict.To - settled
	if i, _ := slices.BinarySearch(round, max(over+over/4, round[leastTime])); i < len(round) && round[i] < s.best.Time {
		s.try(s.with(func(p *record.Plan) { p.Time, p.Schedule = round[i], within(p.Schedule, round[i]) }))
	}
}

// within is as much of a schedule as a run has time for.
func within(all nemesis.Schedule, d time.Duration) nemesis.Schedule {
	all = slices.DeleteFunc(all, func(st nemesis.Step) bool { return st.At+st.Wait >= d })
	for i := range all {
		if st := &all[i]; st.At+st.Wait+st.For > d {
			st.For, st.ForTimes = 0, 0 // until the run ends
		}
	}
	return all
}

// times makes faults come sooner and last shorter, and the run with them; or else at times that are easy to read.
func (s *shrinker) times() {
	if s.late && s.whole {
		s.healInTime()
	}
	for i := range s.best.Schedule {
		if st := s.best.Schedule[i]; st.For > 0 || st.ForTimes > 0 { // need it heal?
			s.try(s.with(func(p *record.Plan) { p.Schedule[i].For, p.Schedule[i].ForTimes = 0, 0 }))
		}
		if st := s.best.Schedule[i]; st.For > 0 && st.ForTimes == 0 {
			s.shorten(st.For, 1, func(p *record.Plan, d time.Duration) { p.Schedule[i].For = d })
		}
		if st := s.best.Schedule[i]; st.Wait > 0 && st.Times == 0 {
			s.shorten(st.Wait, 1, func(p *record.Plan, d time.Duration) { p.Schedule[i].Wait = d })
		}
		s.shorten(s.best.Schedule[i].At, 0, func(p *record.Plan, d time.Duration) { p.Schedule[i].At = d })
	}
	s.shorten(s.best.Time, leastTime, func(p *record.Plan, d time.Duration) { p.Time = d })
}

// healInTime has faults heal before the run ends, if what broke after its end can break then: a schedule that says when
// a fault heals tells more than one that leaves it to the end.
func (s *shrinker) healInTime() {
	s.late = false
	if !s.try(s.with(func(p *record.Plan) {
		for i := range p.Schedule {
			if st := &p.Schedule[i]; st.For == 0 && st.ForTimes == 0 {
				st.For = p.Time - st.At
			}
		}
		p.Time = 2 * p.Time
	})) {
		s.late = true
	}
}

// shorten looks for the shortest round time that does, from the least of them on; or else for a rounder one nearby.
func (s *shrinker) shorten(now time.Duration, least int, set func(p *record.Plan, d time.Duration)) {
	try := func(d time.Duration) bool { return s.try(s.with(func(p *record.Plan) { set(p, d) })) }
	end, _ := slices.BinarySearch(round, now)
	lo, hi := min(least, end), end // none before lo does
	for lo < hi {
		if mid := (lo + hi) / 2; try(round[mid]) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if hi < end || end < len(round) && round[end] == now {
		return
	}
	for digits := 1; digits <= 2; digits++ {
		for _, d := range []time.Duration{rounded(now, digits), rounded(now, digits) + unit(now, digits)} {
			if d == now {
				return // it is as round already
			}
			if d > 0 && try(d) {
				return
			}
		}
	}
}

// unit is what the last of the first digits of d counts.
func unit(d time.Duration, digits int) time.Duration {
	return time.Duration(math.Pow10(max(int(math.Log10(float64(d)))-digits+1, 0)))
}

// rounded is d down to so many digits.
func rounded(d time.Duration, digits int) time.Duration {
	if d <= 0 {
		return 0
	}
	return d.Truncate(unit(d, digits))
}

// seed takes the simplest seed that shows the violation.
func (s *shrinker) seed() {
	if s.Of > 0 || s.best.Seed == 0 || !s.going() {
		return
	}
	plans := make([]record.Plan, min(s.best.Seed, mostRuns))
	for i := range plans {
		plans[i] = s.best
		plans[i].Seed = uint64(i)
	}
	if hit := s.attempt(plans, 1, map[uint64]bool{}); hit != nil {
		s.best = hit.plan
		s.result.Plan, s.result.Run, s.result.Verdict = hit.plan, hit.run, hit.verdict
	}
}
