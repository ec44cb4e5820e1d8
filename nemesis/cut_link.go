package nemesis

// cut-link cuts the link between two nodes, both ways: each still reaches everybody else.
func init() {
	register(&Fault{
		Name:  "cut-link",
		About: "two nodes lose each other, both ways, and still reach everybody else",
		Aims:  []Aim{{"one end", "leader"}, {"the other end", "follower"}},
		Ports: true,
		Shape: func(s Scene) Shape { return constant(apart(s.Aims[0], s.Aims[1])) },
	})
}
