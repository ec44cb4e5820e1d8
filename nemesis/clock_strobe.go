package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/internal/option"
)

// clock-strobe lets a node's wall clock jump to and fro: no two readings of it need agree on what time has passed.
func init() {
	register(&Fault{
		Name:   "clock-strobe",
		About:  "a node's wall clock jumps to and fro, again and again",
		Aims:   []Aim{{"the node", "leader"}},
		Clocks: true,
		Options: []option.Option{
			{Name: "by", Kind: option.Shift, Default: "5s", About: "how far it jumps to: forward, or with a minus backward"},
			{Name: "every", Kind: option.Period, Default: "200ms", About: "how long it stays there, and how long it is right"},
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{
				"by": either(rnd) + drawDuration(hold/10, 20*hold, rnd), "every": drawPeriod(hold/50, hold/4, rnd),
			}
		},
		Shape: func(s Scene) Shape {
			every := s.Options.Duration("every")
			return Shape{Repeat: true, Phases: []Phase{
				{For: every, Changes: skewed(s.Aims[0], s.Options.Duration("by"), 0)}, {For: every},
			}}
		},
	})
}
