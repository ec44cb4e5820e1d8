package shrink

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/record"
	"recount/internal/count"
)

// How many runs it takes to tell that a plan does not break the property, where it is for shrinking to say.
const (
	gaugeRuns = 64    // by which it is told how rare the property breaks
	leastRuns = 16    // of a plan that may break it every time
	mostRuns  = 300   // of one that seldom does
	rareRuns  = 24    // of one that does by its own seed, and by none of the others that were tried: it is a matter of timing
	longRuns  = 4_000 // after so many runs in all, plans are tried less often, so that shrinking comes to an end
	finalRuns = 100   // by which the rate of the result is measured, if nothing else is said
	swiftRuns = 4     // of a plan before it is known how rare the property breaks, where time is short
	fewPlans  = 50    // so many that do not do are to fit into what is left of a budget
)

// try makes a plan the best one if it breaks the property.
func (s *shrinker) try(p record.Plan) bool {
	if !s.going() || s.starts.Never(p.Nodes) || harness.CheckAgain(p) != nil {
		return false
	}
	key, tries := fingerprint(p), s.affordable()
	need := min(max(s.need*tries/max(s.tries, 1), 1), tries)
	if s.failed[key] == nil {
		s.failed[key] = map[uint64]bool{}
	}
	plans := slices.DeleteFunc(seeded(p, tries), func(p record.Plan) bool { return s.failed[key][p.Seed] })
	if len(plans) < need {
		return false
	}
	s.result.Tried++
	hit := s.attempt(plans, need, s.failed[key])
	if hit == nil {
		return false
	}
	s.best, s.took = hit.plan, hit.took
	s.accepted++
	s.result.Plan, s.result.Run, s.result.Verdict = hit.plan, hit.run, hit.verdict
	_, s.whole = Circumstances(hit.run.Frame(), hit.verdict)
	s.tell()
	return true
}

// affordable is how many runs of a plan are made before it is given up: fewer, the more were made in all, and the less time there
// is. In the end it is the plan's own seed alone, and there are no more than a few hundred plans to try.
func (s *shrinker) affordable() int {
	if s.Of > 0 {
		return s.tries
	}
	return max(1, min(s.tries>>(s.result.Runs/longRuns), s.timely(fewPlans)))
}

// timely is how many runs each of so many plans may have in what is left of the budget.
func (s *shrinker) timely(plans int) int {
	if s.Budget == 0 || s.took == 0 {
		return math.MaxInt
	}
	left := s.Budget - time.Since(s.begun) - s.reserve()
	return int(max(left, 0)/s.took) * s.Jobs / plans
}

// swiftly makes the biggest steps first where time is short: by a few runs of each plan, before many tell how rare the property breaks. All
// that follow take less time then.
func (s *shrinker) swiftly() {
	if s.Of > 0 || s.timely(mostRuns) >= leastRuns {
		return
	}
	s.tries = swiftRuns
	s.calm()
	s.kinds()
	s.steps()
	s.nodes()
	s.calm()
}

func (s *shrinker) tell() {
	s.result.Took = time.Since(s.begun)
	s.Progress(s.result.Progress)
}

// fingerprint is the same for plans that differ in their seed only.
func fingerprint(p record.Plan) string {
	p.Seed = 0
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // plans are stored all the time
	}
	return string(b)
}

// seeded returns the plan with its own seed, and then with others, the simplest first: n of them.
func seeded(p record.Plan, n int) []record.Plan {
	all := []record.Plan{p}
	for seed := uint64(0); len(all) < n; seed++ {
		if seed != p.Seed {
			q := p
			q.Seed = seed
			all = append(all, q)
		}
	}
	return all
}

// outcome is a run of a plan.
type outcome struct {
	plan    record.Plan
	run     *record.Run     // nil if it did not start
	verdict *record.Verdict // by which it meets the criterion, or nil
	took    time.Duration
}

// attempt makes runs until so many of them have broken the property, and returns the first that did; nil if too few do. It notes the
// seeds of those that have not. The same plans give the same answer, however many runs are made at once.
func (s *shrinker) attempt(plans []record.Plan, need int, failed map[uint64]bool) *outcome {
	var first *outcome
	hits, misses := 0, 0
	s.each(plans, func(o *outcome) bool {
		if o.verdict == nil {
			failed[o.plan.Seed] = true
			misses++
			if s.starts.Never(o.plan.Nodes) {
				return false
			}
			return len(plans)-misses >= need && s.going() // can they be enough yet?
		}
		if hits++; first == nil {
			first = o
		}
		return hits < need && s.going()
	})
	if hits < need {
		return nil
	}
	return first
}

// each makes a run of each plan, several at once, and calls f with what came of them, in order, until it returns false. A run that
// did not start shows nothing. After one that could not be made for another reason it makes no more.
func (s *shrinker) each(plans []record.Plan, f func(o *outcome) bool) {
	if s.err != nil {
		return
	}
	b := batch.Batch[record.Plan, *record.Run]{Do: s.Make, Jobs: s.Jobs, Ordered: true}
	for d := range b.Each(s.ctx, slices.Values(plans)) {
		if s.ctx.Err() != nil {
			return // runs that were cut short show nothing
		}
		o := &outcome{plan: d.Job, run: d.Result, took: d.Took}
		switch {
		case d.Err == nil:
			o.verdict = s.shows(d.Result, d.Job.Time)
		case harness.DidNotStart(d.Err) == nil:
			s.err = fmt.Errorf("while it was shrunk, %s, seed %d: %w", count.Of(d.Job.Nodes, "node"), d.Job.Seed, d.Err)
			return
		}
		s.starts.Note(d.Job.Nodes, d.Err == nil)
		s.result.Runs++
		s.tell()
		if !f(o) {
			return
		}
	}
}

// gauge finds out how often the best plan breaks the property, and so how many runs a smaller one deserves.
func (s *shrinker) gauge() {
	if s.Of > 0 {
		return
	}
	runs, hits := 0, 0
	s.each(seeded(s.best, min(gaugeRuns, max(leastRuns, s.timely(8))))[1:], func(o *outcome) bool {
		if runs++; o.verdict != nil {
			hits++
		}
		return (runs < leastRuns || hits < leastRuns/2) && s.going() // it is not rare
	})
	if runs == 0 {
		return
	}
	s.rate = max(s.rate, float64(hits)/float64(runs))
	s.tries = rareRuns
	if hits > 0 {
		s.tries = min(max(4*runs/hits, leastRuns), mostRuns)
	}
}

// often lets f try what takes nothing away, and so must not make the violation much rarer than it was.
func (s *shrinker) often(f func()) {
	if s.Of == 0 {
		s.need = max(1, int(float64(s.tries)*s.rate/2))
		defer func() { s.need = 1 }()
	}
	f()
}

// measure tells how often the result shows the violation, with seeds that were not chosen for it.
func (s *shrinker) measure() {
	plans := make([]record.Plan, s.Measure)
	for i := range plans {
		plans[i] = s.best
		plans[i].Seed = 1_000_000 + uint64(i)
	}
	s.each(plans, func(o *outcome) bool {
		s.result.Measured++
		if o.verdict != nil {
			s.result.Hits++
		}
		return true
	})
}
