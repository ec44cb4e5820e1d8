package nemesis

import "recount/history"

// kill-all ends every process at the same time; healing starts them all again.
func init() {
	register(&Fault{
		Name:  "kill-all",
		About: "all processes die at once (kill -9) and are started again at the end",
		Aims:  []Aim{{"the nodes", "all"}},
		Shape: func(s Scene) Shape { return constant(procs(s.Aims[0], history.Down)) },
	})
}
