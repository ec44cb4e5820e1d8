package nemesis

import "recount/history"

// cut-one-way cuts the link between two nodes in one direction.
func init() {
	register(&Fault{
		Name:  "cut-one-way",
		About: "what one node sends to another never arrives; the way back works",
		Aims:  []Aim{{"the sender", "leader"}, {"the receiver", "follower"}},
		Ports: true,
		Shape: func(s Scene) Shape {
			return constant(history.Changes{Links: between(s.Aims[0], s.Aims[1])})
		},
	})
}
