package nemesis

import "recount/history"

// disk-wipe replaces a node's disk by an empty one, with the process down meanwhile. Healing starts it: it knows nothing
// of what it once voted for.
func init() {
	register(&Fault{
		Name:  "disk-wipe",
		About: "a node's process dies, its disk is emptied, and it is started again at the end, with nothing on it",
		Aims:  []Aim{{"the node", "one"}},
		Disks: true,
		Named: true,
		Shape: func(s Scene) Shape {
			c := disks(s.Aims[0], history.DiskState{Wiped: true})
			c.Procs = procs(s.Aims[0], history.Crashed).Procs
			return constant(c)
		},
	})
}
