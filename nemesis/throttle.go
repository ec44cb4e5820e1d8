package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/history"
	"recount/internal/option"
)

// throttle gives a node a share of the processor: it works for a moment, stands still until the next period begins, and goes on.
func init() {
	register(&Fault{
		Name:    "throttle",
		About:   "a node gets a share of a processor in each 100 ms, and stands still when it has used it up",
		Aims:    []Aim{{"the node", "leader"}},
		Options: []option.Option{share},
		Draw: func(_ time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{share.Name: drawPercent(1, 50, rnd)}
		},
		Shape: func(s Scene) Shape { return constant(s.throttled(s.Aims[0])) },
	})
}

// share is the option of faults that keep the processor from nodes.
var share = option.Option{
	Name: "share", Kind: option.Percent, Default: "5%", About: "of one processor; in containers 1% or more",
}

// throttled gives nodes no more of the processor than was chosen.
func (s Scene) throttled(nodes []string) history.Changes {
	var states []history.State
	for _, n := range nodes {
		states = append(states, history.CPU{Node: n, Share: s.Options.Percent(share.Name)})
	}
	return history.ChangesOf(states...)
}
