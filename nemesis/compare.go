package nemesis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"recount/history"
)

// Idle tells whether nothing is being done to the cluster at the moment: what the nemesis believes of it should be so.
func (n *Nemesis) Idle() bool { return !n.busy }

// Compare says in which ways a cluster is not what it is believed to be; "" is in none. Nodes that have ended by themselves
// are known to be down, or to have been started since.
func Compare(believed, found history.Changes, ended map[string]bool) string {
	var all []string
	differ := func(what string, believed, found any) {
		all = append(all, fmt.Sprintf("%s is %v, and should be %v", what, found, believed))
	}
	a, b := add([]history.Changes{believed}), add([]history.Changes{found})
	for _, at := range keys(a.links, b.links) {
		if x, y := a.links[at], b.links[at]; !sameLink(x, y) {
			name := at.from + "→" + at.to
			if at.port != 0 {
				name += fmt.Sprintf(" port %d", at.port)
			}
			differ("link "+name, linkWords(x), linkWords(y))
		}
	}
	for _, p := range found.Procs {
		if p.State == "" { // some of its processes run, others do not
			b.procs[p.Node] = "partly up"
		}
	}
	for _, n := range keys(a.procs, b.procs) {
		if x, y := looks(a.procs[n]), looks(b.procs[n]); x != y && !ended[n] {
			differ(n, x, y)
		}
	}
	for _, n := range keys(a.clocks, b.clocks) {
		x, y := a.clocks[n], b.clocks[n]
		if x.Offset != y.Offset || math.Abs(x.Drift-y.Drift) > 1e-9 {
			differ("the clock of "+n, clockWords(x), clockWords(y))
		}
	}
	for _, n := range keys(a.disks, b.disks) {
		if x, y := a.disks[n], b.disks[n]; x != y {
			differ("the disk of "+n, fmt.Sprintf("%+v", x), fmt.Sprintf("%+v", y))
		}
	}
	for _, n := range keys(a.cut, b.cut) {
		if a.cut[n] != b.cut[n] {
			differ("the way of clients to "+n, cutWords(a.cut[n]), cutWords(b.cut[n]))
		}
	}
	return strings.Join(all, "; ")
}

func cutWords(cut bool) string { return linkWords(history.LinkState{Cut: cut}) }

// keys returns the keys of two maps, in a fixed order.
func keys[K comparable, V any](a, b map[K]V) (all []K) {
	for k := range a {
		all = append(all, k)
	}
	for k := range b {
		if _, both := a[k]; !both {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(x, y K) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	return all
}

// sameLink tells whether two states are the same. A kernel knows chances to a millionth.
func sameLink(a, b history.LinkState) bool {
	near := func(p, q float64) bool { return math.Abs(p-q) < 3e-6 }
	if !near(a.Loss, b.Loss) || !near(a.Duplicate, b.Duplicate) || !near(a.Reorder, b.Reorder) {
		return false
	}
	a.Loss, a.Duplicate, a.Reorder = b.Loss, b.Duplicate, b.Reorder
	return a == b
}

// looks is what a process looks like from outside: the dead do not tell how they died.
func looks(s history.ProcState) history.ProcState {
	switch s {
	case "":
		return history.Up
	case history.Crashed, history.Stopped:
		return history.Down
	}
	return s
}

func linkWords(s history.LinkState) string {
	switch s {
	case history.LinkState{}:
		return "whole"
	case history.LinkState{Cut: true}:
		return "cut"
	}
	return fmt.Sprintf("%+v", s)
}

func clockWords(k history.Clock) string {
	if k.Offset == 0 && k.Drift == 0 {
		return "right"
	}
	return fmt.Sprintf("wrong by %v and %g", k.Offset, k.Drift)
}
