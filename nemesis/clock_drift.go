package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/internal/option"
)

// clock-drift lets a node's clocks run too fast or too slow. Healing sets the wall clock right; the monotonic clock must not go
// back. In virtual time it keeps what it has gained, and gains no more; of programs in containers both clocks are slewed until
// they are right, and then the fault is over.
func init() {
	register(&Fault{
		Name:   "clock-drift",
		About:  "a node's clocks, the wall clock and the monotonic one, run too fast or too slow",
		Aims:   []Aim{{"the node", "leader"}},
		Clocks: true,
		Options: []option.Option{
			{Name: "by", Kind: option.Drift, Default: "1%", About: "how much too fast, or with a minus too slow; in % or ppm"},
			{Name: "apart", Kind: option.Bool, Default: "false", About: "the clocks of all other nodes are as wrong the other way"},
		},
		Draw: func(_ time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"by": either(rnd) + drawPercent(0.1, 10, rnd)}
		},
		Shape: func(s Scene) Shape {
			by := s.Options.Drift("by")
			c := skewed(s.Aims[0], 0, by)
			if s.Options.Bool("apart") {
				c.Clocks = append(c.Clocks, skewed(s.Others(s.Aims[0]...), 0, -by).Clocks...)
			}
			return constant(c)
		},
	})
}
