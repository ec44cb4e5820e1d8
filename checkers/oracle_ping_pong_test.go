package checkers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recount/history"
)

// faultPhases returns the phases of a history: where the same faults were under way, with their ids.
func faultPhases(h *history.History) (all []sure) {
	since, ids := time.Duration(0), []string{}
	for i, op := range h.Ops {
		asks := op.Fault != nil && op.Fault.HandsOver()
		if k := h.Other(i); k >= 0 && op.Process == history.Nemesis && waited(h, h.Ops[min(i, k)].Fault.ID) {
			continue
		}
		if (op.F == history.Inject || op.F == history.Heal) && !asks {
			if op.Type == history.Invoke {
				if since >= 0 && since < op.Time {
					all = append(all, sure{strings.Join(ids, " "), since, op.Time})
				}
				since = -1
				continue
			}
			since = op.Time
			id := fmt.Sprint(h.Ops[h.Other(i)].Fault.ID)
			if op.Type != history.Fail {
				ids = slices.DeleteFunc(ids, func(o string) bool { return o == id })
				if op.F == history.Inject {
					ids = append(ids, id)
				}
			}
		}
	}
	if end := h.Ops[len(h.Ops)-1].Time; since >= 0 && since < end {
		all = append(all, sure{strings.Join(ids, " "), since, end})
	}
	return all
}

// waited reports whether a fault was seen to be injected, and waited for what never came.
func waited(h *history.History, id int) bool {
	of := func(f history.F) func(history.Op) bool {
		return func(o history.Op) bool {
			return o.F == f && o.Fault != nil && o.Fault.ID == id && (f == history.Inject && o.Type == history.OK || f == history.Heal && o.Type != history.Invoke && o.Fault.Idle != "")
		}
	}
	return slices.ContainsFunc(h.Ops, of(history.Inject)) && slices.ContainsFunc(h.Ops, of(history.Heal))
}

// with returns who was connected with a node throughout a time, both of them well; or just started, where that will do.
func with(h *history.History, leader string, from, to time.Duration, heardOf bool) (nodes []string) {
	return among(h, leader, from, to, func(w around, n string) bool {
		return w.proc(n) == healthy || w.proc(n) == started && !heardOf
	})
}

// among is with, of those whose processes run as is asked for.
func among(h *history.History, leader string, from, to time.Duration, runs func(around, string) bool) (nodes []string) {
	fits := func(w around, n string) bool { return w.right(n) && w.belongs(n) && runs(w, n) }
	for _, n := range h.Setup().Nodes {
		good := func(w around) string {
			if fits(w, n) && fits(w, leader) && (n == leader || w.connected(n, leader)) {
				return "good"
			}
			return ""
		}
		end := h.Ops[len(h.Ops)-1].Time
		if slices.ContainsFunc(stretches(h, good), func(s sure) bool {
			return s.from <= from && (to < s.to || to == s.to && to == end && good(atLast(h)) != "")
		}) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// mute returns when a node that was surely up gave no answer for longer than a lull.
func mute(h *history.History, node string) (all []sure) {
	up := stretches(h, func(w around) string {
		if w.proc(node) == healthy {
			return "up"
		}
		return ""
	})
	for _, u := range up {
		last := u.from
		for _, op := range h.Ops {
			if op.F != history.Observe || op.Type != history.OK || op.Node != node || op.Time < u.from || op.Time > u.to {
				continue
			}
			if op.Time-last > lull(h) {
				all = append(all, sure{node, last, op.Time})
			}
			last = op.Time
		}
		if u.to-last > lull(h) {
			all = append(all, sure{node, last, u.to})
		}
	}
	return all
}

func TestOraclesNoPingPong(t *testing.T) {
	draw := func(t *rapid.T) string { return lookAway(t, anyRun(t, true)) }
	compare(t, "no-ping-pong", draw, func(h *history.History) Verdict {
		all := undivided(h)
		if len(heard(h)) < 2 {
			return Unknown
		}
		type reign struct {
			said
			number          int // in the order in which the first claims came
			since, last, to time.Duration
		}
		var reigns []reign
		terms := map[uint64]bool{}
		for k, g := range tenures(all) {
			l := reign{said: g[0], number: k, last: g[0].asked, to: g[0].at}
			for _, c := range g {
				if c.asked >= l.last {
					l.last, l.to = c.asked, c.at
				}
			}
			for _, a := range all {
				if a.node == l.node && !a.announced && !a.ended && !a.vague() && a.place < l.place {
					if l.since = a.asked; a.view.Term > l.view.Term {
						l.since = 0
					}
				}
			}
			if terms[l.view.Term] || l.unnumbered {
				return undecided // which followed which is a matter of denials
			}
			terms[l.view.Term] = true
			if !everAnswered(h, l.node) {
				return Unknown
			}
			reigns = append(reigns, l)
		}
		slices.SortFunc(reigns, func(a, b reign) int { return cmp.Compare(a.view.Term, b.view.Term) })
		bounds := Thresholds(h.Setup().Bounds)
		long := time.Duration(bounds.Moves+1) * bounds.Silence
		bounced, perhaps, tested, faulty := false, false, false, false
		for _, p := range faultPhases(h) {
			tested = tested || p.to-p.from >= long
			faulty = faulty || p.node != "" && p.to-p.from >= long
			var moves, returns [2]int // surely, and perhaps, without need
			for i := range reigns {
				if i == 0 || reigns[i-1].node == reigns[i].node {
					continue
				}
				was, is := reigns[i-1], reigns[i]
				begin := max(p.from, was.asked)
				if min(was.last, is.since) < p.from || is.at > p.to || begin > is.at {
					continue
				}
				if is.number < was.number {
					return undecided // it may have led beside the other all the while
				}
				company := with(h, was.node, begin, is.at, false)
				linked := among(h, was.node, p.from, is.at, func(around, string) bool { return true })
				company = slices.DeleteFunc(company, func(n string) bool { return !slices.Contains(linked, n) })
				kept := alwaysEnough(h, company, p.from, is.at)
				seen := with(h, was.node, begin, is.at, true)
				seen = slices.DeleteFunc(seen, func(n string) bool {
					return !slices.Contains(company, n) || slices.ContainsFunc(mute(h, n), func(s sure) bool { return s.from <= is.at && begin <= s.to })
				})
				stalled := slices.ContainsFunc(h.Ops, func(op history.Op) bool {
					return op.F == history.Stall && op.Time-time.Duration(op.Access.Value) <= is.at && begin <= op.Time+bounds.Silence
				})
				back := slices.ContainsFunc(reigns, func(l reign) bool {
					return l.node == is.node && l.number < was.number && l.to >= p.from
				})
				for k, counts := range []bool{kept && !stalled && alwaysEnough(h, seen, p.from, is.at) && slices.Contains(seen, was.node), kept} {
					if counts {
						moves[k]++
						if back {
							returns[k]++
						}
					}
				}
			}
			bounced = bounced || moves[0] >= bounds.Moves && returns[0] >= bounds.Returns
			perhaps = perhaps || moves[1] >= bounds.Moves && returns[1] >= bounds.Returns
		}
		tried := slices.ContainsFunc(h.Ops, func(op history.Op) bool { return op.F == history.Inject })
		switch {
		case bounced:
			return Invalid
		case !whole(h) || len(reigns) == 0 || perhaps || inVain(h) || !tested || tried && !faulty, unheard(h):
			return Unknown
		}
		return Valid
	})
}
