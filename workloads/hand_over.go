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
			k.give(history.Op{F: history.Resign, Node: n}, election.Command{Do: election.Resign}, func(history.Type) {})
		}
	})
}
