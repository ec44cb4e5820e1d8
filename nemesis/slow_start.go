package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/internal/option"
)

// slow-start has a node come back before it is what it was: its caches are cold, and its host is busy with starting others.
func init() {
	register(&Fault{
		Name:  "slow-start",
		About: "a node's process ends, and is slow for a time when it is started again",
		Aims:  []Aim{{"the node", "leader"}},
		Options: []option.Option{
			{Name: "down", Kind: option.Wait, Default: "1s", About: "how long it is down"},
			{Name: "slow", Kind: option.Duration, Default: "10s", About: "how long it is slow after that"}, share, ending,
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{
				"down": drawDuration(hold/100, hold/4, rnd), "slow": drawDuration(hold/10, hold, rnd),
				share.Name: drawPercent(1, 50, rnd), ending.Name: ending.Choices[rnd.IntN(2)],
			}
		},
		Shape: func(s Scene) Shape {
			return Shape{Phases: []Phase{
				{For: s.Options.Duration("down"), Changes: s.end(s.Aims[0])},
				{For: s.Options.Duration("slow"), Changes: s.throttled(s.Aims[0])},
				{},
			}}
		},
	})
}
