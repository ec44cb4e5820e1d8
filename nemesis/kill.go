package nemesis

import "recount/history"

// kill ends a node's process with SIGKILL; healing starts it again, on the disk it left behind.
func init() {
	register(&Fault{
		Name:  "kill",
		About: "a node's process dies (kill -9) and is started again at the end",
		Aims:  []Aim{{"the node", "one"}},
		Shape: func(s Scene) Shape { return constant(procs(s.Aims[0], history.Down)) },
	})
}

// procs brings nodes' processes into a state.
func procs(nodes []string, state history.ProcState) (c history.Changes) {
	for _, n := range nodes {
		c.Procs = append(c.Procs, history.Proc{Node: n, State: state})
	}
	return c
}
