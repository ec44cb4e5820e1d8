package checkers

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recount/history"
)

// names is the node that an answer names as the leader; "" is none.
func (a said) names() string {
	switch {
	case a.ended:
		return ""
	case a.view.Role == history.Leader:
		return a.node
	}
	return a.view.Leader
}

// strange reports whether a name may be another one of a node, since no node has it.
func strange(h *history.History, name string) bool {
	return len(h.Setup().Nodes) > 0 && !slices.Contains(h.Setup().Nodes, name)
}

// apart reports whether two names surely are of two nodes: both are nodes' names, or neither is and they are made alike.
func apart(h *history.History, a, b string) bool {
	return strange(h, a) == strange(h, b) && (!strange(h, a) || madeOf(a) == madeOf(b))
}

// madeOf is a name with a letter for each row of letters and a digit for each row of digits.
func madeOf(name string) string {
	letters := regexp.MustCompile(`\pL+`).ReplaceAllString(name, "a")
	return regexp.MustCompile(`\pN+`).ReplaceAllString(letters, "0")
}

// misname has some hearsay of a node tell of leaders by names that no node has.
func misname(t *rapid.T, text string) string {
	if rapid.IntRange(0, 3).Draw(t, "all call nodes by their names") > 0 {
		return text
	}
	who := rapid.SampledFrom([]string{"n1", "n2", "n3"}).Draw(t, "who calls others otherwise")
	from := rapid.IntRange(0, 40).Draw(t, "since line")
	lines := strings.SplitAfter(text, "\n")
	other := rapid.SampledFrom([]string{" of m", " of m-"}).Draw(t, "how")
	for i, line := range lines {
		if i >= from && strings.Contains(line, " "+who+" ") {
			lines[i] = strings.Replace(line, " of n", other, 1)
		}
	}
	return strings.Join(lines, "")
}

func TestOraclesAgreement(t *testing.T) {
	draw := func(t *rapid.T) string { return misname(t, lookAway(t, anyRun(t, false))) }
	compare(t, "agreement", draw, func(h *history.History) Verdict {
		all := undivided(h)
		agreed, alias := false, false
		if len(heard(h)) < 2 {
			return Unknown
		}
		for _, a := range all {
			for _, b := range all {
				if a.unnumbered || a.view.Term == 0 || a.view.Term != b.view.Term || a.names() == "" || b.names() == "" {
					continue
				}
				if a.names() != b.names() {
					if apart(h, a.names(), b.names()) {
						return Invalid
					}
					alias = true
					continue
				}
				agreed = agreed || a.node != b.node
			}
		}
		for _, calm := range stretches(h, around.calm) {
			members := strings.Fields(calm.node)
			for _, s := range awake(h, calm) {
				if s.to-s.from < lull(h) {
					continue
				}
				theirs := slices.DeleteFunc(slices.Clone(all), func(a said) bool { return !slices.Contains(members, a.node) })
				if one, _ := whom(theirs, s.to-lull(h), s.to); one {
					agreed = true
				}
				for _, one := range members {
					for _, other := range members {
						for _, part := range apiece(h, all, []string{one, other}, s) {
							both := slices.DeleteFunc(slices.Clone(all), func(a said) bool { return a.node != one && a.node != other })
							elected := part.from + h.Setup().Bounds.Elect
							if _, several := whom(both, elected, part.to); several != nil && part.to-elected >= lull(h) {
								if apart(h, several[0], several[1]) {
									return Invalid
								}
								alias = true
							}
						}
					}
				}
			}
		}
		if !whole(h) || !agreed || alias || unheard(h) {
			return Unknown
		}
		return Valid
	})
}

// apiece returns the parts of a time in which none of some nodes was left without an answer for longer than a lull.
func apiece(h *history.History, all []said, nodes []string, s sure) []sure {
	parts := []sure{s}
	for _, n := range nodes {
		var left []sure
		last := s.from
		since := s.from
		for _, a := range all {
			if a.node != n || a.ended || a.asked < s.from || a.at >= s.to {
				continue
			}
			if a.asked-last > lull(h) {
				left = append(left, sure{"", since, last})
				since = a.asked
			}
			last = max(last, a.at)
		}
		if s.to-last > lull(h) {
			left = append(left, sure{"", since, last})
		} else {
			left = append(left, sure{"", since, s.to})
		}
		var both []sure
		for _, p := range parts {
			for _, q := range left {
				if from, to := max(p.from, q.from), min(p.to, q.to); from < to {
					both = append(both, sure{"", from, to})
				}
			}
		}
		parts = both
	}
	return parts
}

// whom reports whether two nodes or more named one leader throughout a time, or returns those that they named if there were several.
func whom(all []said, from, to time.Duration) (one bool, several []string) {
	voices := map[string][]string{}
	for _, a := range all {
		if a.asked >= from && a.at < to {
			voices[a.node] = append(voices[a.node], a.names())
		}
	}
	var named []string
	for _, v := range voices {
		if len(v) > 1 && v[0] != "" && len(slices.Compact(slices.Clone(v))) == 1 {
			named = append(named, v[0])
		}
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(named)))
	if len(distinct) > 1 {
		return false, distinct
	}
	return len(distinct) == 1 && len(named) > 1, nil
}
