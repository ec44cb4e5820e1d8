package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/seed"
	"recount/sim/clock"
)

// node is one member: its process, which lives several lives, and its machine with a clock and a disk. It is the
// election.Env of whatever algorithm runs on it.
type node struct {
	c     *Cluster
	index int32
	id    election.ID
	name  string

	state   history.ProcState
	life    uint32        // counts the starts of the process
	ticket  uint64        // as which member it was added; 0 for who it was at first
	impl    election.Node // nil while the process is down
	rand    *rand.Rand
	timers  [election.MaxTimers]timer
	waiting []int32 // events that came while it stood still, in order

	wrote []byte // to its log
	panic string // that its last life ended in

	clock clock.Clock
	cpu   history.CPU
	disk  disk
	lag   time.Duration // how long its disk has let it wait, in the method under way
	busy  time.Duration // until when its disk keeps it waiting

	doomed *trap // has sprung, and ends the process in the middle of what it does,
	left   int   // after so many more things,
	torn   bool  // or has ended it: what is unwound does nothing more

	last   election.Status // what it last announced
	noted  election.Status // what traps last saw it be, also in the middle of a method
	looked bool            // they have, in this life: what it was when it started is nothing that it has become
	tenure uint64

	sees    func(election.Status) (again bool) // who watches it, every so often
	every   time.Duration
	changes int  // counts what it has announced
	shown   int  // how many of them the last look has shown; -1 before the first
	timed   bool // its status may change with time alone: it asked what time it was for it
}

// timer is one timer of an algorithm. Heartbeats push election timers ahead all the time, so setting a later deadline
// leaves the queued event where it is: when that one comes too early, it queues itself again.
type timer struct {
	set    bool
	local  time.Duration // the deadline on the node's clock
	queued bool
	at     time.Duration // when the queued event comes
	life   uint32        // tells the queued event from those it replaced
}

// start begins a life.
func (n *node) start() {
	n.life++
	n.state, n.torn, n.looked, n.panic = history.Up, false, false, ""
	n.rand = seed.New(n.c.seed, fmt.Sprintf("node %s life %d", n.name, n.life))
	n.last = election.Status{}
	if !n.guarded(n.begin) || !n.guarded(n.changed) {
		return
	}
	n.wait()
	if len(n.c.traps) > 0 {
		n.c.loosenStarted(n)
	}
	for _, f := range n.c.started {
		f(n.id, &Process{n, n.life})
	}
}

// begin has the algorithm begin.
func (n *node) begin() {
	n.enter()
	n.impl = n.c.new(n)
	n.impl.Start()
	n.leave()
}

// runs tells whether there is a process, be it that it stands still.
func (n *node) runs() bool {
	return n.state == history.Up || n.state == history.Paused || n.state == history.Frozen
}

// resign lets an algorithm that can do so give up its leadership before it ends.
func (n *node) resign() {
	r, ok := n.impl.(election.Resigner)
	if ok && n.guarded(func() { n.enter(); r.Resign(); n.leave() }) {
		n.guarded(n.changed)
	}
}

// stop ends a life: memory and timers are gone, and so is all that waited for the process.
func (n *node) stop(state history.ProcState) {
	n.state = state
	n.impl, n.sees = nil, nil
	n.busy, n.lag = 0, 0
	n.doomed = nil
	for i := range n.timers {
		n.timers[i] = timer{life: n.timers[i].life + 1}
	}
	for _, slot := range n.waiting {
		n.c.drop(slot)
	}
	n.waiting = n.waiting[:0]
	if state == history.Crashed {
		n.disk.lose()
	}
}

// resume lets a process that stood still see all at once what came meanwhile.
func (n *node) resume() {
	n.state = history.Up
	for _, slot := range n.waiting {
		n.c.queue.put(n.c.now, slot)
	}
	n.waiting = n.waiting[:0]
}

// changed announces the node's status if it is not what it was.
func (n *node) changed() {
	if n.lag > 0 {
		n.late(n.changed)
		return
	}
	n.timed = false
	n.enter()
	s := n.impl.Status()
	n.leave()
	n.noted, n.looked = s, true
	if s == n.last {
		return
	}
	n.changes++
	if len(n.c.traps) > 0 {
		n.c.loosen(n, s)
	}
	if n.c.met != nil {
		n.c.met.changed(n, s)
	}
	if s.Role == election.Leader && (n.last.Role != election.Leader || n.last.Term != s.Term) {
		n.tenure++
	}
	n.last = s
	if n.c.announce != nil {
		n.c.announce(n.name, n.view())
	}
}

func (n *node) view() history.View {
	v := history.ViewOf(n.last)
	if v.Role == history.Leader {
		v.Tenure = n.tenure
	}
	return v
}

// What follows is election.Env.

func (n *node) ID() election.ID            { return n.id }
func (n *node) Size() int                  { return len(n.c.nodes) }
func (n *node) Rand() *rand.Rand           { return n.rand }
func (n *node) StopTimer(t election.Timer) { n.timers[t].set = false }

func (n *node) Now() time.Duration {
	n.timed = true
	return n.clock.At(n.now())
}

func (n *node) Wall() time.Time {
	n.timed = true
	return clock.Epoch.Add(n.clock.Wall(n.now()))
}

func (n *node) Send(to election.ID, m election.Message) {
	if to < 1 || int(to) > len(n.c.nodes) {
		panic(misuse(fmt.Sprintf("sim: %s sends %s to a node %d that does not exist", n.name, m.Kind, to)))
	}
	if n.effect() {
		return
	}
	if len(n.c.traps) > 0 {
		defer n.springOn(history.Sends, &m, to)
	}
	if n.lag > 0 {
		n.sendLate(to, m)
		return
	}
	n.c.send(n.index, int32(to)-1, m)
}

func (n *node) SetTimer(t election.Timer, d time.Duration) {
	tm := &n.timers[t]
	tm.set, tm.local = true, n.Now()+d
	if at := n.clock.Until(n.c.now, tm.local); !tm.queued || at < tm.at {
		n.queue(t, at)
	}
}

func (n *node) queue(t election.Timer, at time.Duration) {
	tm := &n.timers[t]
	tm.life++
	tm.queued, tm.at = true, at
	e := n.c.queue.add(at)
	e.kind, e.node, e.timer, e.life = expire, n.index, t, tm.life
}

// expired handles a queued timer event: it may be one that was replaced, stopped, or pushed ahead.
func (n *node) expired(t election.Timer, life uint32) {
	tm := &n.timers[t]
	if life != tm.life {
		return
	}
	tm.queued = false
	if !tm.set {
		return
	}
	if at := n.clock.Until(n.c.now, tm.local); at > n.c.now {
		n.queue(t, at)
		return
	}
	tm.set = false
	n.enter()
	n.impl.Expire(t)
	n.leave()
	n.changed()
}

// setClock changes how the node's clock errs, and with it when its timers run out.
func (n *node) setClock(offset time.Duration, drift float64) {
	n.clock.Set(n.c.now, offset, drift)
	for t := range n.timers {
		if tm := &n.timers[t]; tm.set {
			n.queue(election.Timer(t), n.clock.Until(n.c.now, tm.local))
		}
	}
}

func (n *node) Granted(term uint64, candidate election.ID) {
	switch {
	case n.effect():
	case n.c.granted == nil:
	case n.lag > 0:
		n.late(func() { n.Granted(term, candidate) })
	default:
		n.c.outside(func() { n.c.granted(n.name, history.Vote{Term: term, For: candidate.String()}) })
	}
}

func (n *node) Applied(term, counter uint64, from election.ID) {
	if n.c.applied != nil && !n.torn {
		n.c.outside(func() { n.c.applied(n.name, history.Update{Term: term, Counter: counter, From: from.String()}) })
	}
}
