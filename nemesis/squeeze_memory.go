package nemesis

import (
	"recount/history"
	"recount/internal/option"
)

// squeeze-memory leaves a node little memory: the kernel takes back what it can, the caches of its files first, and ends a process
// that wants more.
func init() {
	register(&Fault{
		Name:      "squeeze-memory",
		About:     "a node may use little more memory than it does; a node that the kernel ended over it starts again at the end; in containers only",
		Aims:      []Aim{{"the node", "leader"}},
		Contained: true,
		Named:     true,
		Options: []option.Option{
			{Name: "times", Kind: option.Number, Default: "1.1", About: "how much it may use, in multiples of what it uses as the fault comes"},
			{Name: "bytes", Kind: option.Size, Default: "none", About: "or how much in all"},
		},
		Shape: func(s Scene) Shape {
			state := history.Memory{Times: s.Options.Number("times"), Bytes: s.Options.Size("bytes")}
			if state.Bytes > 0 {
				state.Times = 0
			}
			var states []history.State
			for _, n := range s.Aims[0] {
				state.Node = n
				states = append(states, state)
			}
			return constant(history.ChangesOf(states...))
		},
	})
}
