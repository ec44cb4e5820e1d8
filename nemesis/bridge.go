package nemesis

// bridge splits the cluster in two, but for one node that both halves reach.
func init() {
	register(&Fault{
		Name:  "bridge",
		About: "the cluster splits in two halves that still share one node",
		Aims:  []Aim{{"the node that both halves reach", "one"}},
		Ports: true,
		Shape: func(s Scene) Shape {
			others := s.shuffled(s.Others(s.Aims[0]...))
			half := len(others) / 2
			return constant(apart(others[:half], others[half:]))
		},
	})
}
