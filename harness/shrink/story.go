package shrink

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recount/harness/record"
	"recount/history"
)

// maxLines is how many lines a story may have; what is left out of it is counted.
const maxLines = 24

// event is a line of a story.
type event struct {
	at   time.Duration
	text string
	key  bool // never left out
}

// Story tells what happened in a run up to a violation, in order, with terms. Times count from the run's beginning, as
// those of its report do.
func Story(h *history.History, v *record.Verdict) string {
	t := told(h, v)
	var b strings.Builder
	for i, e := range t.events {
		if skipped := t.skipped(i); skipped > 0 {
			fmt.Fprintf(&b, "%10s %d more such lines\n", "…", skipped)
		}
		if !t.left(i) {
			fmt.Fprintf(&b, "%9.3fs %s\n", e.at.Seconds(), e.text)
		}
	}
	return b.String()
}

// Event is something that happened in a run, in words.
type Event struct {
	At    time.Duration `json:"at"`
	Words string        `json:"words"`
}

// Events are what the Story tells of a time, its end not included.
func Events(h *history.History, v *record.Verdict, from, to time.Duration) (all []Event) {
	for _, e := range told(h, v).events {
		if e.at >= from && e.at < to {
			all = append(all, Event{e.at, e.text})
		}
	}
	return all
}

// told is who has told all that a story is made of.
func told(h *history.History, v *record.Verdict) *teller {
	t := &teller{setup: h.Frame().Setup(), roles: map[string]history.View{}, asked: map[string]int{}, twice: votedTwice(h), until: v.To}
	if v.To == 0 { // it has no place in time
		t.until = h.Ops[len(h.Ops)-1].Time
	}
	for _, i := range v.Ops { // of an operation that breaks something, the end may come later
		if i >= 0 && i < len(h.Ops) {
			t.until = max(t.until, h.Ops[i].Time)
		}
	}
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Time <= t.until {
			t.dies(op)
			t.asks(h.Ops[i:])
			t.tell(op, slices.Contains(v.Ops, op.Index))
		}
	}
	t.flush("")
	t.events = folded(t.events)
	return t
}

// teller makes the lines of a story.
type teller struct {
	setup    *history.Setup // nil in a history that tells nothing of its cluster
	until    time.Duration
	roles    map[string]history.View
	asked    map[string]int // hand-overs that faults ask nodes for, and that no client has asked for yet
	twice    map[ballot]bool
	campaign campaign
	events   []event
}

// ballot is the vote of a node in a term.
type ballot struct {
	node string
	term uint64
}

// votedTwice returns the votes that were given to more than one candidate.
func votedTwice(h *history.History) map[ballot]bool {
	voted, twice := map[ballot]string{}, map[ballot]bool{}
	for i := range h.Ops {
		if op := &h.Ops[i]; op.F == history.Granted {
			b := ballot{op.Node, op.Vote.Term}
			if was, did := voted[b]; did && was != op.Vote.For {
				twice[b] = true
			}
			voted[b] = op.Vote.For
		}
	}
	return twice
}

// campaign is a row of terms that one node campaigned in, while nothing else happened.
type campaign struct {
	at       time.Duration
	node     string
	from, to uint64
}

func (t *teller) add(at time.Duration, key bool, format string, args ...any) {
	t.events = append(t.events, event{at, fmt.Sprintf(format, args...), key})
}

func (t *teller) tell(op *history.Op, evidence bool) {
	switch op.F {
	case history.Observe, history.Announce:
		if op.Type == history.OK && !t.view(op) && evidence {
			t.flush("")
			t.add(op.Time, true, "%s", says(t.setup, op))
		}
	case history.Granted:
		if evidence || t.twice[ballot{op.Node, op.Vote.Term}] {
			t.flush("")
			t.add(op.Time, true, "%s votes for %s in term %d", op.Node, op.Vote.For, op.Vote.Term)
		}
	case history.Write:
		if evidence && op.Type != history.Invoke {
			t.flush("")
			t.add(op.Time, true, "%s writes with token %d: %v", cmp.Or(op.Node, "somebody"), op.Access.Token, op.Type)
		}
	case history.Settle:
		t.flush("")
		t.add(op.Time, true, "the schedule begins")
	case history.Exit:
		t.flush("")
		if op.Fault != nil {
			t.add(op.Time, true, "%s ends by %s", op.Node, op.Fault.Name)
		} else {
			t.add(op.Time, true, "%s ends by itself", op.Node)
		}
	case history.Inject, history.Change, history.Heal:
		if op.Type != history.Invoke && op.Fault != nil {
			t.flush("")
			t.fault(op)
		}
	default:
		if evidence && op.Type != history.Invoke {
			t.flush("")
			t.add(op.Time, true, "%s", did(op))
		}
	}
}

// dies forgets what nodes were whose processes end: the next life does not go on with it.
func (t *teller) dies(op *history.Op) {
	if op.F == history.Exit {
		delete(t.roles, op.Node)
	}
	if op.Fault == nil {
		return
	}
	for _, p := range op.Fault.Procs {
		if op.Type != history.Invoke && p.State.Ended() {
			delete(t.roles, p.Node)
		}
	}
}

// asks tells that the first of these ops has a node hand over, if it does: a client of its own, where no fault has asked for it.
func (t *teller) asks(ops []history.Op) {
	op := &ops[0]
	if op.Type != history.Invoke {
		return
	}
	if op.F == history.Inject && op.Fault != nil {
		for _, h := range op.Fault.HandOvers() {
			t.asked[h.Node]++
		}
	}
	if op.F != history.Resign {
		return
	}
	if t.asked[op.Node] > 0 {
		t.asked[op.Node]--
		return
	}
	end := slices.IndexFunc(ops[1:], func(o history.Op) bool { return o.Process == op.Process && o.F == op.F })
	if end < 0 || ops[1+end].Type != history.Fail {
		t.flush("")
		t.add(op.Time, false, "a client has %s hand over", op.Node)
	}
}

// view tells of leaderships and campaigns, and reports whether it has told all that a node says of itself.
func (t *teller) view(op *history.Op) (told bool) {
	was, is := t.roles[op.Node], op.View
	t.roles[op.Node] = is
	if is.Torn || was.Role == is.Role && was.Term == is.Term {
		return false
	}
	switch {
	case is.Role == history.Leader:
		t.flush(op.Node)
		if is.Term == 0 {
			t.add(op.Time, false, "%s leads", op.Node)
		} else {
			t.add(op.Time, false, "%s leads in term %d", op.Node, is.Term)
		}
		return true
	case was.Role == history.Leader:
		t.flush("")
		t.add(op.Time, false, "%s leads no more", op.Node)
	case is.Role == history.Candidate && is.Term > 0:
		if t.campaign.node != op.Node {
			t.flush("")
			t.campaign = campaign{op.Time, op.Node, is.Term, is.Term}
		}
		// In containers an answer may be older than the announcement before it.
		t.campaign.from, t.campaign.to = min(t.campaign.from, is.Term), max(t.campaign.to, is.Term)
		return true
	}
	return false
}

// flush ends a row of campaigns. One that won is told of by the leadership that follows.
func (t *teller) flush(winner string) {
	c := t.campaign
	t.campaign = campaign{}
	switch {
	case c.node == "" || c.node == winner && c.from == c.to:
	case c.from == c.to:
		t.add(c.at, false, "%s campaigns in term %d", c.node, c.from)
	default:
		t.add(c.at, false, "%s campaigns in terms %d to %d", c.node, c.from, c.to)
	}
}

func (t *teller) fault(op *history.Op) {
	f := op.Fault
	words := f.Title()
	switch {
	case op.Type == history.Fail:
		t.add(op.Time, true, "%s does not take effect", words)
	case op.F == history.Heal:
		if words += " heals"; f.Idle != "" {
			words += ": " + f.Idle
		}
		t.add(op.Time, true, "%s", words)
	case f.Found:
		t.add(op.Time, false, "%s came true in part: %s", words, f.Came())
	case op.F == history.Change:
		did := cmp.Or(changed(f.Changes), f.After) // a message that was caught changes nothing else
		if did == "" {
			return
		}
		t.add(op.Time, false, "%s moves: %s", words, did)
	default:
		asked := ""
		if len(f.Asked) > 0 && !slices.Equal(f.Asked, f.Nodes) {
			asked = fmt.Sprintf(" (%s)", strings.Join(f.Asked, ", "))
		}
		t.add(op.Time, true, "%s%s%s", words, asked, badly(f.Links))
	}
}

// badly says how links are, all in one way, that are not cut: ": 100ms ± 0s late, from n1 only"; or nothing.
func badly(links []history.Link) string {
	if len(links) == 0 {
		return ""
	}
	is := links[0].LinkState
	if is.Cut || is.Picked || is == (history.LinkState{}) || slices.ContainsFunc(links, func(l history.Link) bool { return l.LinkState != is }) {
		return ""
	}
	return ": " + is.Words() + oneWay(links)
}

// oneWay says which end packets come from, or go to, if none go the other way over links that are told of: ", from n1 only".
func oneWay(links []history.Link) string {
	from, to := map[string]bool{}, map[string]bool{}
	for _, l := range links {
		from[l.From], to[l.To] = true, true
	}
	switch {
	case slices.ContainsFunc(links, func(l history.Link) bool { return to[l.From] }):
		return ""
	case len(from) == 1:
		return fmt.Sprintf(", from %s only", links[0].From)
	}
	return fmt.Sprintf(", to %s only", strings.Join(slices.Sorted(maps.Keys(to)), ", "))
}

// changed says in a few words what a fault that moves has done.
func changed(c history.Changes) string {
	ill := 0
	for _, l := range c.Links {
		if l.LinkState != (history.LinkState{}) {
			ill++
		}
	}
	words := []string{}
	if n := len(c.Links); n > 0 {
		words = append(words, fmt.Sprintf("%d links down, %d up", ill, n-ill))
	}
	for _, p := range c.Procs {
		words = append(words, fmt.Sprintf("%s %s", p.Node, p.State))
	}
	for _, k := range c.Clocks {
		words = append(words, fmt.Sprintf("clock of %s off by %v, drifting by %v", k.Node, k.Offset, k.Drift))
	}
	for _, d := range c.Disks {
		words = append(words, fmt.Sprintf("disk of %s: %v", d.Node, d.DiskState))
	}
	for _, p := range c.CPUs() {
		words = append(words, fmt.Sprintf("processor of %s: %s", p.Node, p.Words()))
	}
	for _, m := range c.Memories() {
		words = append(words, fmt.Sprintf("memory of %s: %s", m.Node, m.Words()))
	}
	for _, s := range c.States() {
		switch s.(type) {
		case history.Link, history.Proc, history.Clock, history.Disk, history.CPU, history.Memory:
		default:
			words = append(words, fmt.Sprintf("%s: %s", s.Name(), s.Words()))
		}
	}
	return strings.Join(words, ", ")
}

// longestRow is how many lines may come again and again together.
const longestRow = 4

// folded has one line in the place of what comes again and again, the same lines in the same order: how often, and until when.
func folded(all []event) (some []event) {
	same := func(a, b []event) bool {
		return slices.EqualFunc(a, b, func(a, b event) bool { return a.text == b.text })
	}
	for i := 0; i < len(all); {
		row, again := 1, 0
		for n := 1; n <= longestRow && again < 2; n++ {
			for row, again = n, 0; i+(again+2)*n <= len(all) && same(all[i:i+n], all[i+(again+1)*n:i+(again+2)*n]); {
				again++
			}
		}
		if again < 2 {
			some = append(some, all[i])
			i++
			continue
		}
		last := all[i+row*(again+1)-1].at
		some = append(some, all[i:i+row]...)
		some = append(some, event{all[i+row].at, fmt.Sprintf("the same again, %d times until %.3fs", again, last.Seconds()), true})
		i += row * (again + 1)
	}
	return some
}

// left reports whether event i is left out: from the middle of what is not key, if there is too much.
func (t *teller) left(i int) bool {
	if len(t.events) <= maxLines || t.events[i].key {
		return false
	}
	return i >= maxLines/2 && i < len(t.events)-maxLines/2
}

// skipped is how many events are left out just before event i, which is not.
func (t *teller) skipped(i int) (n int) {
	if t.left(i) {
		return 0
	}
	for i--; i >= 0 && t.left(i); i-- {
		n++
	}
	return n
}
