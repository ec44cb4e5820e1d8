package checkers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recount/history"
)

// tells reports whether an answer says anything about a node's term.
func (a said) tells() bool {
	return !a.ended && (a.view.Term != 0 || a.view.Role != history.UnknownRole && (a.tokens || a.view.Role != history.Leader))
}

// heardOf is whom a node may hear, at first or at second hand, itself included.
func (w around) heardOf(node string) []string {
	all := []string{node}
	for i := 0; i < len(all); i++ {
		for _, n := range w.h.Setup().Nodes {
			if !w.down(n) && !w.deaf(all[i], n) && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// dwindling puts stretches of company together in which it grows ever smaller, each by what it was at first.
func dwindling(all []sure) (joined []sure) {
	for i, x := range all {
		if i > 0 && all[i-1].to == x.from && !slices.ContainsFunc(strings.Fields(x.node), func(n string) bool {
			return !slices.Contains(strings.Fields(all[i-1].node), n)
		}) {
			joined[len(joined)-1].to = x.to
			continue
		}
		joined = append(joined, x)
	}
	return joined
}

// inVain reports whether faults were to be injected, and none was seen to take effect, and not to have waited for what never came.
func inVain(h *history.History) bool {
	tried, took := false, false
	for i, op := range h.Ops {
		tried = tried || op.F == history.Inject
		took = took || op.F == history.Inject && op.Type == history.OK && !slices.ContainsFunc(h.Ops[i:], func(o history.Op) bool {
			return o.F == history.Heal && o.Type != history.Invoke && o.Fault != nil && op.Fault != nil && o.Fault.ID == op.Fault.ID && o.Fault.Idle != ""
		})
	}
	return tried && !took
}

func TestOraclesBoundedTerms(t *testing.T) {
	draw := func(t *rapid.T) string { return anyRun(t, false) }
	compare(t, "bounded-terms", draw, func(h *history.History) Verdict {
		all := undivided(h)
		if h.Setup().NoTerms || len(heard(h)) < 2 {
			return Unknown
		}
		bounds := Thresholds(h.Setup().Bounds)
		tested, stepped := false, false
		for _, node := range h.Setup().Nodes {
			exiles := stretches(h, func(w around) string {
				with := slices.Sorted(slices.Values(w.heardOf(node)))
				if w.proc(node) != healthy || !w.belongs(node) || everEnough(h, with, *w.now) {
					return ""
				}
				return strings.Join(with, " ")
			})
			for _, x := range dwindling(exiles) {
				for _, x := range awake(h, x) {
					with := strings.Fields(x.node)
					base := uint64(0)
					told := map[string]bool{}
					var later []said
					for _, a := range all {
						if !a.tells() || a.at >= x.to && a.at > x.from {
							continue
						}
						opens := !a.announced && a.asked >= x.from && slices.Contains(with, a.node) && !told[a.node]
						if opens {
							told[a.node] = true
						}
						if opens || a.asked < x.from || a.at <= x.from {
							base = max(base, a.view.Term)
						}
						if a.node == node && told[node] {
							later = append(later, a)
						}
					}
					above := map[uint64]time.Duration{} // when the first answer of each came
					excess, long := false, time.Duration(bounds.Terms+1)*bounds.Silence
					for _, a := range later {
						if _, told := above[a.view.Term]; !told && a.view.Term > base {
							above[a.view.Term] = a.at
						}
						excess = excess || a.view.Term > base && a.view.Term-base > bounds.Terms
					}
					if len(later) == 0 {
						continue
					}
					last := later[len(later)-1]
					switch {
					case excess && len(above) > 1:
						return Invalid
					case excess:
						for _, first := range above {
							stepped = stepped || last.asked-first < long
						}
					}
					tested = tested || last.asked-later[0].at >= long
				}
			}
		}
		if !whole(h) || stepped || inVain(h) || !tested {
			return Unknown
		}
		return Valid
	})
}
