package nemesis

import (
	"fmt"
	"math/rand/v2"
	"time"

	"recount/history"
	"recount/internal/option"
)

// rate limits how much a link carries: packets wait for their turn, and those that would wait too long are lost.
func init() {
	register(&Fault{
		Name:  "rate",
		About: "links between nodes carry little: packets wait for their turn, for up to a second, or are lost",
		Aims:  ends,
		Ports: true,
		Options: []option.Option{
			{Name: "rate", Kind: option.Rate, Default: "16kbit", About: "what each link carries in a second, one way"}, way,
		},
		Draw: func(_ time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"rate": fmt.Sprintf("%.0fbit", drawNumber(2e3, 256e3, rnd))}
		},
		Shape: func(s Scene) Shape {
			return constant(s.along(history.LinkState{Rate: s.Options.Rate("rate")}))
		},
	})
}
