package docker

import (
	"fmt"
	"slices"

	"recount/docker/agent"
	"recount/history"
	"recount/internal/hint"
)

// What messages mean nobody knows here: a message is a packet that carries data. The agent lays traps and has them spring; what nodes
// come to be, which a packet may wait for, is known from who asks them.

// heldBack is a packet that a trap holds, and all that came behind it.
type heldBack struct {
	trap history.Key
	to   string
	term uint64 // of its receiver as it was last seen, when it was held
}

// OnSprung calls f on the loop whenever a trap springs: with its number, what it caught in words, and what has become of processes by it.
func (c *Cluster) OnSprung(f func(id int, what string, did history.Changes)) { c.onSprung = f }

// canTrap tells whether a trap can be laid.
func (c *Cluster) canTrap(t history.Trap) error {
	for _, name := range t.Receivers() {
		if c.nodes[name] == nil {
			return hint.Unknown("node", name, c.names)
		}
	}
	if t.TrapState == (history.TrapState{}) {
		return nil
	}
	if err := t.Blind(); err != nil {
		return err
	}
	if err := c.means.Supports(history.LinkState{Picked: true}); err != nil {
		return hint.Add(fmt.Errorf("no packet can be waited for: %w", err), "kill and crash end nodes at a time, cut and loss keep messages from them; recount doctor --try tells what this kernel can")
	}
	return nil
}

// laid takes note of traps that are to be laid or taken away: the agent lets go of what those hold.
func (c *Cluster) laid(all []history.Trap) {
	for _, t := range all {
		c.held = slices.DeleteFunc(c.held, func(h heldBack) bool { return h.trap == t.Key() })
		if delete(c.traps, t.Key()); t.TrapState != (history.TrapState{}) {
			c.traps[t.Key()] = t
		}
	}
}

// notice takes up what the agent tells without having been asked.
func (c *Cluster) notice(r agent.Reply) {
	s := r.Sprung
	if s == nil {
		c.Post(func() { c.onStall(r.Stall) })
		return
	}
	if s.State != "" { // the engine may tell at once that its containers have ended
		c.nodes[s.Node].trapped.Store(true)
	}
	c.Post(func() { c.sprung(s) })
}

func (c *Cluster) sprung(s *agent.Sprung) {
	var did history.Changes
	if s.State != "" {
		did.Procs = []history.Proc{{Node: s.Node, State: s.State}}
	} else {
		c.held = append(c.held, heldBack{history.Trap{Node: s.Node, ID: s.ID}.Key(), s.To, c.seen[s.To].Term})
	}
	c.onSprung(s.ID, s.What, did)
}

// Seen tells what a node was seen to be, and lets go of what waits for that.
func (c *Cluster) Seen(node string, now history.View) {
	was := c.seen[node]
	c.seen[node] = now
	c.held = slices.DeleteFunc(c.held, func(h heldBack) bool {
		t, laid := c.traps[h.trap]
		if !laid || !t.Comes(h.to == node, h.term, was, now) {
			return !laid
		}
		c.work.Go(func() {
			// Where the agent is lost the run is, too.
			_, _ = c.remote.ask(c.ctx, agent.Request{LetGo: &agent.LetGo{ID: t.ID, Node: t.Node, To: h.to}})
		})
		return true
	})
}
