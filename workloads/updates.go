package workloads

import (
	"time"

	"recount/election"
	"recount/history"
)

// updates has leaders send numbered updates.
func init() {
	register(&Workload{
		Name:   "updates",
		About:  "leaders send numbered updates to all, where the election orders any",
		Needs:  election.Update,
		Ops:    []history.F{history.Apply},
		Serves: []string{"ordered-updates"},
		Start:  func(s Scene) (stop func()) { return SendUpdates(s.Cluster, s.Nodes, commandEvery) },
	})
}

// SendUpdates asks every node once in every interval to send an update to all: those that lead do. What nodes apply of it
// they report by themselves.
func SendUpdates(c Cluster, nodes []string, every time.Duration) (stop func()) {
	return again(c, every, func() {
		for _, n := range nodes {
			c.Command(n, election.Command{Do: election.Update}, func(uint64, error) {})
		}
	})
}

// again calls f once in every interval, the first time after one, until it is stopped.
func again(c Cluster, every time.Duration, f func()) (stop func()) {
	stopped := false
	var next func()
	next = func() {
		if stopped {
			return
		}
		f()
		c.After(every, next)
	}
	c.After(every, next)
	return func() { stopped = true }
}
