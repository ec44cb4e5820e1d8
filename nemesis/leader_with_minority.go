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
			voters := slices.DeleteFunc(slices.Clone(s.Voters), func(n string) bool { return slices.Contains(s.Aims[0], n) })
			room := (len(s.Voters)-1)/2 - (len(s.Voters) - len(voters)) // for more voters beside those aimed at
			small := slices.Concat(s.Aims[0], s.shuffled(voters)[:max(0, room)])
			return constant(apart(small, s.Others(small...)))
		},
	})
}
