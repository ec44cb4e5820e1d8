package nemesis

import (
	"recount/history"
	"recount/internal/option"
)

// lose-writes ends a node's process as kill does, and takes from its disk what was not synced: a loss of power, but one
// that its peers notice at once. Aimed at all nodes it is a power failure of the whole site.
func init() {
	register(&Fault{
		Name:  "lose-writes",
		About: "a node's process dies, its disk loses all writes that were not synced, and it is started again at the end",
		Aims:  []Aim{{"the nodes", "one"}},
		Disks: true,
		Options: []option.Option{
			{
				Name: "torn", Kind: option.Bool, Default: "false",
				About: "some sectors of 512 bytes of the last write that was not synced are on the disk nevertheless",
			},
			{
				Name: "scattered", Kind: option.Bool, Default: "false",
				About: "any part of all that was not synced is on the disk nevertheless",
			},
		},
		Shape: func(s Scene) Shape {
			c := procs(s.Aims[0], history.Crashed)
			if left := (history.DiskState{Torn: s.Options.Bool("torn"), Scattered: s.Options.Bool("scattered")}); left != (history.DiskState{}) {
				c.Disks = disks(s.Aims[0], left).Disks
			}
			return constant(c)
		},
	})
}
