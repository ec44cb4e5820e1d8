package checkers

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recount/history"
)

// moment is an instant of a history, or all between two instants at which something happened.
type moment struct{ from, to time.Duration }

// moments returns all of them, from the first op to the last, in order.
func moments(h *history.History) (all []moment) {
	for _, op := range h.Ops {
		if n := len(all); n == 0 || all[n-1].to < op.Time {
			if n > 0 {
				all = append(all, moment{all[n-1].to, op.Time})
			}
			all = append(all, moment{op.Time, op.Time})
		}
	}
	return all
}

func (m moment) in(from, to time.Duration) bool { return from <= m.from && m.to <= to }

// talks is when a node may have talked with a majority, both ways.
func talks(h *history.History, node string) []sure {
	return stretches(h, func(w around) string {
		var with []string
		for _, n := range h.Setup().Nodes {
			runs := !w.down(n)
			if runs && (n == node || !w.deaf(n, node) && !w.deaf(node, n)) {
				with = append(with, n)
			}
		}
		if !slices.Contains(with, node) || w.out(node) || !w.enough(with, true) {
			return ""
		}
		return "with a majority"
	})
}

// connectedMajorities returns, of each majority, each longest stretch throughout which it surely was connected, and well, or would have been.
func connectedMajorities(h *history.History) (all []sure) {
	nodes := h.Setup().Nodes
	for mask := range 1 << len(nodes) {
		var some []string
		for i, n := range nodes {
			if mask>>i&1 == 1 {
				some = append(some, n)
			}
		}
		all = append(all, stretches(h, func(w around) string {
			if !w.enough(some, false) {
				return ""
			}
			for _, a := range some {
				if p := w.proc(a); p != healthy && p != ended && !w.owed[a] || !w.right(a) || w.votes(a) != healthy {
					return ""
				}
				for _, b := range some {
					if a != b && !w.connected(a, b) {
						return ""
					}
				}
			}
			return "connected"
		})...)
	}
	return all
}

// net is how long a stretch is, without what is excused in it.
func net(h *history.History, from, to time.Duration) time.Duration {
	var frozen []sure
	for _, op := range h.Ops {
		if op.F == history.Stall {
			frozen = append(frozen, sure{"", max(op.Time-time.Duration(op.Access.Value), 0), op.Time})
		}
	}
	slices.SortFunc(frozen, func(a, b sure) int { return cmp.Compare(a.from, b.from) })
	length := to - from
	for i := 0; i < len(frozen); i++ {
		for ; i+1 < len(frozen) && frozen[i+1].from <= frozen[i].to; i++ { // one and the same
			frozen[i+1].from, frozen[i+1].to = frozen[i].from, max(frozen[i].to, frozen[i+1].to)
		}
		if o := frozen[i]; o.from < to && from < o.to {
			length -= min(o.to, to) - max(o.from, from) + min(o.to-o.from, h.Setup().Bounds.Silence)
		}
	}
	return length
}

// most is the net length of the part of a stretch of which that is the longest: it begins and ends with it, or where the machine
// stood still.
func most(h *history.History, from, to time.Duration) (longest time.Duration) {
	times := []time.Duration{from, to}
	for _, op := range h.Ops {
		if op.F == history.Stall {
			times = append(times, op.Time-time.Duration(op.Access.Value), op.Time)
		}
	}
	for _, a := range times {
		for _, b := range times {
			if from <= a && a < b && b <= to {
				longest = max(longest, net(h, a, b))
			}
		}
	}
	return longest
}

func TestOraclesElects(t *testing.T) {
	draw := func(t *rapid.T) string { return anyRun(t, false) }
	compare(t, "elects", draw, func(h *history.History) Verdict {
		if len(heard(h)) < 2 {
			return Unknown
		}
		all, elect, end := undivided(h), h.Setup().Bounds.Elect, h.Ops[len(h.Ops)-1].Time
		var may, did []sure // when somebody may have led, and was seen to
		for _, n := range h.Setup().Nodes {
			before := said{node: n, view: history.View{Role: history.Leader}, unnumbered: true} // nobody knows
			last := said{node: n, asked: end, at: end, view: before.view, unnumbered: true}
			row := []said{before}
			for _, a := range all {
				if a.node == n && !a.ended && (a.leads() || !a.vague()) {
					row = append(row, a)
				}
			}
			row = append(row, last)
			for i, b := range row[1:] {
				if a := row[i]; a.leads() || b.leads() || b.at-a.asked > lull(h) {
					may = append(may, sure{n, a.asked, b.at})
				}
			}
		}
		for _, g := range tenures(all) {
			last := g[0] // asked for
			for _, c := range g {
				if c.asked >= last.asked {
					last = c
				}
			}
			from := g[0].asked
			if g[0].announced {
				from = g[0].at // when it was asked something before tells nothing of this
			}
			did = append(did, sure{last.node, from, last.at})
		}
		offices := map[string][]sure{}
		for _, n := range h.Setup().Nodes {
			offices[n] = talks(h, n)
		}
		leads := func(times []sure) (led []bool) {
			for _, m := range moments(h) {
				led = append(led, slices.ContainsFunc(times, func(s sure) bool {
					return m.in(s.from, s.to) && slices.ContainsFunc(offices[s.node], func(o sure) bool {
						return m.in(o.from, o.to) && (m.to > s.from || o.to > s.from || o.to == end) // it begins in office
					})
				}))
			}
			return led
		}
		// without returns the gaps in a stretch.
		without := func(c sure, led []bool) (gaps []sure) {
			open := false
			for i, m := range moments(h) {
				if !m.in(c.from, c.to) || led[i] {
					open = false
					continue
				}
				if !open {
					gaps = append(gaps, sure{"", m.from, m.to})
				}
				open = true
				gaps[len(gaps)-1].to = m.to
			}
			return gaps
		}
		mayLead, didLead := leads(may), leads(did)
		due, doubt, vacant := false, false, false
		for _, c := range connectedMajorities(h) {
			for _, g := range without(c, didLead) {
				doubt = doubt || g.to-g.from > elect
			}
			if most(h, c.from, c.to) <= elect {
				continue
			}
			due = true
			for _, g := range without(c, mayLead) {
				vacant = vacant || most(h, g.from, g.to) > elect
			}
		}
		switch {
		case vacant:
			return Invalid
		case !whole(h) || inVain(h) || !due || doubt:
			return Unknown
		}
		return Valid
	})
}

// leads reports whether an answer says so, in whatever term.
func (a said) leads() bool { return !a.ended && a.view.Role == history.Leader }
