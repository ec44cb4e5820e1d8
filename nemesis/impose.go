package nemesis

import (
	"slices"

	"recount/history"
)

// changesTo returns what has to change for a cluster that holds now to be what is wanted. A process that its disk made
// end, or want of memory, is started again with the healing, as whoever repairs a disk does.
func changesTo(want, now history.States) history.Changes {
	change := want.From(now).Changes()
	for s := range now.All() {
		if !history.Fails(s) || history.Fails(want.Of(s.Key())) {
			continue
		}
		p := history.Proc{Node: s.Key().Node, State: history.Up}
		if want.Of(p.Key()) == nil && now.Of(p.Key()) == nil && !slices.Contains(change.Procs, p) {
			change.Procs = append(change.Procs, p)
			slices.SortFunc(change.Procs, func(a, b history.Proc) int { return a.Key().Compare(b.Key()) })
		}
	}
	return change
}

// halted reports whether a node's process is held down or paused.
func halted(now history.States, node string) bool {
	return now.Of(history.Proc{Node: node}.Key()) != nil
}
