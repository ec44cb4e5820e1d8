package targets

import (
	"slices"

	"recount/history"
)

// keepsSynced is what all elections rest on that keep anything on disk: to vote, or to number a leadership, once.
const keepsSynced = "no disk loses what was synced, or fails to sync"

// OnDisk lets promises rest on the disks as well, of all nodes.
func OnDisk(promises ...Promise) []Promise {
	return OnDisksOf(everyNode, promises)
}

func everyNode(string) bool { return true }

// OnDisksOf lets promises rest on the disks of some nodes.
func OnDisksOf(keeps func(node string) bool, promises []Promise) []Promise {
	promises = slices.Clone(promises)
	for i := range promises {
		p := &promises[i]
		if p.While != "" {
			p.While += ", and "
		}
		p.While += keepsSynced
		unless := p.Unless
		p.Unless = func(did history.Changes) bool { return unless != nil && unless(did) || forgets(did, keeps) }
	}
	return promises
}

// Forgets reports whether a change makes any disk lose what was synced, or not sync it.
func Forgets(did history.Changes) bool { return forgets(did, everyNode) }

// forgets reports whether a change makes the disk of such a node lose what was synced, or not sync it. A process ends
// over a sync that fails, but its next life reads what was never written to the disk.
func forgets(did history.Changes, keeps func(node string) bool) bool {
	return slices.ContainsFunc(did.Disks, func(d history.Disk) bool { return keeps(d.Node) && (d.Wiped || d.SyncErrors > 0) })
}

// FailsDisk reports whether a change does anything to the disk of such a node.
func FailsDisk(did history.Changes, keeps func(node string) bool) bool {
	return slices.ContainsFunc(did.Disks, func(d history.Disk) bool { return keeps(d.Node) && d.DiskState != history.DiskState{} })
}

// FailsAnyDisk reports whether a change does anything to any disk.
func FailsAnyDisk(did history.Changes) bool { return FailsDisk(did, everyNode) }

// RefusesWrites reports whether a change makes any disk refuse what is written to it.
func RefusesWrites(did history.Changes) bool {
	return slices.ContainsFunc(did.Disks, func(d history.Disk) bool { return d.Full || d.WriteErrors > 0 || d.SyncErrors > 0 })
}
