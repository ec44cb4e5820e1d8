package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/history"
	"recount/internal/option"
)

// disk-errors has some of what a node asks of its disk fail with EIO. A sync that failed has written nothing, and no
// later one writes it either: no election is safe from that in the end, so failing syncs are not drawn.
func init() {
	on := []string{"all", "write", "sync", "read"}
	register(&Fault{
		Name:  "disk-errors",
		About: "some operations on a node's disk fail (EIO); a node that ended over it starts again at the end",
		Aims:  []Aim{{"the node", "leader"}},
		Disks: true,
		Options: []option.Option{
			{Name: "on", Kind: option.Choice, Default: "all", Choices: on, About: "what fails: all, write, sync or read"},
			{Name: "chance", Kind: option.Percent, Default: "100%", About: "of each such operation to fail"},
		},
		Draw: func(_ time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"on": [...]string{"write", "read"}[rnd.IntN(2)], "chance": drawPercent(1, 100, rnd)}
		},
		Shape: func(s Scene) Shape {
			chance, on := s.Options.Percent("chance"), s.Options.Value("on")
			of := func(what string) float64 {
				if on == "all" || on == what {
					return chance
				}
				return 0
			}
			return constant(disks(s.Aims[0], history.DiskState{
				WriteErrors: of("write"), SyncErrors: of("sync"), ReadErrors: of("read"),
			}))
		},
	})
}
