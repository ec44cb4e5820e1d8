package nemesis

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"recount/history"
	"recount/internal/option"
)

// patience is how long a step waits for a node that its words can mean: there may be no leader just now.
const patience = 5 * time.Second

// retry is how often it looks.
const retry = 20 * time.Millisecond

// Nemesis carries out a schedule. It belongs to the run's loop.
type Nemesis struct {
	cluster  Cluster
	recorder *history.Recorder
	views    *Views
	rand     *rand.Rand

	active  []*active
	holds   history.States // what the cluster was last asked to be
	turns   []func()
	busy    bool
	stopped bool
	fired   int
	healed  func()
	waiting []*waiter
	traps   map[int]history.Fault // those with traps, as injected, by their numbers
	sprung  map[int]bool          // those of which one has sprung
	seeking []*active             // faults whose time has come, and whose words have meant nobody yet
	begun   time.Duration         // when the schedule did

	// Written says that somebody wrote the schedule. Then what had come to nothing when the run ended is recorded as failed, and
	// what was aimed at something that never came as idle. Of a drawn one that is so only of steps that waited for a cue: some steps of
	// it never find anybody.
	Written bool
}

// active is a fault that is under way.
type active struct {
	fault history.Fault // as injected, without the changes
	ports []int         // that its links are limited to; none for all
	shape Shape
	phase int
	now   history.Changes // what it imposes in this phase
	does  history.States  // the same, listed
	over  bool
	tried int // how often it was to be healed in vain, once all are

	since time.Duration // when its words were looked up first
	lacks error         // why they meant nobody the last time; nil before the first

	recorded bool // it does again what it did in an earlier run; the states come with each deed, not from a shape
}

// wants says what the fault imposes from now on.
func (a *active) wants(c history.Changes) { a.now, a.does = c, history.Listed(c) }

// members counts those that the fault changes.
func (a *active) members() int { return len(a.now.Members()) + len(a.fault.Members()) }

// New returns a nemesis that records what it does.
func New(c Cluster, r *history.Recorder, s *Views, rnd *rand.Rand) *Nemesis {
	n := &Nemesis{cluster: c, recorder: r, views: s, rand: rnd, traps: map[int]history.Fault{}, sprung: map[int]bool{}}
	s.cue = n.cued
	return n
}

// Start begins a schedule that was checked, now.
func (n *Nemesis) Start(s Schedule) {
	n.begun = n.cluster.Now()
	for _, st := range s {
		n.cluster.After(st.At, func() {
			if st.After == "" {
				n.fire(st, "")
			} else if !n.stopped {
				n.waiting = append(n.waiting, &waiter{step: st, since: n.cluster.Now()})
			}
		})
	}
}

// Heal ends all that is under way, fires nothing more, and calls done when the cluster was asked to be whole and has
// answered. It may be called at any time, but only once.
func (n *Nemesis) Heal(done func()) {
	n.stopped, n.healed = true, done
	n.miss()
	last := slices.Clone(n.active) // members are changed in a cluster that is whole
	slices.SortStableFunc(last, func(a, b *active) int { return a.members() - b.members() })
	for _, a := range last {
		n.turn(func() { n.heal(a) })
	}
	n.next()
}

// Holds is what the nemesis believes to have imposed on the cluster by now.
func (n *Nemesis) Holds() history.Changes { return n.holds.Changes() }

// turn queues something to be done when the cluster has done what it was asked before.
func (n *Nemesis) turn(f func()) {
	n.turns = append(n.turns, f)
	n.next()
}

func (n *Nemesis) next() {
	if n.busy {
		return
	}
	if len(n.turns) > 0 {
		f := n.turns[0]
		n.turns = n.turns[1:]
		n.busy = true
		f()
		return
	}
	if n.healed != nil && len(n.active) == 0 {
		done := n.healed
		n.healed = nil
		done()
	}
}

func (n *Nemesis) idle() {
	n.busy = false
	n.next()
}

// fire injects a step's fault, for the reason that it waited for, if any.
func (n *Nemesis) fire(st Step, reason string) {
	f, err := Find(st.Fault)
	if err != nil {
		panic(err) // the schedule was checked
	}
	values, err := option.Parse(f.Name, f.Options, st.With)
	if err != nil {
		panic(err) // the schedule was checked
	}
	a := &active{fault: history.Fault{Name: f.Name, Asked: st.asked(f), After: reason}}
	if len(f.Options) > 0 {
		a.fault.Params = maps.Clone(values.All())
	}
	if f.Ports {
		if a.ports = values.Ports(ports.Name); len(a.ports) == 0 {
			delete(a.fault.Params, ports.Name) // nothing to speak of
		}
	}
	if n.stopped {
		return
	}
	a.since = n.cluster.Now()
	n.seeking = append(n.seeking, a)
	n.aim(a, n.views.Leader(), func(aims [][]string) {
		a.shape = f.Shape(Scene{ID: a.fault.ID, Aims: aims, All: n.views.nodes, Voters: n.views.voters, Options: values, Rand: n.rand})
		n.active = append(n.active, a)
		n.enter(history.Inject, a, 0, aims)
		if f.Asks { // it is over when it was asked for
			n.turns = slices.Insert(n.turns, 0, func() { n.heal(a) })
			n.next()
		} else if st.For > 0 {
			n.cluster.After(st.For, func() { n.turn(func() { n.heal(a) }) })
		}
	})
}

// aim looks up a fault's words, again and again until they mean somebody, and lets it be injected. led is who led when
// it began to look.
func (n *Nemesis) aim(a *active, led string, inject func(aims [][]string)) {
	n.turn(func() {
		if n.stopped {
			n.idle()
			return
		}
		aims, err := n.views.resolve(a.fault.Asked, led, n.holds, n.rand)
		if err != nil && n.cluster.Now() < a.since+patience {
			a.lacks = err
			n.cluster.After(retry, func() { n.aim(a, led, inject) })
			n.idle()
			return
		}
		n.seeking = slices.DeleteFunc(n.seeking, func(b *active) bool { return a == b })
		n.fired++
		a.fault.ID = n.fired
		if err != nil {
			n.refuse(history.Inject, a, err)
			return
		}
		a.fault.Nodes = slices.Concat(aims...)
		inject(aims)
	})
}

// enter lets a fault enter a phase, once the phase's words mean somebody; aims are those that are looked up already.
func (n *Nemesis) enter(f history.F, a *active, phase int, aims [][]string) {
	p := a.shape.Phases[phase]
	if p.Then != nil {
		ready := true
		if aims == nil {
			var err error
			aims, err = n.views.resolve(p.Words, "", n.holds, n.rand)
			ready = err == nil
		}
		var c history.Changes
		if ready {
			c, ready = p.Then(aims)
		}
		if !ready {
			n.later(retry, a, phase)
			n.idle()
			return
		}
		p.Changes, a.fault.Nodes = c, slices.Concat(aims...)
	}
	was := a.now
	a.phase = phase
	a.wants(limited(p.Changes, a.ports))
	if f == history.Inject && a.now.Empty() {
		n.refuse(f, a, fmt.Errorf("there is nothing to do in a cluster of %d", len(n.views.nodes)))
		return
	}
	n.move(a)
	if !n.impose(f, a) {
		a.wants(was)
	}
}

// move lets a fault enter its next phase when the time of this one is over.
func (n *Nemesis) move(a *active) {
	if a.shape.Phases[a.phase].Sprung {
		return // see Sprung
	}
	next := a.phase + 1
	if next == len(a.shape.Phases) {
		if next = 0; !a.shape.Repeat {
			return
		}
	}
	n.later(a.shape.Phases[a.phase].For, a, next)
}

func (n *Nemesis) later(d time.Duration, a *active, phase int) {
	n.cluster.After(d, func() {
		n.turn(func() {
			if a.over {
				n.idle()
				return
			}
			n.enter(history.Change, a, phase, nil)
		})
	})
}

func (n *Nemesis) heal(a *active) {
	if a.over {
		n.idle()
		return
	}
	a.over = true
	n.active = slices.DeleteFunc(n.active, func(b *active) bool { return a == b })
	n.impose(history.Heal, a)
}

// impose asks the cluster to be what all active faults together want, and returns false if that cannot be. What recorded
// ones want is not told apart: it is so until the last of them heals.
func (n *Nemesis) impose(f history.F, a *active) bool {
	if a.recorded && len(n.active) > 0 {
		return n.bring(f, a, n.holds)
	}
	all := make([]history.States, len(n.active))
	for i, b := range n.active {
		all[i] = b.does
	}
	return n.bring(f, a, history.Together(all...))
}

// bring asks the cluster to be what is wanted of it, and records what became of that. It returns false, and nothing
// changes, if the cluster cannot be that.
func (n *Nemesis) bring(f history.F, a *active, want history.States) bool {
	fault := a.fault
	fault.Changes = changesTo(want, n.holds)
	if f == history.Change && fault.Empty() {
		n.idle()
		return true
	}
	if err := n.cluster.Can(fault.Changes); err != nil {
		n.refuse(f, a, err)
		return false
	}
	if f == history.Inject && len(fault.More[history.Traps]) > 0 {
		n.traps[fault.ID] = a.fault
	}
	was := n.holds
	n.holds = want
	n.record(history.Invoke, f, fault, nil)
	n.cluster.Apply(fault.Changes, func(e history.Effect) {
		fault.Spread = e.Spread
		if f == history.Heal && !a.recorded {
			fault.Idle = n.idled(fault.ID, e.Missed)
		}
		n.record(e.Seen, f, fault, e.Err)
		n.found(fault, e.Found)
		if f == history.Heal && e.Seen != history.OK && len(fault.Members())+len(fault.Owns()) > 0 {
			n.unhealed(a, was)
		}
		n.idle()
	})
	return true
}

// found records what has come true of an op of a fault that not all has.
func (n *Nemesis) found(fault history.Fault, c history.Changes) {
	if c.Empty() {
		return
	}
	fault.Changes, fault.Spread, fault.Found = c, 0, true
	n.record(history.Invoke, history.Change, fault, nil)
	n.record(history.OK, history.Change, fault, nil)
}

// unhealed keeps a fault whose members could not be changed back, for there may have been no majority to do so, or whose node could not be
// asked to end it. It is healed again soon, or when the recording says so; at the end not for ever.
func (n *Nemesis) unhealed(a *active, was history.States) {
	if n.stopped {
		if a.tried++; a.tried == triesAtEnd {
			return
		}
	}
	n.holds, a.over = was, false
	n.active = append(n.active, a)
	if n.stopped || !a.recorded {
		n.cluster.After(healAgain, func() { n.turn(func() { n.heal(a) }) })
	}
}

// How soon, and at the end how often, members are changed back where that did not work.
const (
	healAgain  = 2 * time.Second
	triesAtEnd = 5
)

// refuse records that something was not even tried. What is refused at its beginning is over.
func (n *Nemesis) refuse(f history.F, a *active, why error) {
	if f == history.Inject {
		a.over = true
		n.active = slices.DeleteFunc(n.active, func(b *active) bool { return a == b })
	}
	n.record(history.Invoke, f, a.fault, nil)
	n.record(history.Fail, f, a.fault, why)
	n.idle()
}

func (n *Nemesis) record(t history.Type, f history.F, fault history.Fault, err error) {
	op := history.Op{Time: n.cluster.Now(), Process: history.Nemesis, Type: t, F: f, Fault: &fault}
	if err != nil {
		op.Error = fmt.Sprint(err)
	}
	n.recorder.Append(op)
}
