package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/history"
)

// What the network as a whole was like: the parts it fell into, and who could not reach a majority.

// overall is the state of the whole network over time, each stretch named by what it is cut into.
func overall(changes []linkChange, nodes []string, end time.Duration) (spans []linkSpan) {
	state := map[pair]history.LinkState{}
	unsure := map[pair]bool{}
	for i, c := range changes {
		if c.state == (history.LinkState{}) {
			delete(state, c.pair)
			delete(unsure, c.pair)
		} else {
			state[c.pair], unsure[c.pair] = c.state, c.unsure
		}
		next := end
		if i+1 < len(changes) {
			next = changes[i+1].at
		}
		if len(state) == 0 || next == c.at {
			continue
		}
		s := linkSpan{Span: Span{c.at, next}, Label: shape(state, nodes)}
		for p, st := range state {
			s.There.Cut = s.There.Cut || st.Cut
			s.Unsure = s.Unsure || unsure[p]
			if !st.Cut {
				s.Back = st
			}
		}
		if s.There.Cut {
			s.Back = s.There
		}
		if n := len(spans); n > 0 && spans[n-1].To == s.From && spans[n-1].Label == s.Label && spans[n-1].Unsure == s.Unsure {
			spans[n-1].To = s.To
			continue
		}
		spans = append(spans, s)
	}
	return spans
}

// shape names what a network is cut into: its parts where it falls into parts, else the links.
func shape(state map[pair]history.LinkState, nodes []string) string {
	cut := func(p pair) bool { return state[p].Cut }
	part := make([]int, len(nodes))
	parts := 0
	for i := range nodes {
		if part[i] != 0 {
			continue
		}
		parts++
		part[i] = parts
		for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
			for j := range nodes {
				if part[j] == 0 && (!cut(pair{queue[0], j}) || !cut(pair{j, queue[0]})) {
					part[j] = parts
					queue = append(queue, j)
				}
			}
		}
	}
	var both, one, slow []pair
	inside := false
	for p, s := range state {
		switch {
		case !s.Cut:
			slow = append(slow, p)
		case !cut(p.turned()):
			one = append(one, p)
		case p.a < p.b:
			both = append(both, p)
		}
		inside = inside || part[p.a] == part[p.b]
	}
	if parts > 1 && !inside {
		groups := make([]string, parts)
		for i := range groups {
			var set []int
			for n := range nodes {
				if part[n] == i+1 {
					set = append(set, n)
				}
			}
			groups[i] = names(set, nodes)
		}
		return strings.Join(groups, " | ")
	}
	byNodes := func(p, q pair) int { return (p.a-q.a)<<16 + p.b - q.b }
	var words []string
	if len(both) > 0 {
		slices.SortFunc(both, byNodes)
		name, _ := nameOf(both, nodes, false)
		words = append(words, name)
	}
	if len(one) > 0 {
		slices.SortFunc(one, byNodes)
		name, _ := nameOf(one, nodes, true)
		words = append(words, name)
	}
	if len(slow) > 0 {
		words = append(words, fmt.Sprintf("%d links impaired", len(slow)))
	}
	return strings.Join(words, ", ")
}

// cutOff returns, for each node, when its links did not let it reach a majority both ways, itself included.
func cutOff(changes []linkChange, nodes int, end time.Duration) [][]Span {
	cut := make([]bool, nodes*nodes)
	off := make([][]Span, nodes)
	for i, c := range changes {
		cut[c.pair.a*nodes+c.pair.b] = c.state.Cut && !c.unsure
		next := end
		if i+1 < len(changes) {
			next = changes[i+1].at
		}
		if next == c.at {
			continue
		}
		for n := range nodes {
			reach := 0
			for m := range nodes {
				if !cut[n*nodes+m] && !cut[m*nodes+n] {
					reach++
				}
			}
			if reach > nodes/2 {
				continue
			}
			if k := len(off[n]); k > 0 && off[n][k-1].To == c.at {
				off[n][k-1].To = next
			} else {
				off[n] = append(off[n], Span{c.at, next})
			}
		}
	}
	return off
}
