package nemesis

import "recount/history"

// cut-clients cuts the way between a node and the clients. The nodes still reach each other, so the election goes on.
func init() {
	register(&Fault{
		Name:  "cut-clients",
		About: "clients get no answer from a node, and what it writes as the leader does not arrive; nodes still reach each other",
		Aims:  []Aim{{"the node", "leader"}},
		Shape: func(s Scene) Shape {
			var c history.Changes
			for _, n := range s.Aims[0] {
				c.Clients = append(c.Clients, history.Client{Node: n, Cut: true})
			}
			return constant(c)
		},
	})
}
