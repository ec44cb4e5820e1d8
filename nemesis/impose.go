package nemesis

import "recount/history"

// changesTo returns what has to change for a cluster that holds now to be what is wanted. A process that its disk made
// end is started again with the disk's healing, as whoever repairs a disk does.
func changesTo(want, now history.States) history.Changes {
	change := want.From(now)
	for k, s := range now {
		was, isDisk := s.(history.Disk)
		will, _ := want[k].(history.Disk)
		if !isDisk || !was.Fails() || will.Fails() {
			continue
		}
		p := history.Proc{Node: was.Node, State: history.Up}
		if want[p.Key()] == nil && now[p.Key()] == nil {
			change[p.Key()] = p
		}
	}
	return change.Changes()
}

// halted reports whether a node's process is held down or paused.
func halted(now history.States, node string) bool { return now[history.Proc{Node: node}.Key()] != nil }
