package nemesis

import "recount/internal/option"

// restart ends a node's process and starts it again at once.
func init() {
	register(&Fault{
		Name:  "restart",
		About: "a node's process ends and is started again at once",
		Aims:  []Aim{{"the node", "leader"}},
		Options: []option.Option{
			{Name: "down", Kind: option.Wait, Default: "100ms", About: "how long it is down"}, ending,
		},
		Shape: func(s Scene) Shape {
			return Shape{Phases: []Phase{{For: s.Options.Duration("down"), Changes: s.end(s.Aims[0])}, {}}}
		},
	})
}
