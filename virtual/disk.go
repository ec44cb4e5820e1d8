package virtual

import (
	"errors"
	"fmt"
	"os"

	"recount/docker/agent/disk"
	"recount/history"
	"recount/internal/seed"
	"recount/virtual/process"
	"recount/virtual/wire"
)

// What a node's disk does to its processes is carried out by the kernel in each of them. What of its files a crash of the
// machine leaves is kept track of here, by the rules of the disks of containers.

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

// mirrored begins to keep track of the node's files.
func (n *node) mirrored() (err error) {
	if n.c.config.Disks {
		n.disks = seed.New(n.c.config.Seed, "disk of "+n.name)
		n.mirror, err = disk.NewMirror(n.root, n.disks)
	}
	return err
}

// lasting tells whether a change of files may outlive the process: all may, but for what it has open.
func lasting(b []byte) bool {
	c, ok := wire.ParseChange(b)
	return ok && c.Kind != wire.Hold && c.Kind != wire.Release
}

// changed takes note of a change of files.
func (p *proc) changed(b []byte) {
	c, ok := wire.ParseChange(b)
	if !ok || p.node.mirror == nil {
		return
	}
	f := p.files[c.File] // nil for one that has no name
	switch m := p.node.mirror; c.Kind {
	case wire.Create:
		m.Create(c.Path)
	case wire.Mkdir:
		m.Mkdir(c.Path)
	case wire.Hold:
		p.files[c.File] = m.Open(c.Path)
	case wire.Release:
		delete(p.files, c.File)
	case wire.Write:
		f.Write(c.Data, c.Offset)
	case wire.Truncate:
		if c.File == 0 {
			f = m.Open(c.Path)
		}
		f.Truncate(c.Offset)
	case wire.Sync:
		if c.File == 0 {
			m.SyncAll()
		}
		f.Sync()
	case wire.Unsynced:
		if c.File == 0 {
			m.GiveUpAll()
		}
		f.GiveUp()
	case wire.Rename:
		m.Rename(c.Path, c.To)
	case wire.Exchange:
		m.Exchange(c.Path, c.To)
	case wire.Link:
		m.Link(c.Path, c.To)
	case wire.Symlink:
		m.Symlink(c.Path, c.To)
	case wire.Remove:
		m.Remove(c.Path)
	case wire.Map:
		f.Map()
	}
}

// lose forgets what was not synced, but for what the state of the disk has a crash leave.
func (n *node) lose() error {
	if n.file != nil {
		n.file.Lost()
	}
	if n.mirror == nil {
		return nil
	}
	return n.mirror.Crash(n.root, n.disk)
}

// errUnfelt is that nobody can tell whether the state of a disk changes anything: it does if the node begins to use it.
var errUnfelt = errors.New("it has never written anything to its disk, so nobody feels what the disk does")

// setDisk brings the node's disk into a state. One that turns wiped is emptied at once.
func (n *node) setDisk(s history.DiskState) (err error) {
	was := n.disk
	n.disk = s
	if s != (history.DiskState{}) && !n.wrote {
		err = fmt.Errorf("%s: %w", n.name, errUnfelt)
	}
	if !s.Wiped || was.Wiped {
		return err
	}
	return errors.Join(n.wipe(), err)
}

// wipe empties the node's folders of data.
func (n *node) wipe() error {
	err := n.within(func(root *os.Root) (err error) {
		for _, p := range n.programs {
			if p.Data != "" {
				err = errors.Join(err, root.RemoveAll(inside(p.Data)))
			}
		}
		return err
	})
	return errors.Join(err, n.furnish())
}
