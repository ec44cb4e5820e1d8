//go:build unix

package disk

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// What a kernel had written by itself, of all that no sync had made it write, when the machine died. It writes pages, lengths and names in an
// order of its own, and ext4, XFS and Btrfs each in another one: what programs fail over is a mix of old and new (Pillai et al., "All File Systems
// Are Not Created Equal", OSDI 2014, section 3).

// scatter draws what of that is on disk: each change of names, with those that it builds upon, and of each file that has a name then each page
// and the length.
func (d *Disk) scatter() {
	kept := make([]bool, len(d.pending))
	for k := range kept {
		kept[k] = d.rand.IntN(2) == 0
	}
	d.force(func(k int, _ record) bool { return kept[k] })
	d.root.scatter(d.rand, map[*inode]bool{})
}

// scatter draws that of the files below a folder, as it is on disk.
func (i *inode) scatter(rnd *rand.Rand, seen map[*inode]bool) {
	for _, name := range slices.Sorted(maps.Keys(i.saved)) {
		child := i.saved[name]
		switch {
		case seen[child]:
		case child.folder():
			child.scatter(rnd, seen)
		default:
			child.data.scatter(rnd)
		}
		seen[child] = true
	}
}

// scatter draws it of one file. Where it is as long as it was to become, what was not written of that reads as zeros; where it is as long as it
// was, nothing is cut off.
func (c *content) scatter(rnd *rand.Rand) {
	length := c.savedSize
	if c.size != length && rnd.IntN(2) == 0 {
		length = c.size
	}
	for _, i := range slices.Sorted(maps.Keys(c.dirty)) {
		switch p := c.pages[i]; {
		case rnd.IntN(2) == 0:
		case p != nil:
			c.saved[i] = p
		case i*pageSize < c.size || length == c.size:
			delete(c.saved, i)
		}
	}
	c.savedSize = length
}
