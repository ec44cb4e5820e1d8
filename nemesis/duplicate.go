package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/history"
	"recount/internal/option"
)

// duplicate lets some packets arrive twice.
func init() {
	register(&Fault{
		Name:  "duplicate",
		About: "some packets between nodes arrive twice",
		Aims:  ends,
		Ports: true,
		Options: []option.Option{
			{Name: "chance", Kind: option.Percent, Default: "30%", About: "share of the packets that arrive twice"}, way,
		},
		Draw: func(_ time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"chance": drawPercent(2, 100, rnd)}
		},
		Shape: func(s Scene) Shape {
			return constant(s.along(history.LinkState{Duplicate: s.Options.Percent("chance")}))
		},
	})
}
