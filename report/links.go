package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/history"
)

// Which links were down when. Links that shared their whole fate share a lane; where there are too many fates, or none that
// can be named, one lane shows what the network was cut into.

// maxLinkLanes is how many fates get a lane each.
const maxLinkLanes = 8

// linkLane is what befell a set of links.
type linkLane struct {
	Label string
	Spans []linkSpan
}

// linkSpan is a stretch of time in which links were not healthy. There is the direction that Label names first.
type linkSpan struct {
	Span
	There, Back history.LinkState
	Unsure      bool   // nobody could see whether it took effect
	Label       string // set where it differs from span to span
}

// pair is two nodes by number, and so a link with its two directions.
type pair struct{ a, b int }

func (p pair) turned() pair { return pair{p.b, p.a} }

// linkChange is one direction of a link that takes a new state.
type linkChange struct {
	at     time.Duration
	pair   pair
	state  history.LinkState
	unsure bool
}

// network adds up all changes, which are in order of time.
func network(changes []linkChange, nodes []string, end time.Duration) []linkLane {
	fates := map[pair][]linkSpan{}
	for i := range nodes {
		for j := i + 1; j < len(nodes); j++ {
			if f := fate(changes, pair{i, j}, end); len(f) > 0 {
				p := pair{i, j}
				if f[0].There == (history.LinkState{}) || f[0].Back.Cut && !f[0].There.Cut {
					p = p.turned() // the direction that suffers first leads the name
					for k := range f {
						f[k].There, f[k].Back = f[k].Back, f[k].There
					}
				}
				fates[p] = f
			}
		}
	}
	var lanes []linkLane
	var sets [][]pair
	for _, p := range sorted(fates) {
		at := slices.IndexFunc(lanes, func(l linkLane) bool { return slices.Equal(l.Spans, fates[p]) })
		if at < 0 {
			at = len(lanes)
			lanes = append(lanes, linkLane{Spans: fates[p]})
			sets = append(sets, nil)
		}
		sets[at] = append(sets[at], p)
	}
	together := []linkLane{{Label: "network", Spans: overall(changes, nodes, end)}}
	if len(lanes) > maxLinkLanes {
		return together
	}
	for i := range lanes {
		oneWay := slices.ContainsFunc(lanes[i].Spans, func(s linkSpan) bool { return s.There != s.Back })
		var named bool
		if lanes[i].Label, named = nameOf(sets[i], nodes, oneWay); !named && len(lanes) > 1 {
			return together
		}
	}
	return lanes
}

func sorted(fates map[pair][]linkSpan) []pair {
	ps := make([]pair, 0, len(fates))
	for p := range fates {
		ps = append(ps, p)
	}
	slices.SortFunc(ps, func(p, q pair) int {
		if d := fates[p][0].From - fates[q][0].From; d != 0 {
			return int(max(-1, min(1, d)))
		}
		return (p.a-q.a)<<16 + p.b - q.b
	})
	return ps
}

// fate is what befell one link.
func fate(changes []linkChange, p pair, end time.Duration) (spans []linkSpan) {
	var cur linkSpan
	finish := func(t time.Duration) {
		if cur.To = t; cur.Length() > 0 && (cur.There != history.LinkState{} || cur.Back != history.LinkState{}) {
			spans = append(spans, cur)
		}
		cur.From = t
	}
	for _, c := range changes {
		there, back := cur.There, cur.Back
		switch c.pair {
		case p:
			there = c.state
		case p.turned():
			back = c.state
		default:
			continue
		}
		if there != cur.There || back != cur.Back || c.unsure != cur.Unsure {
			finish(c.at)
			cur.There, cur.Back, cur.Unsure = there, back, c.unsure
		}
	}
	finish(end)
	return spans
}

// nameOf names a set of links by their ends: "n1 – n3", "n1 → n3", "n1 n2 | n3 n4". Where they are not all those between
// two groups of nodes, it counts them.
func nameOf(set []pair, nodes []string, oneWay bool) (name string, named bool) {
	var from, to []int
	for _, p := range set {
		from, to = include(from, p.a), include(to, p.b)
	}
	if len(from)*len(to) != len(set) && !oneWay {
		from, to = sides(set, from, to)
	}
	if len(from)*len(to) != len(set) {
		return fmt.Sprintf("%d links", len(set)), false
	}
	sep := " – "
	switch {
	case oneWay:
		sep = " → "
	case len(set) > 1:
		sep = " | "
	}
	return names(from, nodes) + sep + names(to, nodes), true
}

// sides tries to see a set of links, whichever way round each is named, as all those between two groups.
func sides(set []pair, from, to []int) (left, right []int) {
	left = []int{set[0].a}
	for _, p := range set {
		switch set[0].a {
		case p.a:
			right = include(right, p.b)
		case p.b:
			right = include(right, p.a)
		}
	}
	for _, n := range slices.Concat(from, to) {
		if !slices.Contains(right, n) {
			left = include(left, n)
		}
	}
	for _, p := range set {
		if slices.Contains(left, p.a) == slices.Contains(left, p.b) {
			return nil, nil
		}
	}
	return left, right
}

func include(set []int, n int) []int {
	if i, found := slices.BinarySearch(set, n); !found {
		return slices.Insert(set, i, n)
	}
	return set
}

// names writes nodes in order, long rows of neighbours as "n1…n12".
func names(set []int, nodes []string) string {
	var words []string
	for i := 0; i < len(set); {
		j := i
		for j+1 < len(set) && set[j+1] == set[j]+1 {
			j++
		}
		if j-i >= 3 {
			words = append(words, nodes[set[i]]+"…"+nodes[set[j]])
		} else {
			for _, n := range set[i : j+1] {
				words = append(words, nodes[n])
			}
		}
		i = j + 1
	}
	return strings.Join(words, " ")
}
