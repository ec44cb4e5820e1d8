package checkers

import (
	"slices"
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

func TestOraclesAgreement(t *testing.T) {
	draw := func(t *rapid.T) string { return lookAway(t, anyRun(t, false)) }
	compare(t, "agreement", draw, func(h *history.History) Verdict {
		all := undivided(h)
		agreed := false
		if len(heard(h)) < 2 {
			return Unknown
		}
		for _, a := range all {
			for _, b := range all {
				if a.unnumbered || a.view.Term == 0 || a.view.Term != b.view.Term || a.names() == "" || b.names() == "" {
					continue
				}
				if a.names() != b.names() {
					return Invalid
				}
				agreed = agreed || a.node != b.node
			}
		}
		calm := stretches(h, func(w around) string {
			if w.whole() {
				return "whole"
			}
			return ""
		})
		for _, s := range calm {
			for _, s := range awake(h, s) {
				if s.to-s.from < lull(h) {
					continue
				}
				if one, _ := whom(all, s.to-lull(h), s.to); one {
					agreed = true
				}
				if elected := s.from + h.Setup().Bounds.Elect; s.to-elected >= lull(h) {
					if _, several := whom(slices.DeleteFunc(slices.Clone(all), func(a said) bool { return quiet(h, all, a.node, elected, s.to) }), elected, s.to); several {
						return Invalid
					}
				}
			}
		}
		if !whole(h) || !agreed || unannounced(h) {
			return Unknown
		}
		return Valid
	})
}

// quiet reports whether a node was not heard for longer than a lull within a time.
func quiet(h *history.History, all []said, node string, from, to time.Duration) bool {
	last := from
	for _, a := range all {
		if a.node == node && !a.ended && a.asked >= from && a.at < to {
			if a.asked-last > lull(h) {
				return true
			}
			last = max(last, a.at)
		}
	}
	return to-last > lull(h)
}

// whom reports whether two nodes or more named one leader throughout a time, or several.
func whom(all []said, from, to time.Duration) (one, several bool) {
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
	distinct := len(slices.Compact(slices.Sorted(slices.Values(named))))
	return distinct == 1 && len(named) > 1, distinct > 1
}
