package nemesis

import "recount/history"

// reset ends TCP connections by an RST, and refuses new ones. Datagrams only lose what is in flight when it begins.
func init() {
	register(&Fault{
		Name:  "reset",
		About: "TCP connections between nodes are reset, and new ones refused; datagrams in flight are lost",
		Aims:  ends,
		Ports: true,
		Shape: func(s Scene) Shape {
			reset := history.LinkState{Reset: true}
			return constant(history.Changes{
				Links: append(links(s.Aims[0], s.Aims[1], reset), links(s.Aims[1], s.Aims[0], reset)...),
			})
		},
	})
}
