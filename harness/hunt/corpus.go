package hunt

import (
	"math/rand/v2"
	"slices"

	"recount/harness/looked"
	"recount/harness/record"
)

// corpus keeps the plans whose runs reached something that none had reached before, and how often it was reached since.
type corpus struct {
	seen    map[looked.Feature]int // by how many runs
	entries []entry
}

type entry struct {
	plan   record.Plan
	novel  []looked.Feature // of what it was the first to reach
	chosen int              // how often it was varied
}

// keptFeatures is how many features an entry is judged by.
const keptFeatures = 24

func newCorpus(parents []record.Plan) corpus {
	c := corpus{seen: map[looked.Feature]int{}}
	for _, p := range parents {
		c.entries = append(c.entries, entry{plan: p})
	}
	return c
}

// size is how many features were reached.
func (c *corpus) size() int { return len(c.seen) }

// note takes a plan up if its run has reached something new, and reports whether it has.
func (c *corpus) note(p record.Plan, reached map[looked.Feature]struct{}) (fresh bool) {
	var novel []looked.Feature
	for f := range reached {
		if c.seen[f]++; c.seen[f] == 1 {
			novel = append(novel, f)
		}
	}
	if len(novel) == 0 {
		return false
	}
	slices.Sort(novel) // maps have no order, and plans are to be the same each time
	c.entries = append(c.entries, entry{plan: p, novel: novel[:min(len(novel), keptFeatures)]})
	return true
}

// energy is how much an entry deserves to be varied: the more, the rarer is what it was the first to reach, after Böhme and
// others, "Boosting Fuzzer Efficiency: An Information Theoretic Perspective" (FSE 2020); and the less, the more often it was.
func (c *corpus) energy(e *entry) float64 {
	sum := 0.01 // of those that were given
	for _, f := range e.novel {
		sum += 1 / float64(c.seen[f])
	}
	return sum / float64(1+e.chosen)
}

// pick returns a plan worth varying, or nil: of a few at random, the one with the most energy.
func (c *corpus) pick(rnd *rand.Rand) *record.Plan {
	var best *entry
	most := 0.0
	for range min(6, len(c.entries)) {
		e := &c.entries[rnd.IntN(len(c.entries))]
		if energy := c.energy(e); best == nil || energy > most {
			best, most = e, energy
		}
	}
	if best == nil {
		return nil
	}
	best.chosen++
	return &best.plan
}
