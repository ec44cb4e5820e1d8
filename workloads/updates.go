package workloads

import (
	"time"

	"recount/election"
	"recount/history"
)

// SendUpdates asks every node once in every interval to send an update to all: those that lead do. What nodes apply of it
// they report by themselves.
func SendUpdates(c Cluster, nodes []string, every time.Duration) (stop func()) {
	stopped := false
	var next func()
	next = func() {
		if stopped {
			return
		}
		for _, n := range nodes {
			c.Command(n, election.Command{Do: election.Update}, func(uint64, error) {})
		}
		c.After(every, next)
	}
	c.After(every, next)
	return func() { stopped = true }
}

// HandOver asks the leader to hand over, again and again: the node that leader returns when it is time, if it is anybody.
func HandOver(c Cluster, r *history.Recorder, leader func() string, every time.Duration, process, stride history.Process) (stop func()) {
	stopped := false
	k := &client{cluster: c, recorder: r, process: process, stride: stride, patience: every / 2}
	var next func()
	next = func() {
		if stopped {
			return
		}
		if n := leader(); n != "" {
			k.give(history.Op{F: history.Resign, Node: n}, election.Command{Do: election.Resign}, func(history.Type) {})
		}
		c.After(every, next)
	}
	c.After(every, next)
	return func() { stopped = true }
}
