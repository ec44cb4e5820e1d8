package nemesis

// isolate cuts a node off from all others, both ways.
func init() {
	register(&Fault{
		Name:  "isolate",
		About: "a node is cut off from all others, both ways",
		Aims:  []Aim{{"the node", "one"}},
		Ports: true,
		Shape: func(s Scene) Shape { return constant(apart(s.Aims[0], s.Others(s.Aims[0]...))) },
	})
}
