package checkers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recount/history"
)

// overlooked reports whether a voter was not seen for more than a quarter of the time in which it should have been.
func overlooked(h *history.History) bool {
	return overlookedAmong(h, func(string) bool { return true })
}

// overlookedAmong is that of some of them.
func overlookedAmong(h *history.History, of func(node string) bool) bool {
	setup := h.Setup()
	if b := setup.Bounds; setup.Standing || b.Silence == 0 || b.Elect == 0 {
		return false
	}
	if h.Ops[len(h.Ops)-1].Time == 0 {
		return true
	}
	counts := min(lull(h), setup.Bounds.Elect)
	return slices.ContainsFunc(franchise(h), func(n string) bool {
		if !of(n) {
			return false
		}
		runs := func(w around, n string) bool {
			return (w.proc(n) == healthy || w.proc(n) == started) && w.right(n) && w.belongs(n)
		}
		should := stretches(h, func(w around) string {
			var with []string
			for _, o := range setup.Nodes {
				if runs(w, o) && (o == n || w.connected(o, n)) {
					with = append(with, o)
				}
			}
			if w.votes(n) == healthy && slices.Contains(with, n) && w.enough(with, false) && w.is[history.Client{Node: n}.Key()] == healthy {
				return "should"
			}
			return ""
		})
		seen := []sure{{n, 0, setup.Bounds.Elect}}
		for i, op := range h.Ops {
			if w := stages(h)[i+1]; op.Process == history.Nemesis && op.Type == history.OK && w.last[n] == op.Time && op.Time > 0 {
				seen = append(seen, sure{n, op.Time, op.Time + setup.Bounds.Elect})
			}
			if op.F == history.Observe && op.Type == history.OK && op.Node == n && !op.View.Torn {
				seen = append(seen, sure{n, h.Ops[h.Other(i)].Time, op.Time + counts})
			}
		}
		var all, missed time.Duration
		for _, s := range should {
			for _, s := range awake(h, s) {
				all += s.to - s.from
				for _, m := range without(s, seen) {
					missed += m.to - m.from
				}
			}
		}
		return 4*missed > all
	})
}

// unheard reports whether a node was overlooked, and none announced anything that would have told of what was missed, or nothing undivided
// came of it.
func unheard(h *history.History) bool {
	if h.Ops[len(h.Ops)-1].Time == 0 || !slices.ContainsFunc(undivided(h), func(a said) bool { return a.announced }) {
		return overlooked(h)
	}
	return overlookedAmong(h, func(n string) bool {
		return !slices.ContainsFunc(undivided(h), func(a said) bool { return a.node == n && !a.ended })
	})
}

// unranked reports whether several nodes said that they led, and one of them all along without a term though there are terms.
func unranked(h *history.History, all []said) bool {
	rows := map[string][]said{}
	leaders, without := map[string]bool{}, false
	over := func(node string) {
		row := rows[node]
		without = without || len(row) > 0 && !slices.ContainsFunc(row, func(a said) bool { return a.view.Term > 0 })
		delete(rows, node)
	}
	for _, a := range all {
		switch {
		case !a.ended && a.view.Role == history.Leader:
			leaders[a.node] = true
			rows[a.node] = append(rows[a.node], a)
		case a.ended || a.view.Role != history.UnknownRole:
			over(a.node)
		}
	}
	for node := range leaders {
		over(node)
	}
	return !h.Setup().NoTerms && len(leaders) > 1 && without
}

// halfCounted reports whether several nodes claimed to lead, and one of them the same lead with a tenure and without one.
func halfCounted(all []said) bool {
	several, half := false, false
	for _, a := range all {
		for _, b := range all {
			both := a.claims() && b.claims()
			several = several || both && a.node != b.node
			half = half || both && a.node == b.node && (a.unnumbered || a.view.Term == b.view.Term) && a.view.Tenure > 0 && b.view.Tenure == 0
		}
	}
	return several && half
}

// anyLooks draws a run that is not looked at all the time, of peers.
func anyLooks(t *rapid.T) string {
	if rapid.IntRange(0, 2).Draw(t, "reign") == 0 {
		if text := anyReign(t); !strings.Contains(text, "servers ") && !strings.Contains(text, "store ") {
			return lookAway(t, text)
		}
	}
	return lookAway(t, anyRun(t, false))
}

// lookAway draws what is left of a run if now and then nobody looks at a node for a while, or at all, and perhaps nobody announces.
func lookAway(t *rapid.T, text string) string {
	quiet := rapid.Bool().Draw(t, "nobody announces")
	away := map[string][2]int{}
	for _, n := range []string{"n1", "n2", "n3", "n4"} {
		if rapid.IntRange(0, 2).Draw(t, "looked at") == 0 {
			from := rapid.IntRange(0, 40).Draw(t, "looked away")
			away[n] = [2]int{from, from + rapid.IntRange(1, 60).Draw(t, "for")}
		}
	}
	var lines []string
	for line := range strings.Lines(text) {
		var asked, came int
		var node string
		if k, _ := fmt.Sscanf(line, "%dms-%dms %s", &asked, &came, &node); k == 3 {
			if a, ok := away[node]; ok && a[0] <= asked && asked < a[1] {
				continue
			}
		}
		if quiet && strings.Contains(line, " announces ") {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

func TestOraclesOverlooked(t *testing.T) {
	t.Parallel()
	for property, missing := range map[string]func(h *history.History, all []said) bool{
		"exclusive-leadership": func(h *history.History, all []said) bool {
			return !slices.ContainsFunc(all, said.claims) || unranked(h, all) || halfCounted(all) || unasked(spoken(h)) || overlooked(h)
		},
		"single-leader-per-term": func(h *history.History, all []said) bool {
			return h.Setup().NoTerms || !slices.ContainsFunc(all, said.claims) || unranked(h, all) || unheard(h)
		},
		"monotonic-term": func(h *history.History, all []said) bool {
			s := spoken(h)
			compared := slices.ContainsFunc(all, func(a said) bool {
				return slices.ContainsFunc(all, func(b said) bool {
					before := a.at < b.asked && !b.announced || a.announced && b.announced && a.place < b.place
					return a.node == b.node && a.tells() && b.tells() && before && !another(h, a, b, false) && !forgot(s, a, b)
				})
			})
			return h.Setup().NoTerms || !compared || unheard(h)
		},
	} {
		t.Run(property, func(t *testing.T) {
			compare(t, property, anyLooks, func(h *history.History) Verdict {
				s := spoken(h)
				switch {
				case len(heard(s)) < 2:
					return Unknown
				case oracles[property](s) == "invalid":
					return Invalid
				case !whole(h) || missing(h, undivided(s)) || oracles[property](s) == "unknown":
					return Unknown
				case property == "exclusive-leadership" && h.Setup().Standing:
					return undecided // lines that are read late may hide that two led: goldens say when
				}
				return Valid
			})
		})
	}
}
