package nemesis

import "slices"

// two-leaf leaves two nodes one link each, to the same node. The others all reach each other.
func init() {
	register(&Fault{
		Name:  "two-leaf",
		About: "two nodes reach only one and the same other node, which reaches all",
		Aims:  []Aim{{"one leaf", "leader"}, {"the other leaf", "one"}, {"the node that both reach", "one"}},
		Ports: true,
		Shape: func(s Scene) Shape {
			one, other, hub := s.Aims[0], s.Aims[1], s.Aims[2]
			leaves := slices.Concat(one, other)
			c := apart(leaves, s.Others(slices.Concat(leaves, hub)...))
			c.Links = append(c.Links, apart(one, other).Links...)
			return constant(c)
		},
	})
}
