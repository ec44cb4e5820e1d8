//go:build linux

package agent

import (
	"errors"
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
	runs   map[string]func() bool // whether all processes of a node's present life still do; nil where it is known to have ended
	doomed map[string]*doom
	broken map[ends]string // connections of machines that have died, by those: what their kernels repeat does not arrive
	tell   func(Sprung)
	end    func(node string) // its processes, beside all else
}

// trap is a history.Trap that waits, and what has come of it.
type trap struct {
	history.LaidTrap
	held []*flow
}

// flow is a packet that waits, and behind it all that comes later over the same connection: TCP has an order.
type flow struct {
	to   string
	ends ends
	pass []func()
}

// ends are those of a connection, or of datagrams.
type ends struct {
	protocol byte
	from, to netip.AddrPort
}

// doom is what awaits a node's processes: they end before what they do next, once they have done so much more.
type doom struct {
	history.Trap
	left   int
	over   bool // they end now
	fallen bool // and have been ended
}

// fate is what becomes of a packet.
type fate int

const (
	goesOn fate = iota
	heldBack
	lost
)

func newTraps() *traps {
	return &traps{runs: map[string]func() bool{}, doomed: map[string]*doom{}, broken: map[ends]string{}, tell: func(Sprung) {}}
}

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
		t.laid = append(t.laid, &trap{LaidTrap: history.LaidTrap{Trap: s}})
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

// ending are the nodes whose packets count, or do not arrive: their processes are to be ended by traps, or have been.
func (t *traps) ending() map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	nodes := map[string]bool{}
	for _, o := range t.laid {
		if o.Do == history.Finish {
			nodes[o.Node] = true
		}
	}
	for node := range t.doomed {
		nodes[node] = true
	}
	for _, node := range t.broken {
		nodes[node] = true
	}
	return nodes
}

// begins takes note of a node's next life: what befell the last is over, and what waits for it goes on its way.
func (t *traps) begins(node string, runs func() bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.doomed, node)
	t.runs[node] = runs
	for _, o := range t.laid {
		if o.Until == history.UntilStart {
			o.release(func(f *flow) bool { return f.to == node })
		}
	}
}

// falls returns the trap that ends a node's life, if one does and was not carried out yet, and tells of it. If the node is killed its life
// is over in any case: nothing that still arrives there, or comes from there, is for a trap to wait for.
func (t *traps) falls(node string, killed bool) (by history.Trap, falls bool) {
	t.mu.Lock()
	d, tell := t.doomed[node], t.tell
	falls = d != nil && d.over && !d.fallen
	if falls || killed {
		delete(t.runs, node)
	}
	if falls {
		d.fallen = true
	} else if killed && d != nil && !d.over {
		delete(t.doomed, node)
	}
	t.mu.Unlock()
	if !falls {
		return by, false
	}
	state := history.Down
	if d.Crash {
		state = history.Crashed
	}
	tell(Sprung{ID: d.ID, Node: node, State: state, What: fmt.Sprintf("%s ends after %d of what it did on %s", node, d.Effect, d.On)})
	return d.Trap, true
}

// bury takes note that the processes are gone that a trap has ended. What comes from now on is of the node's next life.
func (t *traps) bury(node string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.doomed[node]; d != nil && d.fallen {
		delete(t.doomed, node)
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

// catch decides over a packet that has come from one node to another: pass lets one go on that waits.
func (t *traps) catch(from, to string, h headers.IP, pass func()) fate {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.laid)+len(t.doomed)+len(t.broken) == 0 {
		return goesOn
	}
	of, says := endsOf(h), message(h)
	if says {
		t.does(from)
	}
	switch _, broken := t.broken[of]; {
	case t.gone(from):
		if of.protocol == headers.TCP {
			t.broken[of] = from
		}
		return lost
	case broken && flags(h)&headers.SYN != 0: // its ports have come to be those of another
		delete(t.broken, of)
	case broken && flags(h)&headers.RST == 0: // who asks for it may be told that it is no more
		return lost
	}
	for _, o := range t.laid {
		i := slices.IndexFunc(o.held, func(f *flow) bool { return f.ends == of && of.protocol == headers.TCP })
		if i >= 0 {
			o.held[i].pass = append(o.held[i].pass, pass)
			return heldBack
		}
	}
	if !says {
		return goesOn
	}
	for _, o := range t.laid {
		switch {
		case o.Do == history.Finish && o.Node == to && o.On == history.Receives && t.mortal(to) && o.Counts(from):
			t.doom(o)
		case o.Do == history.Finish && o.Node == from && o.On == history.Sends && t.mortal(from) && o.Counts(to):
			t.doom(o)
		case o.Do == history.Hold && o.Node == from && o.Counts(to):
			t.hold(o, &flow{to, of, []func(){pass}})
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

// mortal reports whether a trap can end a node: it runs, and nothing else is ending it.
func (t *traps) mortal(node string) bool {
	runs := t.runs[node]
	return runs != nil && t.doomed[node] == nil && runs()
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
	go t.end(d.Node)
}

// writes takes note of a change of a node's disk, or a sync, and reports whether anything comes of it.
func (t *traps) writes(node string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.does(node)
	return !t.gone(node)
}

// spring ends a node's processes, as a trap has it, and waits until they are gone.
func (a *agent) spring(node string) {
	a.mu.Lock()
	a.fell(node, false)
	procs := a.places[node].procs
	a.mu.Unlock()
	for slices.ContainsFunc(procs, first.alive) {
		time.Sleep(lookEvery)
	}
	a.traps.bury(node)
}

// fell ends a node's processes, and its machine with them, where a trap has that come and it was not done yet. killed says that they are
// about to be ended in any case. The agent's lock is held: who learns that the node has ended has learned of the trap before.
func (a *agent) fell(node string, killed bool) {
	t, falls := a.traps.falls(node, killed)
	if !falls {
		return
	}
	p := a.places[node]
	err := p.unleash()
	if err == nil {
		err = Kill.send(p.procs, nil)
	}
	if v := p.volume; v != nil {
		v.hurry(p.procs)
	}
	if t.Crash {
		err = errors.Join(err, p.dies())
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

// flags are those of a packet of TCP.
func flags(h headers.IP) byte {
	if h.Protocol != headers.TCP || len(h.Carried) <= headers.Flags {
		return 0
	}
	return h.Carried[headers.Flags]
}
