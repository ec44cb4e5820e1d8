package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/internal/option"
)

// flap-link cuts the link between two nodes and restores it, again and again.
func init() {
	register(&Fault{
		Name:    "flap-link",
		About:   "the link between two nodes goes down and comes back, again and again",
		Aims:    []Aim{{"one end", "leader"}, {"the other end", "follower"}},
		Ports:   true,
		Options: flaps,
		Draw:    drawFlaps,
		Shape: func(s Scene) Shape {
			return Shape{Repeat: true, Phases: []Phase{
				{For: s.Options.Duration("down"), Changes: apart(s.Aims[0], s.Aims[1])},
				{For: s.Options.Duration("up")},
			}}
		},
	})
}

// flaps are the options of what goes down and comes back.
var flaps = []option.Option{
	{Name: "down", Kind: option.Period, Default: "2.5s", About: "how long it stays down"},
	{Name: "up", Kind: option.Period, Default: "1.5s", About: "how long it stays up"},
}

func drawFlaps(hold time.Duration, rnd *rand.Rand) map[string]string {
	return map[string]string{"down": drawPeriod(hold/20, hold, rnd), "up": drawPeriod(hold/20, hold, rnd)}
}
