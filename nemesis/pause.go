package nemesis

import (
	"recount/history"
	"recount/internal/option"
)

// pause makes a node's process stand still: it does nothing, keeps all it has, and does not know it when it goes on.
func init() {
	register(&Fault{
		Name:  "pause",
		About: "a node's process stands still and does not know it when it goes on",
		Aims:  []Aim{{"the node, or one process of it, as in leader/agent", "leader"}},
		Parts: true,
		Options: []option.Option{{
			Name: "how", Kind: option.Choice, Default: "signal", Choices: []string{"signal", "freezer"},
			About: "signal stops it (SIGSTOP), the freezer of the kernel keeps it from running without its notice",
		}},
		Shape: func(s Scene) Shape {
			if s.Options.Value("how") == "freezer" {
				return constant(procs(s.Aims[0], history.Frozen))
			}
			return constant(procs(s.Aims[0], history.Paused))
		},
	})
}
