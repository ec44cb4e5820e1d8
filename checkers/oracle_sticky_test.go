package checkers

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recount/history"
)

// keeps reports whether a leader surely had one majority throughout a time, all of it heard of.
func keeps(h *history.History, leader string, from, to time.Duration) bool {
	nodes := slices.DeleteFunc(with(h, leader, from, to, true), func(n string) bool {
		return slices.ContainsFunc(mute(h, n), func(s sure) bool { return s.from <= to && from <= s.to })
	})
	return slices.Contains(nodes, leader) && alwaysEnough(h, nodes, from, to)
}

// campaign returns since when a leader may have been challenged in a term, by whoever had not been connected with it all the time from a
// rest before its fall on, or who told that term first; and when somebody surely had taken that term.
func campaign(h *history.History, all []said, leader string, term uint64, from, to time.Duration) (may, surely time.Duration) {
	setup := h.Setup()
	surely = forever
	var first said
	for _, a := range all {
		if a.tells() && a.view.Term >= term && surely == forever {
			first, surely = a, a.at
		}
	}
	rest := max(from-2*setup.Bounds.Silence-2*time.Second, 0)
	beside := with(h, leader, rest, to, false)
	if !slices.Contains(beside, leader) {
		beside = nil
	}
	may = forever
	for _, n := range setup.Nodes {
		asleep := slices.ContainsFunc(stretches(h, func(w around) string {
			if w.down(n) {
				return "asleep"
			}
			return ""
		}), func(s sure) bool { return s.from <= rest && (to < s.to || s.to == h.Ops[len(h.Ops)-1].Time) })
		out := n != leader && everVotes(h, n) && !asleep && !slices.Contains(beside, n)
		if n != first.node && !out {
			continue
		}
		last := time.Duration(0)
		for _, a := range all {
			if a.node == n && a.tells() && a.view.Term >= term {
				last = min(last, a.asked) // an answer that takes long may be older than one that came before it
				break
			}
			if a.node == n && !a.ended && !a.announced {
				last = a.asked
			}
		}
		may = min(may, last)
	}
	return may, surely
}

// everVotes reports whether a node votes, or may, at some time.
func everVotes(h *history.History, node string) bool {
	for i, w := range stages(h)[1:] {
		if lasts := i == len(h.Ops)-1 || h.Ops[i].Time < h.Ops[i+1].Time; lasts && (w.votes(node) == healthy || w.votes(node) == doubtful) {
			return true
		}
	}
	return stages(h)[0].votes(node) == healthy
}

func TestOraclesStickyLeader(t *testing.T) {
	// What a leader must have been at rest for has two seconds in it, and is to be short beside the run.
	times := regexp.MustCompile(`\d+ms`)
	draw := func(t *rapid.T) string {
		return times.ReplaceAllStringFunc(anyRun(t, rapid.IntRange(0, 3).Draw(t, "duel") == 0), func(s string) string {
			n, err := strconv.Atoi(strings.TrimSuffix(s, "ms"))
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%dms", 300*n)
		})
	}
	compare(t, "sticky-leader", draw, func(h *history.History) Verdict {
		all := undivided(h)
		if len(heard(h)) < 2 {
			return Unknown
		}
		silence := h.Setup().Bounds.Silence
		rest := 2*silence + 2*time.Second
		type reign struct {
			said
			claims              []said
			begins, since, last time.Duration // its first claim was asked for or announced, and came; its last one was asked for
		}
		var reigns []reign
		terms := map[uint64]bool{}
		established, held, outlived := false, false, false
		for _, g := range tenures(all) {
			l := reign{said: g[0], claims: g, begins: g[0].asked, since: g[0].at}
			if g[0].announced {
				l.begins = g[0].at
			}
			for _, c := range g {
				l.last = max(l.last, c.asked)
			}
			if terms[l.view.Term] || l.unnumbered {
				return undecided // which followed which is a matter of denials
			}
			terms[l.view.Term] = true
			if !everAnswered(h, l.node) {
				return Unknown
			}
			reigns = append(reigns, l)
			if l.last-l.since < silence {
				continue
			}
			established = true
			for _, m := range moments(h) {
				held = held || m.from < m.to && m.in(l.since, l.last) && keeps(h, l.node, m.from+1, m.to-1)
			}
			for i, op := range h.Ops {
				if op.Process == history.Nemesis && op.Type == history.OK {
					from, to := h.Ops[h.Other(i)].Time-silence, op.Time+silence
					outlived = outlived || l.since <= from && to <= l.last && keeps(h, l.node, from, to)
				}
			}
		}
		slices.SortFunc(reigns, func(a, b reign) int { return cmp.Compare(a.view.Term, b.view.Term) })
		fell, perhaps := false, false
		for i := range reigns {
			if i == 0 {
				continue
			}
			was, is := reigns[i-1], reigns[i]
			earliest, latest := was.last, is.at
			since := time.Duration(0)
			for _, a := range all {
				if a.node == is.node && !a.announced && !a.ended && !a.vague() && a.place < is.place {
					if since = a.asked; a.view.Term > is.view.Term {
						since = 0
					}
				}
			}
			earliest = min(earliest, since)
			if was.node == is.node {
				denied := slices.ContainsFunc(all, func(d said) bool {
					return !d.vague() && !d.same(was.said) && !d.same(is.said) &&
						slices.ContainsFunc(is.claims, func(c said) bool { return later(d, c) }) &&
						slices.ContainsFunc(was.claims, func(c said) bool { return later(c, d) })
				})
				if !denied {
					continue
				}
			}
			term := is.view.Term
			for _, a := range all { // what it gave way to
				claimed := slices.ContainsFunc(was.claims, func(c said) bool { return c.place > a.place && c.asked >= a.asked })
				if a.node == was.node && a.place > was.place && !claimed && !a.same(was.said) {
					if a.view.Term > was.view.Term {
						term = min(term, a.view.Term)
					}
					if !a.vague() {
						break
					}
				}
			}
			may, surely := campaign(h, all, was.node, term, earliest, latest)
			challenged := min(earliest, may+silence)
			asked := func(until func(asking) time.Duration) bool {
				return slices.ContainsFunc(askings(h), func(r asking) bool {
					return r.node == was.node && r.from <= latest && was.asked <= until(r) && earliest <= late(h, until(r), rest)
				})
			}
			if asked(func(r asking) time.Duration { return min(r.to, r.over) }) {
				continue
			}
			unheard := asked(func(r asking) time.Duration { return r.to })
			// kept is with whom it had been since then, until a time.
			kept := func(since, until, seen time.Duration, heardOf bool) []string {
				nodes := with(h, was.node, max(since, 0), until, false)
				return slices.DeleteFunc(nodes, func(n string) bool {
					return heardOf && (!slices.Contains(with(h, was.node, seen, latest, true), n) ||
						slices.ContainsFunc(mute(h, n), func(s sure) bool { return s.from <= latest && seen <= s.to }))
				})
			}
			stalled := slices.ContainsFunc(h.Ops, func(op history.Op) bool {
				return op.F == history.Stall && op.Time-time.Duration(op.Access.Value) <= latest &&
					min(earliest, may)-2*silence <= op.Time
			})
			seen := slices.DeleteFunc(kept(challenged-rest, latest, max(challenged-rest, was.asked), true), func(n string) bool {
				apart := stretches(h, func(w around) string {
					if n == was.node || w.connected(n, was.node) {
						return ""
					}
					return "apart"
				})
				return slices.ContainsFunc(apart, func(s sure) bool { return s.to <= challenged-rest && s.to+(s.to-s.from) > challenged-2*silence })
			})
			if was.since+silence <= challenged && challenged >= rest && !stalled && slices.Contains(seen, was.node) && alwaysEnough(h, seen, max(challenged-rest, 0), latest) {
				gave := slices.ContainsFunc(all, func(d said) bool {
					return !d.vague() && !d.ended && !d.same(was.said) && slices.ContainsFunc(was.claims, func(c said) bool { return later(c, d) })
				})
				beside := was.node != is.node && slices.ContainsFunc(was.claims, func(c said) bool {
					asked := c.asked
					if c.announced {
						asked = c.at
					}
					return asked > is.at+rest || asked > is.at && !gave
				})
				fell, perhaps = fell || !unheard && !beside, perhaps || unheard || beside
				continue
			}
			challenged = min(latest, surely+silence)
			before := latest - 1 // what begins at that instant may have come after
			company := kept(challenged-rest, before, 0, false)
			perhaps = perhaps || was.begins+silence <= challenged && slices.Contains(company, was.node) && alwaysEnough(h, company, max(challenged-rest, 0), before)
		}
		tried := slices.ContainsFunc(h.Ops, func(op history.Op) bool { return op.F == history.Inject })
		switch {
		case fell:
			return Invalid
		case !whole(h) || !established || perhaps || inVain(h) || tried && !outlived || !held:
			return Unknown
		}
		return Valid
	})
}

// late is until when what was told at a time may show: a rest later, or a rest after a phase with a fault that holds it back.
func late(h *history.History, told, rest time.Duration) time.Duration {
	if told == forever {
		return forever
	}
	until := told + rest
	for _, p := range faultPhases(h) {
		if p.node != "" && told <= p.to && p.from <= until {
			until = max(until, p.to+rest)
		}
	}
	return until
}
