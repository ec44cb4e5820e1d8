package nemesis

import (
	"math/rand/v2"
	"slices"
	"time"

	"recount/history"
	"recount/internal/option"
)

// unstable-top kills one node soon after each election that it wins, and starts it again. Where the highest rank always
// wins, and has it, there is no end of elections.
func init() {
	register(&Fault{
		Name:  "unstable-top",
		About: "a node dies soon after each election it wins, and comes back",
		Aims:  []Aim{{"the node", "leader"}},
		Options: []option.Option{
			{Name: "after", Kind: option.Wait, Default: "1s", About: "how long it leads"},
			{Name: "down", Kind: option.Period, Default: "1s", About: "how long it is dead"}, ending,
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"after": drawDuration(hold/100, hold/4, rnd), "down": drawPeriod(hold/50, hold/2, rnd)}
		},
		Shape: func(s Scene) Shape {
			leads := func(aims [][]string) (history.Changes, bool) {
				return history.Changes{}, slices.Equal(aims[0], s.Aims[0])
			}
			return Shape{Repeat: true, Phases: []Phase{
				{For: s.Options.Duration("down"), Changes: s.end(s.Aims[0])},
				{},
				{For: s.Options.Duration("after"), Words: []string{"leader"}, Then: leads},
			}}
		},
	})
}
