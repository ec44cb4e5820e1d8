package nemesis

import (
	"slices"

	"recount/history"
)

// line lets each node reach its two neighbours and nobody else: A–B–C.
func init() {
	register(&Fault{
		Name:  "line",
		About: "the nodes stand in a line, and each reaches only its neighbours",
		Aims:  []Aim{{"the node in the middle", "leader"}},
		Ports: true,
		Shape: func(s Scene) Shape {
			line := s.shuffled(s.Others(s.Aims[0]...))
			line = slices.Insert(line, len(line)/2, s.Aims[0]...)
			var c history.Changes
			for i := range line {
				for j := i + 2; j < len(line); j++ {
					c.Links = append(c.Links, apart(line[i:i+1], line[j:j+1]).Links...)
				}
			}
			return constant(c)
		},
	})
}
