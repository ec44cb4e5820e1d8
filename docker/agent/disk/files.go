//go:build unix

package disk

import (
	"syscall"
	"time"
)

// What can be done to what is in a file. The disk's lock is held.

func (d *Disk) read(i *inode, b []byte, off int64) (int, syscall.Errno) {
	d.touch(i)
	if !i.exempt && d.state.ReadErrors > 0 && d.rand.Float64() < d.state.ReadErrors {
		return 0, syscall.EIO
	}
	return i.data.read(b, off), 0
}

func (d *Disk) write(i *inode, b []byte, off int64) syscall.Errno {
	if err := d.change(i, i.data.room(off, int64(len(b)))); err != 0 {
		return err
	}
	i.data.write(b, off)
	if !i.unbuffered {
		d.last = extent{i, off, int64(len(b))}
	}
	i.mtime = time.Now()
	i.ctime = i.mtime
	return 0
}

func (d *Disk) truncate(i *inode, size int64) syscall.Errno {
	if err := d.change(i, 0); err != 0 {
		return err
	}
	before := len(i.data.pages)
	i.data.truncate(size)
	d.free(i, before-len(i.data.pages))
	i.mtime = time.Now()
	i.ctime = i.mtime
	return 0
}

// reserve takes room ahead of writes, and unless keep is set makes the file at least that long.
func (d *Disk) reserve(i *inode, off, n int64, keep bool) syscall.Errno {
	if err := d.change(i, i.data.room(off, n)); err != 0 {
		return err
	}
	i.data.reserve(off, n)
	if !keep {
		i.data.size = max(i.data.size, off+n)
	}
	return 0
}

// punch gives back the room of a stretch of the file, which reads as zeros from then on.
func (d *Disk) punch(i *inode, off, n int64) syscall.Errno {
	if err := d.change(i, 0); err != 0 {
		return err
	}
	before := len(i.data.pages)
	i.data.zero(off, n)
	d.free(i, before-len(i.data.pages))
	return 0
}

// sync puts a file or a folder on disk, and all that it takes to find it again.
func (d *Disk) sync(i *inode) syscall.Errno {
	if d.dies(i) {
		return syscall.EIO
	}
	if !i.exempt && d.state.SyncErrors > 0 && d.rand.Float64() < d.state.SyncErrors {
		d.giveUp(i)
		return syscall.EIO
	}
	d.settled(i)
	if !i.folder() {
		i.data.sync()
	}
	d.syncNames(i)
	return 0
}

// giveUp is a sync that fails.
func (d *Disk) giveUp(i *inode) {
	d.settled(i)
	i.data.giveUp()
}

// settled is called when a sync decides over what was written: no part of that is left to a crash.
func (d *Disk) settled(i *inode) {
	if d.last.i == i {
		d.last = extent{}
	}
}
