package nemesis

import "recount/history"

// receive-only lets packets in to a node and none out: it hears the heartbeats, and nobody hears it.
func init() {
	register(&Fault{
		Name:  "receive-only",
		About: "a node hears all and is heard by nobody",
		Aims:  []Aim{{"the node", "follower"}},
		Ports: true,
		Shape: func(s Scene) Shape {
			return constant(history.Changes{Links: between(s.Aims[0], s.Others(s.Aims[0]...))})
		},
	})
}
