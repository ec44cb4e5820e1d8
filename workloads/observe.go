// Package workloads is what clients do to an election: ask every node who leads, write to a resource as the leader, use a
// register that the leader keeps, have it send updates, and have it hand over.
package workloads

import (
	"time"

	"recount/history"
)

func init() {
	register(&Workload{
		Name:  "observe",
		About: "every node is asked who leads, again and again, and announces its changes; always on",
		Ops:   []history.F{history.Observe, history.Announce, history.Granted, history.Apply},
	})
}

// Observers ask every node for its view, again and again, and record what nodes announce by themselves.
type Observers struct {
	cluster  Cluster
	recorder *history.Recorder
	every    time.Duration
	patience time.Duration
	stopped  bool
	number   map[string]history.Process // by which the announcements of a node are recorded

	beginners []*beginner
}

// observer asks one node. It has at most one question under way.
type observer struct {
	*Observers
	node    string
	process history.Process
	stride  history.Process
	asked   time.Duration
	attempt *attempt
	tick    func()
	op      history.Op // what it recorded last
}

// attempt is where an answer is expected. An answer that comes after patience has ended finds its attempt given up.
type attempt struct {
	o    *observer
	busy bool
	done func(history.View, error)
}

// Patience is how long an answer is waited for where each node is asked once in every interval.
func Patience(every time.Duration) time.Duration { return max(10*every, 500*time.Millisecond) }

// Observe starts to ask each node once in every interval, but for those of whom silent says that they would not answer: what they
// announce is all that they tell. Processes number from first; stride is the number of all processes of the run, so that the number that
// follows a lost one is free.
func Observe(
	c Cluster, r *history.Recorder, nodes []string, silent func(node string) bool, every time.Duration, first, stride history.Process,
) *Observers {
	all := &Observers{cluster: c, recorder: r, every: every, patience: Patience(every), number: map[string]history.Process{}}
	for i, n := range nodes {
		o := &observer{Observers: all, node: n, process: first + history.Process(i), stride: stride}
		if all.number[n] = o.process; silent(n) {
			continue
		}
		o.op.F, o.op.Node = history.Observe, n
		o.attempt = o.newAttempt()
		o.tick = o.ask
		// Nodes are asked in turn, not all at once: what happens between two polls of one is seen at another.
		c.After(every*time.Duration(i)/time.Duration(len(nodes)), o.tick)
	}
	c.OnAnnounce(all.announce)
	c.OnGranted(func(node string, v history.Vote) {
		r.Append(history.Op{Time: c.Now(), Process: all.number[node], Type: history.OK, F: history.Granted, Node: node, Vote: v})
	})
	c.OnApplied(func(node string, u history.Update) {
		r.Append(history.Op{Time: c.Now(), Process: all.number[node], Type: history.OK, F: history.Apply, Node: node, Value: &u})
	})
	return all
}

// announce records what a node says by itself.
func (all *Observers) announce(node string, v history.View) {
	all.recorder.Append(history.Op{Time: all.cluster.Now(), Process: all.number[node], Type: history.OK, F: history.Announce, Node: node, View: v})
}

// Stop asks no more. Answers that are still due are recorded.
func (all *Observers) Stop() { all.stopped = true }

func (o *observer) ask() {
	if !o.stopped {
		o.cluster.After(o.every, o.tick)
	}
	if o.attempt.busy {
		if o.cluster.Now()-o.asked < o.patience {
			return
		}
		o.record(history.Info, history.View{}, "no answer")
		o.process += o.stride
		o.attempt = o.newAttempt()
	}
	if o.stopped {
		return
	}
	o.asked = o.cluster.Now()
	o.attempt.busy = true
	o.record(history.Invoke, history.View{}, "")
	o.cluster.Observe(o.node, o.attempt.done)
}

func (o *observer) newAttempt() *attempt {
	a := &attempt{o: o}
	a.done = func(v history.View, err error) {
		if a != o.attempt || !a.busy {
			return
		}
		a.busy = false
		if err != nil {
			o.record(history.Fail, history.View{}, err.Error())
			return
		}
		o.record(history.OK, v, "")
	}
	return a
}

func (o *observer) record(t history.Type, v history.View, problem string) {
	o.op.Time, o.op.Process, o.op.Type, o.op.View, o.op.Error = o.cluster.Now(), o.process, t, v, problem
	o.recorder.Record(&o.op)
}
