package nemesis

import "recount/history"

// partition splits the cluster into sides that a step names, of any number. A node that is on no side reaches all of them.
func init() {
	register(&Fault{
		Name:  "partition",
		About: "the cluster splits into the sides that are named; a node on no side reaches all",
		Aims:  []Aim{{"one side", "minority"}, {"the other side; more may follow", "others"}},
		Ports: true,
		Sides: true,
		Named: true, // what is drawn are partitions of a kind: halves, majority-minority, bridge
		Shape: func(s Scene) Shape {
			var c history.Changes
			for i, one := range s.Aims {
				for _, other := range s.Aims[i+1:] {
					c.Links = append(c.Links, apart(one, other).Links...)
				}
			}
			return constant(c)
		},
	})
}
