package hunt

import (
	"math/rand/v2"

	"recount/harness/record"
)

// corpus keeps the plans whose runs reached something that none had reached before.
type corpus struct {
	seen    map[feature]struct{}
	entries []entry
}

type entry struct {
	plan   record.Plan
	novel  int // how many features it was the first to reach
	chosen int // how often it was varied
}

func newCorpus() corpus { return corpus{seen: map[feature]struct{}{}} }

// size is how many features were reached.
func (c *corpus) size() int { return len(c.seen) }

// note takes a plan up if its run has reached something new.
func (c *corpus) note(p record.Plan, reached map[feature]struct{}) {
	novel := 0
	for f := range reached {
		if _, known := c.seen[f]; !known {
			c.seen[f] = struct{}{}
			novel++
		}
	}
	if novel > 0 {
		c.entries = append(c.entries, entry{plan: p, novel: novel})
	}
}

// pick returns a plan worth varying, or nil: of a few at random, the one that was varied least for what it reached.
func (c *corpus) pick(rnd *rand.Rand) *record.Plan {
	var best *entry
	for range min(4, len(c.entries)) {
		e := &c.entries[rnd.IntN(len(c.entries))]
		if best == nil || e.novel*(1+best.chosen) > best.novel*(1+e.chosen) {
			best = e
		}
	}
	if best == nil {
		return nil
	}
	best.chosen++
	return &best.plan
}
