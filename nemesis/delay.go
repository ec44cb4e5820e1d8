package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/history"
	"recount/internal/option"
)

// delay lets packets take longer, each by its own time.
func init() {
	register(&Fault{
		Name:  "delay",
		About: "packets between nodes take longer, and with jitter not all equally long",
		Aims:  ends,
		Ports: true,
		Options: []option.Option{
			{Name: "delay", Kind: option.Duration, Default: "100ms", About: "added to each packet, one way"},
			{Name: "jitter", Kind: option.Wait, Default: "20ms", About: "the delay varies by up to this much either way, and is never below 0"}, way,
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"delay": drawDuration(hold/100, hold/3, rnd), "jitter": drawDuration(hold/200, hold/6, rnd)}
		},
		Shape: func(s Scene) Shape {
			return constant(s.along(history.LinkState{Delay: s.Options.Duration("delay"), Jitter: s.Options.Duration("jitter")}))
		},
	})
}
