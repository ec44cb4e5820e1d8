package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/history"
	"recount/internal/option"
)

// disk-slow has a node wait for its disk: each sync takes longer, and the process that asked for it stands still.
func init() {
	register(&Fault{
		Name:  "disk-slow",
		About: "each sync of a node's disk takes longer",
		Aims:  []Aim{{"the node", "leader"}},
		Disks: true,
		Options: []option.Option{
			{Name: "by", Kind: option.Duration, Default: "200ms", About: "added to each sync (fsync, fdatasync)"},
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"by": drawDuration(hold/100, hold, rnd)}
		},
		Shape: func(s Scene) Shape {
			return constant(disks(s.Aims[0], history.DiskState{Slow: s.Options.Duration("by")}))
		},
	})
}
