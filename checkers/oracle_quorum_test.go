package checkers

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
)

// meets reports whether something held at some instant of a time, both ends included: also between two ops of one instant.
func meets(h *history.History, from, to time.Duration, holds func(around) bool) bool {
	since := time.Duration(0)
	for i, w := range stages(h) {
		until := forever
		if i < len(h.Ops) {
			until = h.Ops[i].Time
		}
		if since <= to && from <= until && holds(w) {
			return true
		}
		since = until
	}
	return false
}

// reaches returns whom a node can have asked for a vote, and have got it from, in a time; itself included.
func reaches(h *history.History, node string, from, to time.Duration) (nodes []string) {
	for _, n := range h.Setup().Nodes {
		open := func(from, to string) func(around) bool {
			return func(w around) bool { return w.is[history.Link{From: from, To: to}.Key()] != broken }
		}
		runs := func(w around) bool { return !w.down(n) }
		if n == node || meets(h, from, to, runs) && meets(h, from, to, open(node, n)) && meets(h, from, to, open(n, node)) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func TestOraclesQuorum(t *testing.T) {
	compare(t, "quorum", func(t *rapid.T) string { return anyRun(t, false) }, quorumSaid)
}

// TestOraclesKilledAndEnded has a node that was killed end once more, and answer: it may have run ever since.
func TestOraclesKilledAndEnded(t *testing.T) {
	require.Equal(t, Unknown, quorumSaid(given(t, "testdata/quorum/unknown-killed-ended-and-answers.txt")))
}

// TestOraclesForgetWhatStood has a log line stand that tells of a term, and its node end.
func TestOraclesForgetWhatStood(t *testing.T) {
	h := given(t, "testdata/monotonic-term/valid-standing-line-told-of-a-term-and-ended.txt")
	require.Equal(t, "not invalid", oracles["monotonic-term"](spoken(h)))
}

// quorumSaid is the verdict on quorum.
func quorumSaid(h *history.History) Verdict {
	if len(heard(h)) < 2 {
		return Unknown
	}
	all, elect := undivided(h), h.Setup().Bounds.Elect
	groups := tenures(all)
	broken, doubt := false, false
	for _, g := range groups {
		won := g[0]
		var since, last, before time.Duration // when it can have asked for votes; when its last answer before was asked for, and the last that came before it was asked
		var first *said                       // that told of its term, or a higher one
		for i, a := range all {
			if a.node != won.node || a.ended || a.place > won.place {
				continue
			}
			if !a.announced && a.place < won.place {
				if last = a.asked; !a.vague() && (won.announced || a.at <= won.asked) {
					before = a.asked
				}
			}
			switch {
			case first != nil || !a.tells():
			case a.view.Term >= won.view.Term:
				first = &all[i]
			case !a.announced && a.view.Term > 0:
				since = max(since, a.asked)
			}
		}
		switch {
		case won.unnumbered:
			since = before - elect
		case first.claims() || first.view.Term > won.view.Term:
			since -= elect
		}
		for _, e := range fates(h) {
			if e.node == won.node && e.again <= won.at {
				last = max(last, e.again) // who was started asks anew
			}
		}
		broken = broken || !everEnough(h, reaches(h, won.node, since, won.at), won.at)
		doubt = doubt || !everEnough(h, reaches(h, won.node, last, won.at), won.at)
	}
	tested := false
	for _, n := range franchise(h) {
		for _, s := range alone(h, n) {
			silent := slices.ContainsFunc(mute(h, n), func(m sure) bool { return m.from <= s.to && s.from <= m.to })
			tested = tested || s.to-s.from > h.Setup().Bounds.Silence && !silent
		}
	}
	switch {
	case broken:
		return Invalid
	case !whole(h) || doubt || len(groups) == 0 || inVain(h) || !tested:
		return Unknown
	}
	return Valid
}

// alone is when a node surely was up, and no majority was in reach.
func alone(h *history.History, node string) []sure {
	return stretches(h, func(w around) string {
		with := slices.DeleteFunc(slices.Clone(h.Setup().Nodes), func(n string) bool {
			return n != node && (w.deaf(node, n) || w.is[history.Link{From: node, To: n}.Key()] == broken)
		})
		if w.proc(node) != healthy || w.votes(node) != healthy || everEnough(h, with, *w.now) {
			return ""
		}
		return "alone"
	})
}
