package nemesis

import "slices"

// leader-with-minority splits the cluster so that the leader finds itself in the minority.
func init() {
	register(&Fault{
		Name:  "leader-with-minority",
		About: "the cluster splits in two, with the leader in the minority",
		Aims:  []Aim{{"a node of the minority", "leader"}},
		Ports: true,
		Shape: func(s Scene) Shape {
			small, others := s.Aims[0], s.shuffled(s.Others(s.Aims[0]...))
			more := max(0, (len(s.All)-1)/2-len(small))
			return constant(apart(slices.Concat(small, others[:more]), others[more:]))
		},
	})
}
