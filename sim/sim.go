// Package sim runs an election in virtual time: one goroutine, one queue of events, and one seed. The same seed gives the
// same run, event for event. It is a simulation of what the algorithms see (messages, timers, clocks, disks, death),
// not of the machine below them.
package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/seed"
	"recount/sim/clock"
	"recount/sim/links"
)

// Config says what to simulate.
type Config struct {
	Nodes int
	Seed  uint64
	// New makes the algorithm of one node, at each of its starts.
	New func(env election.Env) election.Node
	// LatencyMin and LatencyMax bound how long a message travels over a healthy link; the default is 1 to 5 ms.
	LatencyMin, LatencyMax time.Duration
	// Work is how much may happen to nodes in a run, in events and messages sent, before it counts as Endless; 0 for no limit.
	Work uint64
	// Often are delays that After is called with again and again. To name them changes nothing but how long that takes.
	Often []time.Duration
	// Port is what nodes are said to exchange their messages on: it says which faults of a single port they feel.
	Port int
}

// maxNodes is how many nodes a cluster may have.
const maxNodes = 255

// Cluster is a simulated cluster and its loop. It is not safe for concurrent use.
type Cluster struct {
	now      time.Duration
	queue    queue
	nodes    []node
	names    []string // of them
	links    *links.Links
	port     int
	asks     []question
	unasked  []int32    // free places in asks
	answered []*command // whose place the next command takes
	seed     uint64
	clients  *rand.Rand
	disks    *rand.Rand
	network  *rand.Rand
	new      func(env election.Env) election.Node

	announce func(node string, v history.View)
	granted  func(node string, v history.Vote)
	applied  func(node string, u history.Update)
	started  []func(id election.ID, p *Process)
	exited   func(node string, code int)
	carried  func(Carried)
	held     map[way]string // what holds up messages under way; for who listens
	events   uint64
	work     work
	acting   int32 // whose algorithm is called, by its id; 0 for nobody's
	spoiled  *spoiled
	latency  time.Duration // the longest over a healthy link
	traps    []*trap
	sprung   func(id int, what string, did history.Changes)
	met      *Relations // what the run has shown, if somebody wants to know
}

// New makes a cluster of nodes that have not been started.
func New(cfg Config) (*Cluster, error) {
	if cfg.Nodes < 1 || cfg.Nodes > maxNodes {
		return nil, fmt.Errorf("%d nodes: want 1 to %d", cfg.Nodes, maxNodes)
	}
	if cfg.LatencyMax == 0 {
		cfg.LatencyMin, cfg.LatencyMax = time.Millisecond, 5*time.Millisecond
	}
	if cfg.LatencyMin < 0 || cfg.LatencyMax < cfg.LatencyMin {
		return nil, fmt.Errorf("latency of %v to %v", cfg.LatencyMin, cfg.LatencyMax)
	}
	c := &Cluster{
		nodes:   make([]node, cfg.Nodes),
		port:    cfg.Port,
		seed:    cfg.Seed,
		clients: seed.New(cfg.Seed, "clients"),
		disks:   seed.New(cfg.Seed, "disks"),
		network: seed.New(cfg.Seed, "network"),
		exited:  func(string, int) {},
		sprung:  func(int, string, history.Changes) {},
		latency: cfg.LatencyMax,
		work:    work{most: cfg.Work},
		new:     cfg.New,
	}
	for _, d := range cfg.Often {
		c.queue.lanes = append(c.queue.lanes, lane{delay: d})
	}
	boot := seed.New(cfg.Seed, "boot")
	for i := range c.nodes {
		id := election.ID(i + 1)
		c.names = append(c.names, id.String())
		c.nodes[i] = node{
			c: c, index: int32(i), id: id, name: c.names[i], state: history.Down, disk: newDisk(),
			// Machines were switched on at different times: monotonic clocks of two nodes say nothing to each other.
			// But they agree on the wall clock.
			clock: clock.New(time.Duration(boot.Int64N(int64(time.Hour)))),
		}
	}
	c.links = links.New(links.Config{
		Nodes: c.Nodes(), LatencyMin: cfg.LatencyMin, LatencyMax: cfg.LatencyMax, Rand: c.network,
	})
	return c, nil
}

// Start starts every node, within a few milliseconds of each other.
func (c *Cluster) Start() {
	for i := range c.nodes {
		c.After(time.Duration(c.clients.Int64N(int64(10*time.Millisecond))), c.nodes[i].start)
	}
}

// Nodes returns the names of the nodes in the order of their ids.
func (c *Cluster) Nodes() []string { return slices.Clone(c.names) }

// Now is the time since the run began.
func (c *Cluster) Now() time.Duration { return c.now }

// Events is the number of events that have happened.
func (c *Cluster) Events() uint64 { return c.events }

// After calls f once d has passed.
func (c *Cluster) After(d time.Duration, f func()) {
	e := c.queue.addAfter(d, c.now+max(d, 0))
	e.kind, e.fn = call, f
}

// OnStart calls f with every process that starts from now on.
func (c *Cluster) OnStart(f func(id election.ID, p *Process)) { c.started = append(c.started, f) }

// OnExit calls f when a node's process has ended by itself, because its disk failed it or its algorithm panicked.
func (c *Cluster) OnExit(f func(node string, code int)) { c.exited = f }

// OnAnnounce calls f with every change of view of a node, as it happens.
func (c *Cluster) OnAnnounce(f func(node string, v history.View)) { c.announce = f }

// OnGranted calls f with every vote that a node grants, as it does.
func (c *Cluster) OnGranted(f func(node string, v history.Vote)) { c.granted = f }

// OnApplied calls f with every update that a node applies, as it does.
func (c *Cluster) OnApplied(f func(node string, u history.Update)) { c.applied = f }

// Run lets all happen that happens until then. An *Endless is what it returns of nodes that do more than they may.
func (c *Cluster) Run(ctx context.Context, until time.Duration) (err error) {
	for goesOn := true; goesOn; {
		goesOn, err = c.run(ctx, until)
	}
	return err
}

// run is Run up to the next process that ends in a panic, be there one: then it goes on.
func (c *Cluster) run(ctx context.Context, until time.Duration) (goesOn bool, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Endless:
			err = p
		default:
			c.panicked(p)
			goesOn = true
		}
	}()
	for {
		e, lane := c.queue.first()
		if e == nil || e.at > until {
			break
		}
		at, slot := e.at, e.slot
		if c.queue.slab[slot].kind != call { // which is what the harness does, and its nemesis
			if c.work.done++; c.work.most > 0 && c.work.done > c.work.most {
				return false, c.endless()
			}
		}
		if c.events++; c.events%4096 == 0 && ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		c.queue.pop(lane)
		c.now = at
		c.happen(slot)
	}
	c.now = max(c.now, until)
	return false, nil
}

// happen makes an event take place and frees it, unless its process stands still: then it waits with the process.
func (c *Cluster) happen(slot int32) {
	e := &c.queue.slab[slot]
	switch e.kind {
	case call:
		f := e.fn
		c.queue.release(slot)
		f()
		return
	case answer:
		q := c.asks[e.ask]
		c.forget(e.ask)
		c.queue.release(slot)
		q.done(q.view, q.err)
		return
	case deliver:
		if p := c.packet(int32(e.from)-1, e.node, 0); !c.links.Passes(p) {
			c.tell(e.from, e.node, e.sent, c.linkIs(p), &e.msg)
			c.queue.release(slot)
			return
		}
		c.tell(e.from, e.node, e.sent, c.nodes[e.node].fate(), &e.msg)
		e.kind = handle
	case lost:
		c.tell(e.from, e.node, e.sent, "the link is reset", &e.msg)
		c.queue.release(slot)
		return
	case look:
		if n := &c.nodes[e.node]; e.life == n.life && n.same() {
			n.lookAgain(slot)
			return
		}
	}
	n := &c.nodes[e.node]
	switch n.state {
	case history.Paused, history.Frozen:
		n.waiting = append(n.waiting, slot)
		return
	case history.Up:
		if goes := n.cpu.Goes(c.now); goes > c.now {
			n.await(goes, slot)
			return
		}
	default:
		c.drop(slot)
		return
	}
	switch {
	case n.busy > c.now && e.kind != belated:
		c.queue.put(n.busy, slot)
	case n.disk.ill || len(c.traps) > 0:
		n.guarded(func() { n.take(slot) })
	default:
		n.take(slot)
	}
}

// take has a process that runs handle an event.
func (n *node) take(slot int32) {
	c := n.c
	e := &c.queue.slab[slot]
	switch e.kind {
	case handle:
		from, m := e.from, e.msg
		c.queue.release(slot)
		if len(c.traps) > 0 {
			n.springOn(history.Receives, &m, from)
		}
		if c.met != nil {
			c.met.handled(n, from, &m)
		}
		n.enter()
		n.impl.Receive(from, m)
		n.leave()
		n.changed()
	case expire:
		t, life := e.timer, e.life
		c.queue.release(slot)
		n.expired(t, life)
	case hosted, belated:
		f, life := e.fn, e.life
		c.queue.release(slot)
		if life == n.life {
			f()
		}
	case look:
		if e.life == n.life {
			n.looks(slot)
		} else {
			c.queue.release(slot)
		}
	case ask:
		q := e.ask
		c.queue.release(slot)
		n.changed() // what it says may depend on its clock
		c.asks[q].view = n.view()
		c.reply(q)
	}
	if n.lag > 0 {
		n.wait()
	}
}

// drop frees an event whose process is gone.
func (c *Cluster) drop(slot int32) {
	if e := &c.queue.slab[slot]; e.kind == ask {
		c.asks[e.ask].err = errDown
		c.reply(e.ask)
	}
	c.queue.release(slot)
}

var errDown = errors.New("connection refused")
