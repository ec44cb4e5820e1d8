package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/internal/option"
)

// rolling-restart restarts the nodes one after the other, once each, as an upgrade does.
func init() {
	register(&Fault{
		Name:  "rolling-restart",
		About: "the nodes are restarted one after the other, once each",
		Aims:  []Aim{{"the nodes", "all"}},
		Options: []option.Option{
			{Name: "down", Kind: option.Wait, Default: "500ms", About: "how long each is down"},
			{Name: "up", Kind: option.Wait, Default: "2s", About: "how long it is up again before the next one ends"}, ending,
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{
				"down": drawDuration(hold/100, hold/4, rnd), "up": drawDuration(hold/100, hold/4, rnd),
				"how": ending.Choices[rnd.IntN(2)],
			}
		},
		Shape: func(s Scene) Shape {
			var sh Shape
			for _, n := range s.Aims[0] {
				sh.Phases = append(sh.Phases,
					Phase{For: s.Options.Duration("down"), Changes: s.end([]string{n})}, Phase{For: s.Options.Duration("up")})
			}
			return sh
		},
	})
}
