package sim

import (
	"maps"
	"slices"
)

// disk is what one node has stored. What was written survives the death of the process; what was synced survives that
// of the machine.
type disk struct {
	written map[string][]byte
	synced  map[string][]byte
}

func newDisk() disk { return disk{map[string][]byte{}, map[string][]byte{}} }

func (d *disk) store(key string, value []byte) { d.written[key] = slices.Clone(value) }

func (d *disk) sync() { maps.Copy(d.synced, d.written) }

// lose forgets what was not synced.
func (d *disk) lose() { d.written = maps.Clone(d.synced) }
