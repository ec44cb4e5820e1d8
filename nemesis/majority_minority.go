package nemesis

// majority-minority splits the cluster into a majority and as large a minority as there can be.
func init() {
	register(&Fault{
		Name:  "majority-minority",
		About: "the cluster splits in two: a minority, and the rest",
		Aims:  []Aim{{"the minority", "minority"}},
		Ports: true,
		Shape: func(s Scene) Shape { return constant(apart(s.Aims[0], s.Others(s.Aims[0]...))) },
	})
}
