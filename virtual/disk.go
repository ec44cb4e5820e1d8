package virtual

import (
	"recount/virtual/process"
	"recount/virtual/wire"
)

// granted is what the node's disk does now to its processes.
func (n *node) granted() process.Disk {
	chance := func(p float64) uint32 { return uint32(min(p, 1) * (1<<32 - 1)) }
	return process.Disk{
		Slow: n.disk.Slow, Full: n.disk.Full,
		Errors: [3]uint32{
			wire.ReadError: chance(n.disk.ReadErrors), wire.WriteError: chance(n.disk.WriteErrors), wire.SyncError: chance(n.disk.SyncErrors),
		},
	}
}

// changed takes note of a change of files.
func (n *node) changed([]byte) {}

// lose forgets what was not synced.
func (n *node) lose() error { return nil }
