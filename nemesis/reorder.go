package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/history"
	"recount/internal/option"
)

// reorder lets some packets overtake the others, which are delayed.
func init() {
	register(&Fault{
		Name:  "reorder",
		About: "some packets between nodes overtake others that were sent before",
		Aims:  ends,
		Ports: true,
		Options: []option.Option{
			{Name: "chance", Kind: option.Percent, Default: "25%", About: "share of the packets that overtake"},
			{Name: "delay", Kind: option.Duration, Default: "50ms", About: "added to each of the others, one way"}, way,
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"chance": drawPercent(5, 75, rnd), "delay": drawDuration(hold/50, hold/5, rnd)}
		},
		Shape: func(s Scene) Shape {
			return constant(s.along(history.LinkState{Reorder: s.Options.Percent("chance"), Delay: s.Options.Duration("delay")}))
		},
	})
}
