package nemesis

import "recount/history"

// send-only lets a node's packets out and none in: its heartbeats arrive, the answers do not.
func init() {
	register(&Fault{
		Name:  "send-only",
		About: "a node is heard by all and hears nobody",
		Aims:  []Aim{{"the node", "leader"}},
		Ports: true,
		Shape: func(s Scene) Shape {
			return constant(history.Changes{Links: between(s.Others(s.Aims[0]...), s.Aims[0])})
		},
	})
}
