package specfile

import (
	"slices"

	"recount/election"
)

// Turns implements election.InTurn: services that come first, one after the other; then all others at once, or, where nodes join one that
// is there already, all servers before them and they one by one.
func (y *system) Turns(all []election.Member) (turns [][]election.Member) {
	nodes, servers := y.split(all)
	besides := slices.Clone(servers)
	for _, one := range y.services {
		if own := one.of(servers); one.First && len(own) > 0 {
			turns = append(turns, own)
			besides = slices.DeleteFunc(besides, func(m election.Member) bool { return slices.Contains(own, m) })
		}
	}
	if !y.Spec.Ready.InTurn {
		return append(turns, slices.Concat(nodes, besides))
	}
	if len(besides) > 0 {
		turns = append(turns, besides)
	}
	for i := range nodes {
		turns = append(turns, nodes[i:i+1])
	}
	return turns
}
