package nemesis

// flap-node cuts a node off from all others and lets it back, again and again.
func init() {
	register(&Fault{
		Name:    "flap-node",
		About:   "a node is cut off from all others and comes back, again and again",
		Aims:    []Aim{{"the node", "one"}},
		Ports:   true,
		Options: flaps,
		Draw:    drawFlaps,
		Shape: func(s Scene) Shape {
			return Shape{Repeat: true, Phases: []Phase{
				{For: s.Options.Duration("down"), Changes: apart(s.Aims[0], s.Others(s.Aims[0]...))},
				{For: s.Options.Duration("up")},
			}}
		},
	})
}
