package agent

import "recount/history"

// Attach has a node's data volume served from a disk that can fail. It comes before the node's first process.
type Attach struct {
	Node   string `json:"node"`
	Path   string `json:"path"`   // the volume's folder, as the engine has it
	Target string `json:"target"` // where the node's container has it
	Seed   uint64 `json:"seed"`   // of which operations fail
}

// Detached tells that no disk is mounted any more.
type Detached struct{}

// wiped tells of a node whether a change wipes its disk.
func wiped(disks []history.Disk, node string) bool {
	for _, d := range disks {
		if d.Node == node {
			return d.Wiped
		}
	}
	return false
}
