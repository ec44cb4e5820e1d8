package nemesis

import (
	"math/rand/v2"
	"slices"
	"time"

	"recount/internal/option"
)

// restart-storm kills nodes and starts them again, each whenever it likes, and goes on with it.
func init() {
	register(&Fault{
		Name:  "restart-storm",
		About: "nodes die and come back again and again, each at its own times",
		Aims:  []Aim{{"the nodes", "minority"}},
		Options: []option.Option{
			{Name: "every", Kind: option.Period, Default: "500ms", About: "time between two moments when nodes die or come back"}, ending,
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"every": drawPeriod(hold/40, hold/4, rnd)}
		},
		Shape: func(s Scene) Shape {
			const moments = 32 // then it begins anew
			sh := Shape{Repeat: true}
			dead := slices.Clone(s.Aims[0])
			for range moments {
				sh.Phases = append(sh.Phases, Phase{For: s.Options.Duration("every"), Changes: s.end(dead)})
				dead = slices.DeleteFunc(slices.Clone(s.Aims[0]), func(string) bool { return s.Rand.IntN(2) == 0 })
			}
			return sh
		},
	})
}
