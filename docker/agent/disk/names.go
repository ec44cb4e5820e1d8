//go:build unix

package disk

import "syscall"

// What can be done to names, and to room. The disk's lock is held.

// change lets an operation that writes go on, or fails it as the disk's state has it; room is how many pages it takes.
func (d *Disk) change(i *inode, room int64) syscall.Errno {
	switch {
	case i.exempt:
	case d.dies(i):
		return syscall.EIO
	case d.state.WriteErrors > 0 && d.rand.Float64() < d.state.WriteErrors:
		return syscall.EIO
	case room > 0 && (d.state.Full || d.used+room > d.size/pageSize):
		return syscall.ENOSPC
	}
	if i.links > 0 && !i.folder() {
		d.used += room
	}
	return 0
}

// free takes note of room that was given back.
func (d *Disk) free(i *inode, pages int) {
	if i.links > 0 && !i.folder() {
		d.used -= int64(pages)
	}
}

// make makes a file, a folder or, with a target, a symbolic link.
func (d *Disk) make(dir *inode, name string, mode, uid, gid uint32, target string) (*inode, syscall.Errno) {
	if dir.entries[name] != nil {
		return nil, syscall.EEXIST
	}
	if err := d.change(dir, 1); err != 0 {
		return nil, err
	}
	i := d.inode(mode, uid, gid)
	i.target = target
	d.note(record{set: []binding{{dir, name, i}}, moved: []*inode{i}})
	return i, 0
}

func (d *Disk) link(i, dir *inode, name string) syscall.Errno {
	if dir.entries[name] != nil {
		return syscall.EEXIST
	}
	if err := d.change(dir, 1); err != 0 {
		return err
	}
	d.note(record{set: []binding{{dir, name, i}}, moved: []*inode{i}})
	return 0
}

// remove takes a name away, of a folder only if it is empty.
func (d *Disk) remove(dir *inode, name string, folder bool) syscall.Errno {
	i := dir.entries[name]
	switch {
	case i == nil:
		return syscall.ENOENT
	case folder && !i.folder():
		return syscall.ENOTDIR
	case !folder && i.folder():
		return syscall.EISDIR
	case len(i.entries) > 0:
		return syscall.ENOTEMPTY
	}
	if err := d.change(dir, 0); err != 0 {
		return err
	}
	d.leave(i)
	gone := binding{dir, name, nil}
	if d.unmade(gone, i) {
		return 0
	}
	r := record{set: []binding{gone}, moved: []*inode{i}}
	if folder {
		r.emptied = i
	}
	d.note(r)
	return 0
}

// leave gives back the room of a file that is about to lose its last name.
func (d *Disk) leave(i *inode) {
	if i.links == 1 {
		d.free(i, len(i.data.pages))
	}
}

// What may be asked of a renaming, as renameat2 of Linux has it.
const (
	noReplace = 1 << iota
	exchange
)

func (d *Disk) rename(dir *inode, name string, to *inode, newName string, flags uint32) syscall.Errno {
	i, was := dir.entries[name], to.entries[newName]
	switch {
	case i == nil:
		return syscall.ENOENT
	case flags&^(noReplace|exchange) != 0:
		return syscall.EINVAL
	case flags&noReplace != 0 && was != nil:
		return syscall.EEXIST
	case flags&exchange != 0 && was == nil:
		return syscall.ENOENT
	case i == was:
		return 0
	}
	if flags&exchange != 0 {
		if err := d.change(dir, 0); err != 0 {
			return err
		}
		d.note(record{set: []binding{{dir, name, nil}, {to, newName, i}, {dir, name, was}}, moved: []*inode{i, was}})
		return 0
	}
	r := record{set: []binding{{dir, name, nil}, {to, newName, i}}, moved: []*inode{i}}
	if was != nil {
		switch {
		case i.folder() && !was.folder():
			return syscall.ENOTDIR
		case !i.folder() && was.folder():
			return syscall.EISDIR
		case len(was.entries) > 0:
			return syscall.ENOTEMPTY
		}
		r.moved = append(r.moved, was)
		if was.folder() {
			r.emptied = was
		}
	}
	if err := d.change(dir, 0); err != 0 {
		return err
	}
	if was != nil {
		d.leave(was)
	}
	d.note(r)
	return 0
}
