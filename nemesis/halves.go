package nemesis

// halves splits the cluster in two, as evenly as can be. The aimed-at node is in the smaller half.
func init() {
	register(&Fault{
		Name:  "halves",
		About: "the cluster splits in two, as evenly as can be, with a given node in the smaller half",
		Aims:  []Aim{{"a node of the smaller half", "leader"}},
		Ports: true,
		Shape: func(s Scene) Shape {
			small, others := s.Aims[0], s.shuffled(s.Others(s.Aims[0]...))
			more := max(0, len(s.All)/2-len(small))
			small, others = append(small, others[:more]...), others[more:]
			return constant(apart(small, others))
		},
	})
}
