//go:build linux

package agent

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"recount/history"
	"recount/internal/headers"
)

// traps wait for what nodes send each other, and for what they do with their disks. A message is a packet that carries data, as it
// arrives: nobody knows here what it means, and probes are none.
type traps struct {
	mu     sync.Mutex
	laid   []*trap
	doomed map[string]*doom
	tell   func(Sprung)
	end    func(t history.Trap) // a node's processes, beside all else
}

// trap is a history.Trap that waits, and what has come of it.
type trap struct {
	history.Trap
	passed, sprung int
	held           []*flow
}

// flow is a packet that waits, and behind it all that comes later over the same connection: TCP has an order.
type flow struct {
	to    string
	ends  ends
	since time.Time
	pass  []func()
}

// ends are those of a connection, or of datagrams.
type ends struct {
	protocol byte
	from, to netip.AddrPort
}

// doom is what awaits a node's processes: they end before what they do next, once they have done so much more.
type doom struct {
	history.Trap
	left int
	over bool // they end now
}

// fate is what becomes of a packet.
type fate int

const (
	goesOn fate = iota
	heldBack
	lost
)

func newTraps() *traps { return &traps{doomed: map[string]*doom{}, tell: func(Sprung) {}} }

// tells sets who is told of what springs.
func (t *traps) tells(tell func(Sprung)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell = tell
}

// set lays a trap, or takes it away: what it holds goes on its way.
func (t *traps) set(s history.Trap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.IndexFunc(t.laid, func(o *trap) bool { return o.Key() == s.Key() }); i >= 0 {
		old := t.laid[i]
		t.laid = slices.Delete(t.laid, i, i+1)
		old.release(func(*flow) bool { return true })
		if d := t.doomed[s.Node]; d != nil && !d.over && d.Key() == s.Key() {
			delete(t.doomed, s.Node)
		}
	}
	if s.TrapState != (history.TrapState{}) {
		t.laid = append(t.laid, &trap{Trap: s})
	}
}

// states are the traps that are laid.
func (t *traps) states() (all []history.Trap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.laid {
		all = append(all, o.Trap)
	}
	return all
}

// ending are the nodes whose processes traps wait to end.
func (t *traps) ending() map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	nodes := map[string]bool{}
	for _, o := range t.laid {
		if o.Do == history.Finish {
			nodes[o.Node] = true
		}
	}
	return nodes
}

// begins takes note of a node's next life: what befell the last is over, and what waits for it goes on its way.
func (t *traps) begins(node string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.doomed, node)
	for _, o := range t.laid {
		if o.Until == history.UntilStart {
			o.release(func(f *flow) bool { return f.to == node })
		}
	}
}

// release lets go of what a trap holds, of packets to a node or to all.
func (t *traps) release(r LetGo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.laid {
		if o.Node == r.Node && o.ID == r.ID {
			o.release(func(f *flow) bool { return r.To == "" || f.to == r.To })
		}
	}
}

func (o *trap) release(which func(f *flow) bool) {
	o.held = slices.DeleteFunc(o.held, func(f *flow) bool {
		if !which(f) {
			return false
		}
		for _, pass := range f.pass {
			pass()
		}
		return true
	})
}

// counts takes note of a packet that the trap may wait for, and reports whether it springs.
func (o *trap) counts(other string) bool {
	if to := o.Receivers(); len(to) > 0 && !slices.Contains(to, other) || o.sprung >= max(o.Most, 1) {
		return false
	}
	if o.passed++; o.passed <= o.Pass {
		return false
	}
	o.sprung++
	return true
}

// catch decides over a packet that has come from one node to another: pass lets one go on that waits.
func (t *traps) catch(from, to string, h headers.IP, pass func()) fate {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.laid) == 0 && len(t.doomed) == 0 {
		return goesOn
	}
	if t.gone(from) {
		return lost
	}
	of := endsOf(h)
	for _, o := range t.laid {
		i := slices.IndexFunc(o.held, func(f *flow) bool { return f.ends == of && of.protocol == headers.TCP })
		if i >= 0 {
			o.held[i].pass = append(o.held[i].pass, pass)
			return heldBack
		}
	}
	if !message(h) {
		return goesOn
	}
	if t.does(from); t.gone(from) {
		return lost
	}
	for _, o := range t.laid {
		switch {
		case o.Do == history.Finish && o.Node == to && o.On == history.Receives && t.doomed[to] == nil && o.counts(from):
			t.doom(o)
		case o.Do == history.Finish && o.Node == from && o.On == history.Sends && t.doomed[from] == nil && o.counts(to):
			t.doom(o)
		case o.Do == history.Hold && o.Node == from && o.counts(to):
			t.hold(o, &flow{to, of, time.Now(), []func(){pass}})
			return heldBack
		}
	}
	return goesOn
}

// hold has a packet wait, and all that comes behind it.
func (t *traps) hold(o *trap, f *flow) {
	o.held = append(o.held, f)
	if d, timed := o.Wait(); timed {
		time.AfterFunc(d, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			o.release(func(other *flow) bool { return other == f })
		})
	}
	what := "datagram"
	if f.ends.protocol == headers.TCP {
		what = fmt.Sprintf("connection of port %d", min(f.ends.from.Port(), f.ends.to.Port()))
	}
	tell := t.tell
	go tell(Sprung{ID: o.ID, Node: o.Node, To: f.to, What: fmt.Sprintf("%s %s→%s held", what, o.Node, f.to)})
}

// doom has a node end once it has done as much more as the trap says.
func (t *traps) doom(o *trap) {
	d := &doom{Trap: o.Trap, left: o.Effect}
	t.doomed[o.Node] = d
	if d.left == 0 {
		t.finish(d)
	}
}

// does takes note of something that a node does to the world.
func (t *traps) does(node string) {
	if d := t.doomed[node]; d != nil && !d.over {
		if d.left--; d.left < 0 {
			t.finish(d)
		}
	}
}

// gone reports whether nothing comes any more of what a node does: a trap has its machine die.
func (t *traps) gone(node string) bool {
	d := t.doomed[node]
	return d != nil && d.over && d.Crash
}

// finish ends a node, beside all else: who calls it may hold what that needs.
func (t *traps) finish(d *doom) {
	d.over = true
	state := history.Down
	if d.Crash {
		state = history.Crashed
	}
	tell := t.tell
	go func() {
		tell(Sprung{
			ID: d.ID, Node: d.Node, State: state, What: fmt.Sprintf("%s ends after %d of what it did on %s", d.Node, d.Effect, d.On),
		})
		t.end(d.Trap)
	}()
}

// writes takes note of a change of a node's disk, or a sync, and reports whether anything comes of it.
func (t *traps) writes(node string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.does(node)
	return !t.gone(node)
}

// lay lays traps, or takes them away.
func (a *agent) lay(all []history.Trap) {
	for _, t := range all {
		a.traps.set(t)
	}
	ending := a.traps.ending()
	for name, p := range a.places {
		switch {
		case p.volume == nil:
		case ending[name]:
			p.volume.disk.Watch(func() bool { return a.traps.writes(name) })
		default:
			p.volume.disk.Watch(nil)
		}
	}
}

// spring ends a node's processes, as a trap has it, and its machine with them.
func (a *agent) spring(t history.Trap) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.places[t.Node]
	if t.Crash && p.volume != nil {
		p.volume.disk.Crash()
	}
	err := p.unleash()
	if err == nil {
		err = Kill.send(p.procs, nil)
	}
	if v := p.volume; v != nil {
		killed := p.procs
		v.served.Hurry(func() bool { return slices.ContainsFunc(killed, first.alive) })
		if err == nil && t.Crash {
			err = v.remount()
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "agent: %s: %v\n", t.Name(), err)
	}
}

// catcher decides over the packets that arrive at a place.
func (a *agent) catcher(to string, places []Place) func(head []byte, pass func()) fate {
	from := map[netip.Addr]string{}
	for _, p := range places {
		for _, addr := range p.Addrs {
			from[addr] = p.Node
		}
	}
	return func(head []byte, pass func()) fate {
		h, _ := headers.Read(head)
		node := from[h.From]
		if node == "" {
			return goesOn
		}
		return a.traps.catch(node, to, h, pass)
	}
}

func endsOf(h headers.IP) ends {
	from, to, _ := h.Ports()
	return ends{h.Protocol, netip.AddrPortFrom(h.From, from), netip.AddrPortFrom(h.To, to)}
}

// message reports whether a packet carries data of a node's.
func message(h headers.IP) bool {
	_, to, ok := h.Ports()
	switch {
	case !ok:
		return false
	case h.Protocol == headers.UDP:
		return h.Size > udpHead && to < firstProbePort
	case len(h.Carried) <= headers.Flags:
		return false
	}
	return h.Size > int(h.Carried[headers.Flags-1]>>4)*4
}
