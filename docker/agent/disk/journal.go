//go:build unix

package disk

import "slices"

// Which names survive a crash.
//
// A change of names (create, link, unlink, rename, …) is a record. It is on disk once something forces it there: a sync
// of a file forces all changes of that file's own name and of those of the folders above it, so that it is found again
// where it was synced; a sync of a folder forces all changes in it. A record takes those before it along that it builds
// upon: of the same names, of the same files, of the folders above. What nothing has forced, a crash undoes, even if
// later changes elsewhere were forced.
//
// That is the least that ext4, XFS and Btrfs keep, all three; each of them keeps more, most of the time.

// record is one change of names that is not on disk yet.
type record struct {
	set     []binding
	moved   []*inode // whose names it changes
	above   []*inode // the folders that the names are in, and all above them
	emptied *inode   // a folder that it removes, which had to be empty
}

// binding gives a name in a folder to an inode, or with nil to none.
type binding struct {
	dir  *inode
	name string
	to   *inode
}

// note makes a change of names, and keeps in mind that it is not on disk.
func (d *Disk) note(r record) {
	for _, b := range r.set {
		r.above = b.dir.above(r.above)
	}
	for _, b := range r.set {
		b.bind()
	}
	d.pending = append(d.pending, r)
}

// unmade takes back the making of an inode with its one name, if nothing else in the journal builds upon that: that it was
// there leaves no trace on disk. It reports whether that is all that there was to its removal.
func (d *Disk) unmade(gone binding, i *inode) bool {
	if i.links > 1 || gone.dir.saved[gone.name] != nil {
		return false
	}
	made := -1
	for k, r := range d.pending {
		for _, b := range r.set {
			if b.dir == gone.dir && b.name == gone.name || b.to == i {
				if made >= 0 || len(r.set) > 1 {
					return false
				}
				made = k
			}
		}
		if k != made && (slices.Contains(r.moved, i) || slices.Contains(r.above, i)) {
			return false
		}
	}
	if made < 0 {
		return false
	}
	d.pending = slices.Delete(d.pending, made, made+1)
	gone.bind()
	return true
}

// bind changes what reads see.
func (b binding) bind() {
	if was := b.dir.entries[b.name]; was != nil {
		was.links--
		if was.in[b.dir]--; was.in[b.dir] == 0 {
			delete(was.in, b.dir)
		}
		delete(b.dir.entries, b.name)
	}
	if b.to != nil {
		b.to.links++
		b.to.in[b.dir]++
		b.dir.entries[b.name] = b.to
	}
}

// above adds a folder and those above it to a list, without repetitions.
func (i *inode) above(list []*inode) []*inode {
	if slices.Contains(list, i) {
		return list
	}
	list = append(list, i)
	for dir := range i.in {
		list = dir.above(list)
	}
	return list
}

// syncNames puts on disk the changes of names that a sync of an inode forces.
func (d *Disk) syncNames(i *inode) {
	above := i.above(nil)
	d.force(func(_ int, r record) bool {
		return slices.ContainsFunc(r.moved, func(m *inode) bool { return slices.Contains(above, m) }) ||
			slices.ContainsFunc(r.set, func(b binding) bool { return b.dir == i })
	})
}

// force puts on disk those of the pending changes of names that are wanted, by their numbers, and what they build upon.
func (d *Disk) force(wanted func(k int, r record) bool) {
	type place struct {
		dir  *inode
		name string
	}
	moved, places, dirs := map[*inode]bool{}, map[place]bool{}, map[*inode]bool{}
	var forced []record
	rest := d.pending[:0:0]
	for k, r := range slices.Backward(d.pending) {
		needed := wanted(k, r) || slices.ContainsFunc(r.moved, func(i *inode) bool { return moved[i] }) ||
			slices.ContainsFunc(r.set, func(b binding) bool { return dirs[b.dir] || places[place{b.dir, b.name}] })
		if !needed {
			rest = append(rest, r)
			continue
		}
		forced = append(forced, r)
		for _, b := range r.set {
			places[place{b.dir, b.name}] = true
		}
		for _, i := range slices.Concat(r.moved, r.above) {
			moved[i] = true
		}
		if r.emptied != nil {
			dirs[r.emptied] = true
		}
	}
	for _, r := range slices.Backward(forced) {
		for _, b := range r.set {
			if b.to == nil {
				delete(b.dir.saved, b.name)
			} else {
				b.dir.saved[b.name] = b.to
			}
		}
	}
	slices.Reverse(rest)
	d.pending = rest
}
