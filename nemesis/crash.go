package nemesis

import "recount/history"

// crash takes the machine from under a node: its peers see silence, and what it had not synced is lost.
func init() {
	register(&Fault{
		Name:  "crash",
		About: "a node's machine dies with all that was not synced, and is started again at the end",
		Aims:  []Aim{{"the node", "one"}},
		Disks: true,
		Shape: func(s Scene) Shape {
			c := apart(s.Aims[0], s.Others(s.Aims[0]...))
			c.Procs = procs(s.Aims[0], history.Crashed).Procs
			return constant(c)
		},
	})
}
