package harness

import (
	"slices"
	"time"

	"recount/history"
	"recount/nemesis"
)

// readClocksEvery is how often the clocks of all nodes are read in a run that has faults of clocks.
const readClocksEvery = time.Second

// skews reports whether a plan has faults of clocks.
func (s *subject) skews() bool {
	return s.Schedule.Clocks() ||
		slices.ContainsFunc(s.Recorded, func(d nemesis.Action) bool { return len(d.Fault.Clocks) > 0 })
}

// watchClocks records what the clocks of the nodes tell, again and again and after each change of them.
func (r *run) watchClocks() {
	if !r.skews() {
		return
	}
	var again func()
	again = func() {
		r.readClocks()
		r.cluster.After(readClocksEvery, again)
	}
	r.cluster.After(0, again)
	r.recorder.Watch(func(op *history.Op) {
		if op.Process == history.Nemesis && op.Type != history.Invoke && op.Fault != nil && len(op.Fault.Clocks) > 0 {
			r.cluster.After(0, r.readClocks)
		}
	})
}

func (r *run) readClocks() {
	r.cluster.ReadClocks(func(readings map[string]history.Reading) {
		for _, node := range r.names {
			if told, ok := readings[node]; ok {
				r.append(history.Op{Process: history.Harness, Type: history.OK, F: history.ReadClock, Node: node, Reading: told})
			}
		}
	})
}
