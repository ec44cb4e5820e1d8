package workloads

import (
	"time"

	"recount/election"
	"recount/history"
)

// transfer has leaders asked to hand over.
func init() {
	register(&Workload{
		Name:    "transfer",
		About:   "leaders are asked to hand over, again and again, where they can",
		Needs:   election.Resign,
		Ops:     []history.F{history.Resign},
		First:   registerClients,
		Clients: 1,
		Start: func(s Scene) (stop func()) {
			return HandOver(s.Cluster, s.Recorder, s.Leader, 10*s.Bounds.Silence, s.First, s.Stride)
		},
	})
}

// HandOver asks the leader to hand over, again and again: the node that leader returns when it is time, if it is anybody.
func HandOver(c Cluster, r *history.Recorder, leader func() string, every time.Duration, process, stride history.Process) (stop func()) {
	k := &client{cluster: c, recorder: r, process: process, stride: stride, patience: every / 2}
	return again(c, every, func() {
		if n := leader(); n != "" {
			k.give(history.Op{F: history.Resign, Node: n}, election.Command{Do: election.Resign}, func(history.Type, string) {})
		}
	})
}

// Asker is a client that asks nodes to hand over, or to change members, when it is told to, one thing at a time.
type Asker struct{ client client }

// NewAsker returns one that gives up a question after patience; and with it its process, which is followed by that stride on.
func NewAsker(c Cluster, r *history.Recorder, patience time.Duration, process, stride history.Process) *Asker {
	return &Asker{client{cluster: c, recorder: r, process: process, stride: stride, patience: patience}}
}

// HandOver asks a node to hand over, to heir or with None to any. It calls done once, with ok if the node was asked while it
// led, fail if it certainly was not, and info if nobody knows; and with why.
func (a *Asker) HandOver(node string, heir election.ID, done func(t history.Type, problem string)) {
	a.client.give(history.Op{F: history.Resign, Node: node}, election.Command{Do: election.Resign, Heir: heir}, done)
}

// Reconfigure asks a node to have the cluster make somebody something. It calls done once, as HandOver does, with what the cluster
// has for who was added.
func (a *Asker) Reconfigure(node string, m history.Member, who election.ID, as election.Membership, done func(ticket uint64, t history.Type, problem string)) {
	var ticket uint64
	told := func(value uint64) { ticket = value }
	a.client.ask(history.Op{F: history.Reconfigure, Node: node, Value: &m}, election.Command{Do: election.Reconfigure, Who: who, As: as}, told,
		func(t history.Type, problem string) { done(ticket, t, problem) })
}
