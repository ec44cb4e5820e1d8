package nemesis

import (
	"strings"

	"recount/history"
)

// kill ends a node's process with SIGKILL; healing starts it again, on the disk it left behind. One of several processes of a node is ended
// whenever the others start it again, until that is healed.
func init() {
	register(&Fault{
		Name:  "kill",
		About: "a node's process dies (kill -9) and is started again at the end",
		Aims:  []Aim{{"the node, or one process of it, as in leader/agent", "one"}},
		Parts: true,
		Shape: func(s Scene) Shape { return constant(procs(s.Aims[0], history.Down)) },
	})
}

// procs brings nodes' processes into a state: all of a node's, or those of one part of it, n1/agent.
func procs(nodes []string, state history.ProcState) (c history.Changes) {
	for _, n := range nodes {
		if node, part, is := strings.Cut(n, "/"); is {
			c.Add(history.Part{Node: node, Process: part, State: state})
			continue
		}
		c.Procs = append(c.Procs, history.Proc{Node: n, State: state})
	}
	return c
}
