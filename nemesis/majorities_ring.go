package nemesis

import "recount/history"

// majorities-ring arranges the nodes in a ring and lets each hear the nodes around it, no more than it takes to hear a
// majority. No two of them hear the same one.
func init() {
	register(&Fault{
		Name:  "majorities-ring",
		About: "each node hears a majority, and no two nodes the same one",
		Ports: true,
		Shape: func(s Scene) Shape {
			ring := s.shuffled(s.All)
			n, majority := len(ring), len(ring)/2+1
			var c history.Changes
			for i := range ring { // where the majority begins that the node in its middle hears
				listener := ring[(i+majority/2)%n]
				for k := majority; k < n; k++ {
					c.Links = append(c.Links, between([]string{ring[(i+k)%n]}, []string{listener})...)
				}
			}
			return constant(c)
		},
	})
}
