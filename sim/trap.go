package sim

import (
	"fmt"
	"slices"
	"time"

	"recount/election"
	"recount/history"
)

// trap is a history.Trap that waits in the cluster, and what has come of it. None draws anything at random: a run in which
// it does not spring is the same without it.
type trap struct {
	history.Trap
	node   int32   // its place
	to     []int32 // places; none for all
	passed int
	sprung int
	held   []held
	kinds  []string // of the messages that it has met, until it springs
	came   bool     // a message of the kind was sent that it holds others until
}

// held is a message that waits.
type held struct {
	from, to int32
	sent     time.Duration
	message  election.Message
	term     uint64 // of its receiver when it was sent
}

// cutOff is what unwinds an algorithm in the middle of a method, when a trap ends its process there.
type cutOff struct{}

// OnSprung calls f whenever a trap springs: with its number, what it caught in words, and what has become of processes by it.
func (c *Cluster) OnSprung(f func(id int, what string, did history.Changes)) { c.sprung = f }

// canTrap tells whether a trap can be laid.
func (c *Cluster) canTrap(t history.Trap) error {
	for _, n := range append(t.Receivers(), t.Node) {
		if c.index(n) < 0 {
			return fmt.Errorf("no node %q", n)
		}
	}
	return nil
}

// setTrap lays a trap, or takes it away and returns it: what it holds goes on its way.
func (c *Cluster) setTrap(t history.Trap) (old *trap) {
	i := slices.IndexFunc(c.traps, func(o *trap) bool { return o.Key() == t.Key() })
	if i >= 0 {
		old = c.traps[i]
		c.traps = slices.Delete(slices.Clone(c.traps), i, i+1)
		old.release(c, func(*held) bool { return true })
		for k := range c.nodes {
			if n := &c.nodes[k]; n.doomed == old {
				n.doomed = nil
			}
		}
	}
	if t.TrapState == (history.TrapState{}) {
		return old
	}
	laid := &trap{Trap: t, node: c.index(t.Node)}
	for _, n := range t.Receivers() {
		laid.to = append(laid.to, c.index(n))
	}
	c.traps = append(slices.Clone(c.traps), laid)
	return old
}

// counts takes note of something that the trap may wait for, and reports whether it springs.
func (t *trap) counts(kind string, to int32) bool {
	if len(t.to) > 0 && !slices.Contains(t.to, to) || t.sprung >= max(t.Most, 1) {
		return false
	}
	if t.sprung == 0 && !slices.Contains(t.kinds, kind) {
		t.kinds = append(t.kinds, kind)
	}
	if t.Kind != "" && t.Kind != kind {
		return false
	}
	if t.passed++; t.passed <= t.Pass {
		return false
	}
	t.sprung++
	return true
}

// catch lets the traps have a message that leaves a node, and reports whether it goes no further for now.
func (c *Cluster) catch(from, to int32, m *election.Message) (caught bool) {
	for _, t := range c.traps {
		if t.Until == m.Kind { // its receiver sends what is waited for
			t.came = true
			t.release(c, func(h *held) bool { return h.to == from })
		}
	}
	for _, t := range c.traps {
		if t.Do == history.Swap {
			t.release(c, func(h *held) bool { return h.from == from && h.to == to })
		}
		if t.Do == history.Finish || t.node != from || !t.counts(m.Kind, to) {
			continue
		}
		if t.Do == history.Lose {
			c.tell(c.nodes[from].id, to, c.now, "a trap lost it", m)
		} else {
			t.held = append(t.held, held{from, to, c.now, *m, c.nodes[to].last.Term})
			if d, timed := t.Wait(); timed {
				c.After(d, func() { t.release(c, func(h *held) bool { return c.now-h.sent >= d }) })
			}
		}
		did := map[history.TrapDo]string{
			history.Lose: "lost", history.Hold: "held", history.Repeat: "to be repeated", history.Swap: "overtaken",
		}[t.Do]
		c.sprung(t.ID, c.words(m, from, to)+" "+did, history.Changes{})
		if caught = t.Do != history.Repeat; caught {
			return true
		}
	}
	return false
}

// words name a message: "RequestVoteResponse n2→n1 in term 3".
func (c *Cluster) words(m *election.Message, from, to int32) string {
	s := fmt.Sprintf("%s %s→%s", m.Kind, c.nodes[from].name, c.nodes[to].name)
	if m.Term > 0 {
		s += fmt.Sprintf(" in term %d", m.Term)
	}
	return s
}

// release lets go of what is held and has waited for long enough. It leaves when all is on the wire that is sent at this
// moment, and a little later still.
func (t *trap) release(c *Cluster, which func(h *held) bool) {
	t.held = slices.DeleteFunc(t.held, func(h held) bool {
		if !which(&h) {
			return false
		}
		wait := time.Duration(0)
		if t.Do == history.Swap {
			wait = c.latency
		}
		c.After(wait, func() { c.transmit(h.from, h.to, h.sent, &h.message) })
		return true
	})
}

// loosen lets go of what waits for a node to be what it is now.
func (c *Cluster) loosen(n *node, now election.Status) {
	leads := now.Role == election.Leader && (n.last.Role != election.Leader || n.last.Term != now.Term)
	for _, t := range c.traps {
		switch {
		case t.Until == history.UntilTerm:
			t.release(c, func(h *held) bool { return h.to == n.index && now.Term != h.term })
		case t.Until == history.UntilLead && leads:
			t.release(c, func(h *held) bool { return true })
		case t.Until == history.UntilElected && leads:
			t.release(c, func(h *held) bool { return h.to == n.index })
		}
	}
}

// loosenStarted lets go of what waits for a node to start again.
func (c *Cluster) loosenStarted(n *node) {
	for _, t := range c.traps {
		if t.Until == history.UntilStart {
			t.release(c, func(h *held) bool { return h.to == n.index })
		}
	}
}

// springOn looks for traps that wait for the process to be handed a message, or to have sent one.
func (n *node) springOn(on history.TrapOn, m *election.Message, other election.ID) {
	if n.doomed != nil || n.torn {
		return
	}
	for _, t := range n.c.traps {
		if t.Do == history.Finish && t.On == on && t.node == n.index && t.counts(m.Kind, int32(other)-1) {
			n.doomed, n.left = t, t.Effect
			if n.left == 0 {
				panic(cutOff{})
			}
			return
		}
	}
}

// effect is called before whatever a process does to the world, and reports whether it must not: it has ended. A process that
// is to end here does.
func (n *node) effect() (ended bool) {
	if len(n.c.traps) == 0 || n.torn {
		return n.torn
	}
	if n.doomed == nil {
		n.springOnStatus()
	}
	if n.doomed != nil {
		if n.left--; n.left < 0 {
			n.torn = true
			panic(cutOff{})
		}
	}
	return false
}

// springOnStatus looks for traps that wait for the process to lead, or to be in another term, in the middle of a method. Each such
// change counts once, however much the process does before its method returns.
func (n *node) springOnStatus() {
	if n.impl == nil {
		return
	}
	s, was, looked := n.impl.Status(), n.noted, n.looked
	n.noted, n.looked = s, true
	if !looked {
		return
	}
	rises := s.Term != was.Term
	leads := s.Role == election.Leader && (was.Role != election.Leader || rises)
	if !rises && !leads {
		return
	}
	for _, t := range n.c.traps {
		if t.Do != history.Finish || t.node != n.index || n.doomed != nil {
			continue
		}
		if (t.On == history.Leads && leads || t.On == history.Rises && rises) && t.counts(t.Kind, n.index) {
			n.doomed, n.left = t, t.Effect
		}
	}
}

// finish ends the process that a trap has ended in the middle of what it did.
func (n *node) finish() {
	t, state := n.doomed, history.Down
	if t.Crash {
		state = history.Crashed
	}
	n.torn = true
	n.stop(state)
	at := fmt.Sprintf("%s ends after %d of what it did on %s", n.name, t.Effect, t.On)
	if t.Kind != "" {
		at += " of " + t.Kind
	}
	n.c.sprung(t.ID, at, history.Changes{Procs: []history.Proc{{Node: n.name, State: state}}})
}
