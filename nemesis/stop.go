package nemesis

import (
	"recount/history"
	"recount/internal/option"
)

// stop asks a node's process to end, as a platform does that scales in; healing starts it again.
func init() {
	register(&Fault{
		Name:  "stop",
		About: "a node's process is asked to end (SIGTERM), does so in its own way, and is started again at the end",
		Aims:  []Aim{{"the node", "leader"}},
		Shape: func(s Scene) Shape { return constant(procs(s.Aims[0], history.Stopped)) },
	})
}

// ending is the option of faults that end processes.
var ending = option.Option{
	Name: "how", Kind: option.Choice, Default: "kill", Choices: []string{"kill", "stop"},
	About: "kill ends a process at once (kill -9), stop asks it to end (SIGTERM)",
}

// end ends nodes' processes in the way that was chosen.
func (s Scene) end(nodes []string) history.Changes {
	if s.Options.Value(ending.Name) == "stop" {
		return procs(nodes, history.Stopped)
	}
	return procs(nodes, history.Down)
}
