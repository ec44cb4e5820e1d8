package checkers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestLateLinesAccuseNobody has nodes lead one after the other, each in a term of its own, and tell so in log lines that stand, which are read
// up to a lull late, and some of them in answers, too, each of which is true at some instant from its question on. Nobody broke anything that
// does not allow for leaders to come and go.
func TestLateLinesAccuseNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := lateLines(t)
		h, err := parseHistory(text)
		require.NoError(t, err)
		for _, r := range CheckSome(t.Context(), h, []string{"exclusive-leadership", "single-leader-per-term", "monotonic-term", "vote-once"}) {
			require.NotEqual(t, Invalid, r.Verdict, "%s: %s\n%s", r.Property, r.Why, text)
		}
	})
}

// lateLines draws such a history.
func lateLines(t *rapid.T) string {
	const step = 50 * time.Millisecond
	steps := func(from, to int, what string) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, what)) * step
	}
	type told struct {
		at   time.Duration // to be sorted by
		line string
	}
	type state struct {
		since time.Duration
		view  string
	}
	var all []told
	states := map[string][]state{}
	nodes := []string{"n1", "n2", "n3"}
	for _, n := range nodes {
		states[n] = []state{{0, "follower"}}
	}
	terms := rapid.Bool().Draw(t, "terms")
	in := func(term int) string {
		if terms {
			return fmt.Sprintf(" %d", term+1)
		}
		return ""
	}
	now := time.Duration(0)
	for term := range rapid.IntRange(1, 4).Draw(t, "leaders") {
		n := rapid.SampledFrom(nodes).Draw(t, "leader")
		now += steps(1, 30, "nobody leads")
		states[n] = append(states[n], state{now, "leader" + in(term)})
		now += steps(1, 60, "leads")
		states[n] = append(states[n], state{now, "follower" + in(term)})
	}
	end := now + steps(0, 40, "rest")
	for _, n := range nodes {
		read, own := time.Duration(0), states[n]
		for _, s := range own[1:] {
			read = max(read, s.since+steps(0, 19, "late"))
			all = append(all, told{read, fmt.Sprintf("%v %s announces %s", read, n, s.view)})
		}
		if rapid.Bool().Draw(t, "asked") {
			for at := time.Duration(0); at < end; {
				truth := at + steps(0, 3, "until it is true")
				back := truth + steps(0, 3, "until it is told")
				k := 0
				for k+1 < len(own) && own[k+1].since <= truth {
					k++
				}
				all = append(all, told{at, fmt.Sprintf("%v-%v %s %s", at, back, n, own[k].view)})
				at = back + steps(1, 20, "until it is asked again")
			}
		}
	}
	slices.SortStableFunc(all, func(a, b told) int { return cmp.Compare(a.at, b.at) })
	text := "nodes n1 n2 n3\nbounds silence=1s elect=4s poll=100ms\nflags standing"
	if !terms {
		text += " no-terms"
	}
	lines := []string{text}
	for _, a := range all {
		lines = append(lines, a.line)
		end = max(end, a.at)
	}
	return strings.Join(append(lines, fmt.Sprintf("%v end", end+time.Second)), "\n")
}
