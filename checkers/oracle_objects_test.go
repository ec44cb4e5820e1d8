package checkers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
)

// undecided is what an oracle says of a history that it cannot judge.
const undecided Verdict = 99

// compare holds a checker's verdicts on histories that are drawn against those of an oracle, and wants all three verdicts to
// be among them. It does so beside other tests, for make prove takes long.
func compare(t *testing.T, property string, draw func(*rapid.T) string, oracle func(*history.History) Verdict) {
	t.Helper()
	t.Parallel()
	c := find(property)
	drawn := map[Verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		text := trapSome(t, draw(t))
		h, err := parseHistory(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		r := c.Check(context.Background(), h)
		if r.Stack != "" {
			t.Fatalf("%s\n%s", r.Why, r.Stack)
		}
		if h, err = parseHistory(arrivals(h, text)); err != nil {
			t.Fatal(err)
		}
		want := oracle(h)
		drawn[want]++
		if want != r.Verdict && want != undecided {
			t.Fatalf("the oracle says %v, the checker %v: %s\n%s", want, r.Verdict, r.Why, text)
		}
	})
	total := drawn[Valid] + drawn[Invalid] + drawn[Unknown]
	t.Logf("%s: %d histories: %d valid, %d invalid, %d unknown, and %d that the oracle cannot judge", property,
		total, drawn[Valid], drawn[Invalid], drawn[Unknown], drawn[undecided])
	if total < 1000 { // of a few it may be more or less
		return
	}
	for _, v := range []Verdict{Valid, Invalid, Unknown} {
		require.Greater(t, drawn[v], total/50, "%v", v)
	}
}

// whole reports whether a history has its end.
func whole(h *history.History) bool { return len(h.Ops) > 0 && h.Ops[len(h.Ops)-1].F == history.End }

// forever is when an operation that never ended may still take effect.
const forever = time.Duration(1 << 62)

// done is an operation on an object: it took effect at one instant between, both included, or, unless it did so surely, never.
type done struct {
	op       *history.Op
	from, to time.Duration
	surely   bool
}

// operations returns those of some kinds, in the order in which they began. One that failed is left out, unless kept.
func operations(h *history.History, kept bool, kinds ...history.F) (all []done) {
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Type != history.Invoke || !slices.Contains(kinds, op.F) {
			continue
		}
		d := done{op: op, from: op.Time, to: forever}
		if k := h.Other(i); k >= 0 {
			switch end := &h.Ops[k]; end.Type {
			case history.Fail:
				if !kept {
					continue
				}
				d.op, d.to, d.surely = end, end.Time, true
			case history.OK:
				d.op, d.to, d.surely = end, end.Time, true
			}
		}
		all = append(all, d)
	}
	return all
}

// orders reports whether the operations have an order in which each can be done, trying all of them.
func orders[S any](all []done, state S, step func(S, *history.Op) (S, bool)) bool {
	left := slices.ContainsFunc(all, func(d done) bool { return d.surely })
	if !left {
		return true
	}
	for i, d := range all {
		if slices.ContainsFunc(all, func(before done) bool { return before.to < d.from }) {
			continue
		}
		if next, ok := step(state, d.op); ok && orders(slices.Delete(slices.Clone(all), i, i+1), next, step) {
			return true
		}
	}
	return false
}

func TestOraclesFencing(t *testing.T) {
	compare(t, "fencing", anyWrites, func(h *history.History) Verdict {
		all := operations(h, true, history.Write, history.Read)
		all = slices.DeleteFunc(all, func(d done) bool { return d.op.F == history.Read && d.op.Type != history.OK })
		explained := orders(all, history.Access{}, func(s history.Access, op *history.Op) (history.Access, bool) {
			switch {
			case op.F == history.Read:
				return s, op.Access == s
			case op.Type == history.Fail:
				return s, op.Access.Token < s.Token
			}
			return op.Access, op.Access.Token >= s.Token
		})
		accepted, tokens := 0, map[uint64]bool{}
		if !slices.ContainsFunc(all, func(d done) bool { return d.op.Access.Token > 0 }) {
			return Unknown
		}
		if !explained {
			return Invalid
		}
		for _, a := range all {
			for _, b := range all {
				if a.op.F == history.Write && b.op.F == history.Write && a.op.Access.Token == b.op.Access.Token &&
					a.op.Access.Token != 0 && a.op.Node != b.op.Node && a.op.Node != "" && b.op.Node != "" {
					return Invalid
				}
			}
			if a.op.Type == history.OK && a.op.F == history.Write {
				accepted++
				tokens[a.op.Access.Token] = true
			} else if a.op.Type == history.OK && a.op.Access.Token > 0 {
				tokens[a.op.Access.Token] = true
			}
		}
		if !whole(h) || accepted == 0 || len(tokens) < 2 {
			return Unknown
		}
		return Valid
	})
}

// anyWrites draws what leaders write under tokens and clients read. Most of them do as they should.
func anyWrites(t *rapid.T) string { return anyWritesOf(t, 6) }

func anyWritesOf(t *rapid.T, most int) string {
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
	var b strings.Builder
	b.WriteString("nodes n1 n2 n3\n")
	now, token, value := 0, number(1, "first token"), 0
	for range 1 + number(most-1, "accesses") {
		now += number(3, "wait")
		if number(2, "next leader") == 0 {
			token++
		}
		took := number(3, "took") * number(2, "slow")
		who, used := fmt.Sprintf("n%d", 1+token%3), token
		switch number(9, "who") {
		case 0:
			who = "client"
		case 1:
			who = fmt.Sprintf("n%d", 1+number(2, "node"))
		case 2:
			used = number(token, "stale")
		}
		fmt.Fprintf(&b, "%dms-%dms %s ", now, now+took, who)
		switch number(9, "access") {
		case 0, 1, 2:
			fmt.Fprintf(&b, "read %d %d%s\n", used, number(value, "seen"), []string{"", "", "", " unknown"}[number(3, "outcome")])
			continue
		case 3:
			b.WriteString([]string{"read failed\n", "read unknown\n"}[number(1, "outcome")])
			continue
		}
		if number(2, "new value") > 0 {
			value++
		}
		outcome := []string{"", "", "", "", " rejected", " unknown", " unended"}[number(6, "outcome")]
		if used < token && number(2, "stale") > 0 {
			outcome = " rejected"
		}
		fmt.Fprintf(&b, "write %d %d%s\n", used, value, outcome)
	}
	if number(9, "cut short") > 0 {
		fmt.Fprintf(&b, "%dms end\n", now+20)
	}
	return b.String()
}

// shown is what a register holds: a value, and its revision; where that was not told, it is that number at least.
type shown struct {
	value    string
	revision uint64
	about    bool
}

// at is s once it was told its revision, and whether it can be that.
func (s shown) at(revision uint64) (shown, bool) {
	switch {
	case revision == 0:
		return s, true
	case revision < s.revision || !s.about && revision > s.revision:
		return s, false
	}
	return shown{value: s.value, revision: revision}, true
}

func TestOraclesLinearizable(t *testing.T) {
	compare(t, "linearizable", anyUse, func(h *history.History) Verdict {
		told, changed, shared := false, false, false
		for _, kinds := range [][]history.F{{history.Get, history.Put, history.CAS}, {history.Acquire, history.Release}} {
			all := map[string][]done{}
			clients := map[string]map[history.Process]bool{}
			for _, d := range operations(h, false, kinds...) {
				if d.op.F == history.Get && d.op.Type != history.OK {
					continue
				}
				key := ""
				if d.op.Reg != nil {
					key = d.op.Reg.Key
				}
				if clients[key] == nil {
					clients[key] = map[history.Process]bool{}
				}
				all[key], clients[key][d.op.Process] = append(all[key], d), true
				shared = shared || len(clients[key]) > 1
				told = told || d.surely && d.op.F != history.Put
				changed = changed || d.op.F != history.Get
			}
			for _, ops := range all {
				if !orders(ops, shown{}, used) {
					return Invalid
				}
			}
		}
		if !whole(h) || !told || !changed || !shared {
			return Unknown
		}
		return Valid
	})
}

// used does one operation on a register or a lock.
func used(s shown, op *history.Op) (shown, bool) {
	next := shown{revision: s.revision + 1, about: true}
	switch op.F {
	case history.Get:
		s, ok := s.at(op.Reg.Revision)
		return s, ok && s.value == op.Reg.Value
	case history.CAS:
		if s.value != op.Reg.Old {
			return s, false
		}
		fallthrough
	case history.Put:
		next.value = op.Reg.Value
		return next.at(op.Reg.Revision)
	case history.Acquire:
		next.value = "taken"
		return next, s.value == ""
	}
	return next, s.value == "taken"
}

// anyUse draws what clients do with one or two registers, or a lock, which mostly do as they should.
func anyUse(t *rapid.T) string {
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
	var b strings.Builder
	b.WriteString("nodes n1\n")
	locks, revisions, keys := number(3, "locks") == 0, number(3, "revisions") == 0, number(3, "keys") == 0
	clients := 1 + number(3, "clients")
	free := map[int]int{}
	held, revision := "nothing", 0
	now := 0
	for range 1 + number(6, "operations") {
		now += number(3, "wait")
		c := number(clients, "client")
		if c > 0 && free[c] > now || c == clients && clients > 1 {
			c = 0
		}
		took := number(3, "took") * number(2, "slow")
		who := "client"
		if c > 0 {
			who, free[c] = fmt.Sprintf("c%d", c), now+took+1
		}
		outcome := []string{"", "", "", "", "", "", "failed", "unknown", "unended"}[number(8, "outcome")]
		if outcome != "" {
			free[c] = 1 << 30
		}
		value := rapid.SampledFrom([]string{"1", "2", "3", "nothing"}).Draw(t, "value")
		kind := number(5, "kind")
		if locks && number(7, "register") > 0 {
			did := "acquire"
			if kind > 3 || held == "taken" {
				did = "release"
			}
			held = map[string]string{"acquire": "taken", "release": "nothing"}[did]
			fmt.Fprintf(&b, "%dms-%dms %s %s %s\n", now, now+took, who, did, outcome)
			continue
		}
		fmt.Fprintf(&b, "%dms-%dms %s ", now, now+took, who)
		switch kind {
		case 0, 1, 2:
			if number(3, "any") > 0 {
				value = held
			}
			b.WriteString("get " + value)
		case 3:
			old := held
			if number(3, "any") == 0 {
				old = rapid.SampledFrom([]string{"1", "2", "nothing"}).Draw(t, "old")
			}
			b.WriteString("cas " + old + " " + value)
		default:
			b.WriteString("put " + value)
		}
		if kind > 2 {
			revision++
			if outcome != "failed" {
				held = value
			}
		}
		if revisions && outcome == "" && number(2, "told") > 0 && revision > 0 {
			told := revision
			if number(5, "any") == 0 {
				told = 1 + number(5, "revision")
			}
			fmt.Fprintf(&b, " revision %d", told)
		}
		if keys && number(1, "key") == 0 {
			b.WriteString(" key x")
		}
		b.WriteString(" " + outcome + "\n")
	}
	if number(9, "cut short") > 0 {
		fmt.Fprintf(&b, "%dms end\n", now+20)
	}
	return b.String()
}

func TestOraclesOrderedUpdates(t *testing.T) {
	compare(t, "ordered-updates", anyUpdates, func(h *history.History) Verdict {
		type sent struct {
			term uint64
			from string
		}
		nodes, leaders := map[string]bool{}, map[sent]bool{}
		for i, a := range h.Ops {
			if a.F != history.Apply {
				continue
			}
			u := a.Update()
			nodes[a.Node], leaders[sent{u.Term, u.From}] = true, true
			doubt := func(i int) bool { return courseOf(h, a.Node).doubted(h, a.Node, i) } // each is of a life of its own then
			for k, b := range h.Ops[:i] {
				if b.F != history.Apply {
					continue
				}
				v := b.Update()
				one := v.Term == u.Term && v.Counter == u.Counter
				if one && v.From != u.From && v.From != "" && u.From != "" {
					return Invalid
				}
				later := u.Term > v.Term || u.Term == v.Term && u.Counter > v.Counter
				if a.Node == b.Node && !later && !restarted(h, a.Node, k, i) && !doubt(i) && !doubt(k) {
					return Invalid
				}
			}
		}
		several := false // leaders, surely
		for a := range leaders {
			for b := range leaders {
				several = several || a.term != b.term || a.from != b.from && a.from != "" && b.from != ""
			}
		}
		if !whole(h) || len(nodes) < 2 || !several {
			return Unknown
		}
		return Valid
	})
}

// restarted reports whether a life of a node ended between two ops: it ended by itself, or an attempt to end it began or ended.
func restarted(h *history.History, node string, from, to int) bool {
	for i, op := range h.Ops[:to] {
		if i <= from {
			continue
		}
		if op.F == history.Exit && op.Node == node {
			return true
		}
		for _, half := range []int{i, h.Other(i)} {
			if half < 0 || h.Ops[half].Fault == nil {
				continue
			}
			for _, p := range h.Ops[half].Fault.Procs {
				if p.Node == node && slices.Contains([]history.ProcState{history.Down, history.Stopped, history.Crashed}, p.State) {
					return true
				}
			}
		}
	}
	return false
}

// anyUpdates draws what followers apply of the updates of one or two leaders, while they are killed and started.
func anyUpdates(t *rapid.T) string {
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
	var b strings.Builder
	b.WriteString("nodes n1 n2 n3\n")
	terms := number(4, "terms") > 0
	if !terms {
		b.WriteString("flags no-terms\n")
	}
	now, term, counters, down := 0, number(1, "first term"), map[string]int{}, map[string]bool{}
	for range 2 + number(9, "events") {
		now += 1 + number(2, "wait")
		node := fmt.Sprintf("n%d", 1+number(2, "node"))
		switch number(9, "event") {
		case 0, 1:
			began, took := now, number(3, "took")
			verb, change := "inject", []string{"kill", "crash", "stop", "pause"}[number(3, "change")]
			outcome := []string{"", "", "", "; failed", "; unseen", "; untold", "; unended"}[number(6, "outcome")]
			if down[node] {
				verb, change = "heal", "start"
			}
			if down["the nemesis"] {
				continue
			}
			down[node], down["the nemesis"] = !down[node], outcome == "; unended"
			fmt.Fprintf(&b, "%dms-%dms nemesis %s fault %s: %s %s%s\n", now, now+took, verb, node, change, node, outcome)
			for range number(2, "meanwhile") {
				now += number(1, "wait")
				fmt.Fprintf(&b, "%dms %s applies %d %d\n", min(now, began+took), node, term, number(4, "counter"))
			}
			now = began + took
		case 2:
			fmt.Fprintf(&b, "%dms %s exits\n", now, node)
		default:
			if number(5, "next leader") == 0 && terms {
				term++
			}
			used := term
			if number(6, "stale") == 0 && terms {
				used = number(term, "term")
			}
			from := fmt.Sprintf("n%d", 1+used%3)
			if number(12, "stray") == 0 {
				from = fmt.Sprintf("n%d", 1+number(2, "from"))
			}
			key := fmt.Sprint(node, used)
			counters[key]++
			counter := counters[key]
			if number(7, "any") == 0 {
				counter = number(4, "counter")
			}
			fmt.Fprintf(&b, "%dms %s applies %d %d", now, node, used, counter)
			if number(5, "told") > 0 {
				b.WriteString(" of " + from)
			}
			b.WriteString("\n")
		}
	}
	if number(9, "cut short") > 0 {
		fmt.Fprintf(&b, "%dms end\n", now+20)
	}
	return b.String()
}
