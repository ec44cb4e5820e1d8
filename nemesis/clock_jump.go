package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/history"
	"recount/internal/option"
)

// clock-jump sets a node's wall clock wrong; healing sets it right again. The monotonic clock takes no notice.
func init() {
	register(&Fault{
		Name:   "clock-jump",
		About:  "a node's wall clock jumps forward or backward, and back at the end",
		Aims:   []Aim{{"the node", "leader"}},
		Clocks: true,
		Options: []option.Option{
			{Name: "by", Kind: option.Shift, Default: "30s", About: "how far: forward, or with a minus backward"},
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"by": either(rnd) + drawDuration(hold/10, 20*hold, rnd)}
		},
		Shape: func(s Scene) Shape { return constant(skewed(s.Aims[0], s.Options.Duration("by"), 0)) },
	})
}

// skewed has nodes' clocks err: the wall clock by an offset, and it and the monotonic one by a drift.
func skewed(nodes []string, offset time.Duration, drift float64) (c history.Changes) {
	for _, n := range nodes {
		c.Clocks = append(c.Clocks, history.Clock{Node: n, Offset: offset, Drift: drift})
	}
	return c
}

// either draws a sign.
func either(rnd *rand.Rand) string { return [...]string{"", "-"}[rnd.IntN(2)] }
