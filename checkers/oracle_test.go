package checkers

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
)

// Oracles judge small histories as docs/rules.md says, sentence by sentence, by looking at all ways in which two or three
// answers can lie: they know nothing of how the checkers decide. make prove compares them on 100,000 histories a property.

// said is an answer as the docs see one.
type said struct {
	node       string
	asked, at  time.Duration // true at some instant between
	early      time.Duration // for what is surely later than another: when it counts as asked for
	announced  bool
	stood      bool // by a log line that stands
	view       history.View
	place      int // in the history
	ended      bool
	again      time.Duration // of an end: when the next process may have been started
	unnumbered bool
	tokens     bool // who leads tells a term
}

// claims reports whether an answer claims a leadership.
func (a said) claims() bool {
	return !a.ended && a.view.Role == history.Leader && (a.unnumbered || a.view.Term != 0)
}

// vague reports whether an answer says nothing of whether its node leads, or not in which leadership.
func (a said) vague() bool {
	return !a.ended && (a.view.Role == history.UnknownRole || a.leads() && !a.claims())
}

// same reports whether two claims are of one node under one term and tenure.
func (a said) same(b said) bool {
	return a.node == b.node && a.claims() && b.claims() && a.view.Tenure == b.view.Tenure &&
		(a.unnumbered || a.view.Term == b.view.Term)
}

// later reports whether b is surely later than a.
func later(a, b said) bool {
	return a.node == b.node && (b.early > a.at || a.announced && b.announced && b.place > a.place || b.ended && b.again > a.at)
}

// answers returns all answers of a history, in the order in which they came, and the ends of processes.
func answers(h *history.History) []said {
	return noted(h, "answers", func() []said { return workOutAnswers(h) })
}

func workOutAnswers(h *history.History) (all []said) {
	setup := h.Setup()
	late := max(setup.Bounds.Silence, 3*setup.Bounds.Poll)
	last := map[string]time.Duration{} // when the last undivided answer of each node was asked for
	standing := slices.ContainsFunc(h.Ops, func(op history.Op) bool { return op.Process >= spokenBy })
	for i, op := range h.Ops {
		for _, m := range comesBack(stages(h)[i], i, history.OK) {
			asked := h.Ops[h.Other(i)].Time
			all = append(all, said{node: m, asked: asked, early: asked, at: op.Time, place: i, ended: true, again: asked, unnumbered: setup.NoTerms})
		}
		a := said{node: op.Node, at: op.Time, view: op.View, place: i, unnumbered: setup.NoTerms, stood: op.Process >= spokenBy, tokens: setup.Tokens}
		if k := h.Other(i); op.Process == history.Nemesis && op.Type == history.OK && op.Fault == nil {
			op.Fault = h.Ops[k].Fault // its end need not repeat it
		}
		switch {
		case op.F == history.Observe && op.Type == history.OK:
			a.asked = h.Ops[h.Other(i)].Time
			if a.early = a.asked; !op.View.Torn {
				last[op.Node] = a.asked
			}
		case op.F == history.Announce:
			a.asked, a.announced = last[op.Node], true
			if standing {
				late = lag(h)
			}
			for _, e := range all { // what is read so long after an end is of a process that came after it
				if e.ended && e.node == op.Node && e.at < op.Time-late && !standing {
					a.asked = max(a.asked, min(e.again, op.Time))
				}
			}
			if a.early = min(a.asked, op.Time-late); standing {
				a.asked = max(0, a.early)
			}
		case op.F == history.Exit:
			a.asked, a.early, a.ended = op.Time, op.Time, true
		case op.Fault != nil && op.Type == history.OK && len(op.Fault.Procs) == 1 && isEnd(op.Fault.Procs[0]):
			a.node, a.ended = op.Fault.Procs[0].Node, true
			a.asked = h.Ops[h.Other(i)].Time
			a.early = a.asked
		default:
			continue
		}
		if a.ended {
			a.again = again(h, a.node, i)
		}
		all = append(all, a)
	}
	return all
}

// comesBack are the nodes that the next op says were started anew, as other members than they were, if it is of such a type.
func comesBack(w around, i int, types ...history.Type) (nodes []string) {
	op := w.h.Ops[i]
	if op.Process != history.Nemesis || !slices.Contains(types, op.Type) {
		return nil
	}
	if op.Fault == nil {
		op.Fault = w.h.Ops[w.h.Other(i)].Fault
	}
	if op.Fault == nil {
		return nil
	}
	for _, m := range op.Fault.Members() {
		if m.As != history.Removed && w.votes(m.Node) == doubtful && stages(w.h)[w.h.Other(i)].votes(m.Node) != doubtful {
			nodes = append(nodes, m.Node)
		}
	}
	return nodes
}

// reseats returns when the nemesis was at a node's membership, and may have changed it, by the places of its ops; which of that failed, and
// of which its own end told nothing, though the node was not surely out when it began.
func reseats(h *history.History, node string) (all [][2]int, failed, untold []bool) {
	of := func(op history.Op) bool {
		return op.Fault != nil && slices.ContainsFunc(op.Fault.Members(), func(m history.Member) bool { return m.Node == node })
	}
	for i, op := range h.Ops {
		if op.Process != history.Nemesis || op.Type != history.Invoke {
			continue
		}
		k := h.Other(i)
		switch {
		case k < 0 && of(op):
			all, failed, untold = append(all, [2]int{i, len(h.Ops)}), append(failed, false), append(untold, !stages(h)[i].out(node))
		case of(op) || k >= 0 && of(h.Ops[k]):
			if h.Ops[k].Type == history.Info { // it may come true until it is known
				k = slices.IndexFunc(h.Ops, func(o history.Op) bool {
					j := slices.IndexFunc(h.Ops, func(p history.Op) bool { return p.Index == o.Index })
					return j > k && o.Process == history.Nemesis && o.Type == history.OK && (of(o) || o.Fault == nil && of(h.Ops[h.Other(j)]))
				})
				if k < 0 {
					k = len(h.Ops)
				}
				all, failed, untold = append(all, [2]int{i, k}), append(failed, false), append(untold, !stages(h)[i].out(node))
				break
			}
			all, failed, untold = append(all, [2]int{i, k}), append(failed, h.Ops[k].Type == history.Fail), append(untold, false)
		}
	}
	return all, failed, untold
}

// another reports whether a node may have become another member between two answers; if told to, by ops that told of it themselves.
func another(h *history.History, a, b said, told bool) bool {
	all, failed, untold := reseats(h, a.node)
	for i, r := range all {
		to := forever
		if r[1] < len(h.Ops) {
			to = h.Ops[r[1]].Time
		}
		if !failed[i] && (!told || !untold[i]) && h.Ops[r[0]].Time <= b.at && a.asked <= to {
			return true
		}
	}
	return false
}

// forgot reports whether a node announced something that is no claim, or a log line of its stood that is none, and its process may have ended before it said something else.
func forgot(h *history.History, a, b said) bool {
	return (a.announced || a.stood) && !a.claims() && slices.ContainsFunc(fates(h), func(e fate) bool {
		since := e.again
		if e.perhaps {
			since = e.from
		}
		return e.node == a.node && e.to >= a.early && b.at >= since
	})
}

// isEnd reports whether a process does not go on after that.
func isEnd(p history.Proc) bool {
	return slices.Contains([]history.ProcState{history.Down, history.Stopped, history.Crashed}, p.State)
}

// undivided returns those that are not torn.
func undivided(h *history.History) []said {
	return noted(h, "undivided", func() []said {
		return slices.DeleteFunc(slices.Clone(answers(h)), func(a said) bool { return a.view.Torn })
	})
}

// heard returns the nodes that gave undivided answers, but for those that the others elect through.
func heard(h *history.History) (nodes []string) {
	for _, a := range undivided(h) {
		if !a.ended && !slices.Contains(nodes, a.node) && !slices.Contains(h.Setup().Servers, a.node) {
			nodes = append(nodes, a.node)
		}
	}
	return nodes
}

// tenures groups claims into leaderships: each claim, in the order in which they came, belongs to the latest leadership of its
// number, unless that was surely denied between one of its claims and this one.
func tenures(all []said) (groups [][]said) {
	for _, c := range all {
		if !c.claims() {
			continue
		}
		k := -1
		for i := range groups {
			if groups[i][0].same(c) {
				k = i
			}
		}
		denied := k >= 0 && slices.ContainsFunc(groups[k], func(before said) bool {
			return slices.ContainsFunc(all, func(d said) bool {
				return d.place < c.place && !d.vague() && !d.same(c) && later(before, d) && later(d, c)
			})
		})
		if k < 0 || denied {
			groups = append(groups, []said{c})
		} else {
			groups[k] = append(groups[k], c)
		}
	}
	return groups
}

// sure is a time in which a node surely led; with to <= from it claimed to at some instant between.
type sure struct {
	node     string
	from, to time.Duration
}

// surely returns all times in which nodes surely led, from the end of one claim to the beginning of another, and the instants of
// all claims, given some answers and ends of processes.
func surely(h *history.History, all []said, ends []fate) (led, claimed []sure) {
	return surelyBy(h, all, ends, true)
}

// surelyBy is that, or if it is not asked whether a node may have led anew where nothing tells that.
func surelyBy(h *history.History, all []said, ends []fate, surest bool) (led, claimed []sure) {
	dies := func(a, b said) bool {
		return slices.ContainsFunc(ends, func(e fate) bool { return e.node == a.node && e.to >= a.asked && e.again <= b.at })
	}
	for _, g := range tenures(all) {
		for _, a := range g {
			claimed = append(claimed, sure{a.node, a.asked, a.at})
			for _, b := range g {
				if a.view.Tenure > 0 && a.at <= b.asked && !dies(a, b) {
					led = append(led, sure{a.node, a.at, b.asked})
				}
			}
		}
	}
	for _, a := range all {
		for _, b := range all {
			if !a.same(b) || a.view.Tenure > 0 || a.at > b.asked || dies(a, b) {
				continue
			}
			between := slices.ContainsFunc(all, func(d said) bool {
				return d.node == a.node && !d.ended && !d.same(a) && d.at >= a.asked && asAsked(all, d) <= b.at
			})
			if !between && (!a.unnumbered || !outOfSight(h, a, b, surest)) {
				led = append(led, sure{a.node, a.at, b.asked})
			}
		}
	}
	return led, append(claimed, led...) // at an instant of it, too
}

// asking is a time in which a node was being asked to hand over.
type asking struct {
	node     string
	from, to time.Duration
	over     time.Duration // when that ended, whatever came of it
}

// askings are all of them, by clients and by the nemesis, but for those that were certainly refused.
func askings(h *history.History) (all []asking) {
	for i, op := range h.Ops {
		var nodes []string
		switch {
		case op.Type != history.Invoke:
			continue
		case op.F == history.Resign:
			nodes = []string{op.Node}
		case op.Process == history.Nemesis && op.Fault != nil:
			told := op.Fault.HandOvers()
			if k := h.Other(i); k >= 0 && h.Ops[k].Fault != nil {
				told = append(told, h.Ops[k].Fault.HandOvers()...)
			}
			end := h.Other(i)
			if end < 0 {
				end = len(h.Ops)
			}
			for _, o := range told {
				byClient := slices.ContainsFunc(h.Ops[i:end], func(r history.Op) bool { return r.F == history.Resign && r.Node == o.Node && r.Type == history.Invoke })
				if o.Asked && slices.Contains(h.Setup().Nodes, o.Node) && !byClient {
					nodes = append(nodes, o.Node)
				}
			}
		}
		to, over := forever, forever
		if k := h.Other(i); k >= 0 {
			over = h.Ops[k].Time
			switch h.Ops[k].Type {
			case history.Fail:
				continue
			case history.OK: // else it may be asked yet
				to = h.Ops[k].Time
			}
		}
		for _, n := range nodes {
			all = append(all, asking{n, op.Time, to, over})
		}
	}
	return all
}

// asAsked is when an answer counts as asked for beside claims. An announcement of a higher term is later than those that came before it.
func asAsked(all []said, d said) time.Duration {
	asked := d.asked
	if !d.announced || d.unnumbered {
		return asked
	}
	for _, c := range all {
		if c.node != d.node || !c.claims() || c.place >= d.place || c.at < d.asked {
			continue
		}
		if c.view.Term >= d.view.Term || c.at >= d.at {
			return d.asked
		}
		asked = max(asked, c.at+1)
	}
	return asked
}

// outOfSight reports whether a node told nothing for longer than a lull, or told something in pieces, between two of its claims; or, to be
// surest, nothing for longer than a silence, or was asked to hand over.
func outOfSight(h *history.History, a, b said, surest bool) bool {
	sight := lull(h)
	if surest {
		sight = cmp.Or(h.Setup().Bounds.Silence, sight)
	}
	if surest && slices.ContainsFunc(askings(h), func(r asking) bool { return r.node == a.node && r.to >= a.asked && r.from <= b.at }) {
		return true
	}
	var last *said
	for _, c := range answers(h) {
		switch {
		case c.node != a.node || c.ended || c.view.Torn && c.stood:
		case c.view.Torn:
			if c.at >= a.asked && c.asked <= b.at {
				return true
			}
		default:
			if last != nil && sight > 0 && c.asked-last.at > sight && last.at >= a.asked && last.at < b.at {
				return true
			}
			last = &c
		}
	}
	return false
}

// oracles are what the docs say of each property: its verdict, and "" where the oracle leaves it open.
var oracles = map[string]func(h *history.History) string{
	"exclusive-leadership": func(h *history.History) string {
		claims := slices.DeleteFunc(slices.Clone(undivided(h)), func(a said) bool { return !a.claims() })
		// alternate: b surely claims after a does, and then a while b still does.
		alternate := func(a, b sure) bool {
			return slices.ContainsFunc(claims, func(x said) bool {
				return x.node == b.node && x.asked > a.from && x.at >= b.from && x.at <= b.to && slices.ContainsFunc(claims, func(y said) bool {
					return y.node == a.node && y.asked > x.at && y.asked <= a.to && y.at < b.to
				})
			})
		}
		// counts: the leadership of such a time has a number or a tenure.
		counts := func(a sure) bool {
			return !h.Setup().NoTerms || slices.ContainsFunc(claims, func(c said) bool {
				return c.node == a.node && c.view.Tenure > 0 && c.asked <= a.to && c.at >= a.from
			})
		}
		clash := func(ends []fate, perhaps, surest bool) bool {
			led, claimed := surelyBy(h, undivided(h), ends, surest)
			led, claimed = asMembers(h, led, claimed, perhaps)
			surest = surest && h.Setup().Bounds.Silence > 0 && h.Setup().NoTerms
			for _, a := range led {
				for _, b := range led {
					if a.node != b.node && max(a.from, b.from) < min(a.to, b.to) && (!surest || counts(a) && counts(b) || alternate(a, b)) {
						return true
					}
				}
				for _, b := range claimed {
					if a.node != b.node && a.from < b.from && b.to < a.to && (!surest || counts(a) && counts(b)) {
						return true
					}
				}
				for _, c := range claims {
					if !surest || a.node == c.node || c.asked <= a.from || a.to <= c.at || !counts(a) {
						continue
					}
					if _, member := asMembers(h, nil, []sure{{c.node, c.asked, c.at}}, perhaps); len(member) > 0 {
						return true
					}
				}
			}
			return false
		}
		switch ends := fates(h); {
		case clash(ends, true, true):
			return "invalid"
		case clash(ends, true, false):
			return "unknown"
		case clash(slices.DeleteFunc(slices.Clone(ends), func(e fate) bool { return e.perhaps }), false, false):
			return "unknown"
		}
		return "not invalid"
	},
	"single-leader-per-term": func(h *history.History) string {
		for _, a := range undivided(h) {
			for _, b := range undivided(h) {
				if !a.unnumbered && a.claims() && b.claims() && a.view.Term == b.view.Term && a.node != b.node {
					return "invalid"
				}
			}
		}
		return "not invalid"
	},
	"monotonic-term": func(h *history.History) string {
		verdict := "not invalid"
		for _, a := range undivided(h) {
			for _, b := range undivided(h) {
				tells := func(a said) bool { return !a.unnumbered && a.tells() }
				// An announcement is older than the moment at which it came, however long it took.
				before := a.at < b.asked && !b.announced || a.announced && b.announced && a.place < b.place
				if a.node == b.node && tells(a) && tells(b) && before && a.view.Term > b.view.Term && !another(h, a, b, true) && !forgot(h, a, b) {
					if verdict = "unknown"; !another(h, a, b, false) {
						return "invalid"
					}
				}
			}
		}
		return verdict
	},
	"vote-once": func(h *history.History) string {
		// member is which member a node was at an op, by what was done to it before; -1 while something is. If told to, by ops that told of
		// it themselves.
		member := func(op history.Op, told bool) (times int) {
			all, failed, untold := reseats(h, op.Node)
			for i, r := range all {
				switch {
				case op.Index < r[0] || told && untold[i]:
				case op.Index <= r[1]:
					return -1
				case !failed[i]:
					times++
				}
			}
			return times
		}
		verdict := "not invalid"
		for _, a := range h.Ops {
			for _, b := range h.Ops {
				if a.F == history.Granted && b.F == history.Granted && a.Node == b.Node && a.Vote.Term == b.Vote.Term &&
					a.Vote.Term != 0 && a.Vote.For != b.Vote.For && !h.Setup().NoTerms {
					if member(a, false) >= 0 && member(a, false) == member(b, false) {
						return "invalid"
					}
					if member(a, true) >= 0 && member(a, true) == member(b, true) {
						verdict = "unknown"
					}
				}
			}
		}
		return verdict
	},
	"agreement": func(h *history.History) string { // its part that is about terms
		names := func(a said) string {
			switch {
			case a.ended:
				return ""
			case a.view.Role == history.Leader:
				return a.node
			}
			return a.view.Leader
		}
		for _, a := range undivided(h) {
			for _, b := range undivided(h) {
				if !a.unnumbered && a.view.Term != 0 && a.view.Term == b.view.Term &&
					names(a) != "" && names(b) != "" && names(a) != names(b) {
					return "invalid"
				}
			}
		}
		return "not invalid"
	},
	"stays-up": func(h *history.History) string {
		for _, op := range h.Ops {
			if op.F == history.Exit && op.Fault == nil && !beingEnded(h, op) {
				return "invalid"
			}
		}
		return "not invalid"
	},
}

// beingEnded reports whether the nemesis was at a node's process, other than to start it, or at its membership when it ended, to the
// instant, or had ended it or taken it out before.
func beingEnded(h *history.History, exit history.Op) bool {
	w := stages(h)[exit.Index]
	return !w.runs(exit.Node, exit.Time) || !w.belongs(exit.Node) || w.suffers(exit.Node, exit.Time) || w.meets(exit.Index)
}

// anyElection draws a small history in the notation of testdata/README.md: answers that overlap and touch, announcements, torn
// views, terms that repeat, go back or are not there, restarts, exits, stalls, voters.
func anyElection(t *rapid.T) string { return drawElection(t, false) }

// anyBallot draws one in which there are mostly votes where there would be answers.
func anyBallot(t *rapid.T) string { return drawElection(t, true) }

func drawElection(t *rapid.T, votes bool) string {
	var b strings.Builder
	nodes := []string{"n1", "n2", "n3"}[:rapid.IntRange(2, 3).Draw(t, "nodes")]
	fmt.Fprintf(&b, "nodes %s\nbounds silence=%dms elect=40ms poll=%dms\n", strings.Join(nodes, " "),
		rapid.IntRange(1, 6).Draw(t, "silence"), rapid.IntRange(1, 2).Draw(t, "poll"))
	if rapid.IntRange(0, 2).Draw(t, "terms") == 0 {
		b.WriteString("flags no-terms\n")
	}
	if rapid.IntRange(0, 4).Draw(t, "all vote") == 0 {
		b.WriteString("voters n1 n2\n")
	}
	counted := rapid.IntRange(0, 3).Draw(t, "tenures") == 0
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
	view := func() string {
		s := rapid.SampledFrom([]string{"leader", "leader", "leader", "follower", "candidate", "unknown"}).Draw(t, "role")
		s += fmt.Sprintf(" %d", []int{1, 1, 1, 2, 2, 0}[number(5, "term")])
		if counted && strings.HasPrefix(s, "leader") {
			s += fmt.Sprintf(" tenure %d", 1+number(1, "tenure"))
		}
		if strings.HasPrefix(s, "follower") && number(1, "names") == 0 {
			s += " of " + rapid.SampledFrom(nodes).Draw(t, "leader")
		}
		if number(9, "torn") == 0 {
			s += " torn"
		}
		return s
	}
	outcome := func() string { return []string{"", "", "", "; failed", "; unseen", "; untold"}[number(5, "outcome")] }
	now, down, away := 0, map[string]bool{}, map[string]bool{}
	for range 4 + number(10, "events") {
		now += number(4, "wait")
		node := rapid.SampledFrom(nodes).Draw(t, "node")
		event := number(12, "event")
		if votes && event > 7 && event < 12 {
			event = 3
		}
		switch event {
		case 0, 1:
			fmt.Fprintf(&b, "%dms %s announces %s\n", now, node, view())
		case 2:
			took := number(3, "took")
			verb, change := "inject", "kill"
			if down[node] {
				verb, change = "heal", "start"
			}
			down[node] = !down[node]
			fmt.Fprintf(&b, "%dms-%dms nemesis %s kill %s: %s %s%s\n", now, now+took, verb, node, change, node, outcome())
			now += took + 1
		case 12:
			took := number(3, "took")
			verb, change := "inject", []string{"remove", "learner", "voter"}[number(2, "as")]
			if away[node] {
				verb, change = "heal", "voter"
			}
			away[node] = !away[node]
			fmt.Fprintf(&b, "%dms-%dms nemesis %s remove %s: %s %s%s\n", now, now+took, verb, node, change, node, outcome())
			now += took + 1
		case 3:
			if number(3, "exits") == 0 {
				fmt.Fprintf(&b, "%dms %s exits\n", now, node)
			} else {
				fmt.Fprintf(&b, "%dms %s votes %d %s\n", now, node, number(2, "term"), rapid.SampledFrom(nodes).Draw(t, "for"))
			}
		case 4:
			fmt.Fprintf(&b, "%dms stall %dms\n", now, number(3, "stall"))
		default:
			took := number(4, "took") * number(3, "slow")
			fmt.Fprintf(&b, "%dms-%dms %s %s\n", now, now+took, node, view())
		}
	}
	fmt.Fprintf(&b, "%dms end\n", now+20)
	return b.String()
}

// TestOracles compares verdicts of invalid, and how many leaderships there were.
func TestOracles(t *testing.T) {
	t.Parallel()
	for _, c := range All() {
		oracle := oracles[c.Property]
		if oracle == nil {
			continue
		}
		draw := anyElection
		if c.Property == "vote-once" {
			draw = anyBallot
		}
		t.Run(c.Property, func(t *testing.T) {
			t.Parallel()
			tried, invalid := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				text := trapSome(t, draw(t))
				h, err := parseHistory(text)
				if err != nil {
					t.Fatal(err)
				}
				r := c.Check(context.Background(), h)
				if r.Stack != "" {
					t.Fatalf("%s\n%s", r.Why, r.Stack)
				}
				tried++
				want := oracle(h)
				if told := heard(h); want == "invalid" && len(told) < 2 && !slices.Contains([]string{"vote-once", "stays-up"}, c.Property) {
					want = "unknown" // what one node says of itself nobody can compare
				}
				if want == "invalid" {
					invalid++
				}
				if want == "invalid" != (r.Verdict == Invalid) || want == "unknown" && r.Verdict != Unknown {
					t.Fatalf("the oracle says %s, the checker %v: %s\n%s", want, r.Verdict, r.Why, text)
				}
				if told, ok := value(r, "leaderships"); ok && told != fmt.Sprint(len(tenures(undivided(h)))) {
					t.Fatalf("the oracle knows %d leaderships, the checker %s\n%s", len(tenures(undivided(h))), told, text)
				}
			})
			if checks := flag.Lookup("rapid.checks"); checks != nil && tried > 1000 {
				require.Greater(t, invalid, tried/500)
				require.Less(t, invalid, tried*499/500)
			}
			t.Logf("%s: %d histories, %d of them invalid", c.Property, tried, invalid)
		})
	}
	for property := range oracles {
		require.True(t, slices.ContainsFunc(All(), func(c Checker) bool { return c.Property == property }), property)
	}
}
