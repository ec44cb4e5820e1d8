//go:build unix

package disk

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node is a file as the kernel knows it.
type node struct {
	fs.Inode
	m *Mount
	i *inode
}

var (
	_ fs.NodeLookuper   = (*node)(nil)
	_ fs.NodeGetattrer  = (*node)(nil)
	_ fs.NodeSetattrer  = (*node)(nil)
	_ fs.NodeCreater    = (*node)(nil)
	_ fs.NodeMkdirer    = (*node)(nil)
	_ fs.NodeMknoder    = (*node)(nil)
	_ fs.NodeSymlinker  = (*node)(nil)
	_ fs.NodeReadlinker = (*node)(nil)
	_ fs.NodeLinker     = (*node)(nil)
	_ fs.NodeUnlinker   = (*node)(nil)
	_ fs.NodeRmdirer    = (*node)(nil)
	_ fs.NodeRenamer    = (*node)(nil)
	_ fs.NodeReaddirer  = (*node)(nil)
	_ fs.NodeOpener     = (*node)(nil)
	_ fs.NodeReader     = (*node)(nil)
	_ fs.NodeWriter     = (*node)(nil)
	_ fs.NodeAllocater  = (*node)(nil)
	_ fs.NodeFsyncer    = (*node)(nil)
	_ fs.NodeStatfser   = (*node)(nil)
)

// Files in a disk's root that no listing shows: one to try the disk on, which is another one whenever it is looked for,
// since the kernel lets nobody write to a file while it is synced, and one to which no fault is done.
const (
	probeName  = ".recount-probe"
	canaryName = ".recount-canary"
)

func (n *node) find(name string) *inode {
	if n.i == n.m.disk.root {
		switch name {
		case probeName:
			return n.m.disk.hidden()
		case canaryName:
			return n.m.disk.canary
		}
	}
	return n.i.entries[name]
}

// show tells the kernel of an inode.
func (n *node) show(ctx context.Context, i *inode, out *fuse.EntryOut) *fs.Inode {
	i.fill(&out.Attr)
	if i.unbuffered {
		out.SetEntryTimeout(1) // none would mean the default
	}
	return n.NewInode(ctx, &node{m: n.m, i: i}, fs.StableAttr{Mode: i.mode & syscall.S_IFMT, Ino: i.number})
}

func (i *inode) fill(out *fuse.Attr) {
	out.Ino, out.Mode, out.Owner = i.number, i.mode, fuse.Owner{Uid: i.uid, Gid: i.gid}
	out.Nlink, out.Blksize = uint32(i.links), pageSize
	out.SetTimes(&i.atime, &i.mtime, &i.ctime)
	switch {
	case i.folder():
		out.Nlink, out.Size = 2, pageSize
		for _, e := range i.entries {
			if e.folder() {
				out.Nlink++
			}
		}
	case i.mode&syscall.S_IFMT == syscall.S_IFLNK:
		out.Size = uint64(len(i.target))
	default:
		out.Size, out.Blocks = uint64(i.data.size), uint64(len(i.data.pages))*pageSize/512
	}
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if !n.m.enter() {
		return nil, syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	i := n.find(name)
	if i == nil {
		return nil, syscall.ENOENT
	}
	return n.show(ctx, i, out), 0
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if !n.m.enter() {
		return syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	n.i.fill(&out.Attr)
	return 0
}

func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if !n.m.enter() {
		return syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	if size, ok := in.GetSize(); ok {
		if err := n.m.disk.truncate(n.i, int64(size)); err != 0 {
			return err
		}
	}
	if mode, ok := in.GetMode(); ok {
		n.i.mode = n.i.mode&syscall.S_IFMT | mode&^syscall.S_IFMT
	}
	if uid, ok := in.GetUID(); ok {
		n.i.uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		n.i.gid = gid
	}
	if t, ok := in.GetATime(); ok {
		n.i.atime = t
	}
	if t, ok := in.GetMTime(); ok {
		n.i.mtime = t
	}
	n.i.ctime = time.Now()
	n.i.fill(&out.Attr)
	return 0
}

// make is all operations that make something with a name.
func (n *node) make(ctx context.Context, name string, mode uint32, target string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	uid, gid := uint32(0), uint32(0)
	if c, ok := fuse.FromContext(ctx); ok {
		uid, gid = c.Uid, c.Gid
	}
	if !n.m.enter() {
		return nil, syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	if n.i.mode&syscall.S_ISGID != 0 {
		gid = n.i.gid
	}
	i, err := n.m.disk.make(n.i, name, mode, uid, gid, target)
	if err != 0 {
		return nil, err
	}
	return n.show(ctx, i, out), 0
}

func (n *node) Create(
	ctx context.Context, name string, _ uint32, mode uint32, out *fuse.EntryOut,
) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	made, err := n.make(ctx, name, syscall.S_IFREG|mode&^syscall.S_IFMT, "", out)
	return made, nil, fuse.FOPEN_KEEP_CACHE, err
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.make(ctx, name, syscall.S_IFDIR|mode&^syscall.S_IFMT, "", out)
}

func (n *node) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG, syscall.S_IFIFO, syscall.S_IFSOCK:
		return n.make(ctx, name, mode, "", out)
	}
	return nil, syscall.EPERM // no devices here
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.make(ctx, name, syscall.S_IFLNK|0o777, target, out)
}

func (n *node) Readlink(context.Context) ([]byte, syscall.Errno) { return []byte(n.i.target), 0 }

func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	t, ok := target.(*node)
	if !ok || !n.m.enter() {
		return nil, syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	if err := n.m.disk.link(t.i, n.i, name); err != 0 {
		return nil, err
	}
	return n.show(ctx, t.i, out), 0
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	if !n.m.enter() {
		return syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	return n.m.disk.remove(n.i, name, false)
}

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	if !n.m.enter() {
		return syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	return n.m.disk.remove(n.i, name, true)
}

func (n *node) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	dir, ok := to.(*node)
	if !ok || !n.m.enter() {
		return syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	return n.m.disk.rename(n.i, name, dir.i, newName, flags)
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	if !n.m.enter() {
		return nil, syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	var list []fuse.DirEntry
	for name, i := range n.i.entries {
		list = append(list, fuse.DirEntry{Name: name, Mode: i.mode, Ino: i.number})
	}
	return fs.NewListDirStream(list), 0
}

func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if n.i.unbuffered {
		return nil, fuse.FOPEN_DIRECT_IO, 0
	}
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, b []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if !n.m.enter() {
		return nil, syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	k, err := n.m.disk.read(n.i, b, off)
	return fuse.ReadResultData(b[:k]), err
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, b []byte, off int64) (uint32, syscall.Errno) {
	if !n.m.enter() {
		return 0, syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	if err := n.m.disk.write(n.i, b, off); err != 0 {
		return 0, err
	}
	return uint32(len(b)), 0
}

// Modes of fallocate(2).
const (
	keepSize  = 1
	punchHole = 2
)

func (n *node) Allocate(_ context.Context, _ fs.FileHandle, off, size uint64, mode uint32) syscall.Errno {
	if !n.m.enter() {
		return syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	switch mode {
	case 0, keepSize:
		return n.m.disk.reserve(n.i, int64(off), int64(size), mode == keepSize)
	case punchHole | keepSize:
		return n.m.disk.punch(n.i, int64(off), int64(size))
	}
	return syscall.EOPNOTSUPP
}

// Fsync waits for as long as the disk has it, and then syncs. No signal shortens the wait, as none does on a real disk.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	d, hurry := n.m.disk, *n.m.hurry.Load()
	began := time.Now()
	if !n.i.unbuffered && n.m.hurried() {
		began = time.Time{}
	}
	for {
		if !n.m.enter() {
			return syscall.EIO
		}
		left, turned := d.state.Slow-time.Since(began), d.turned
		if left <= 0 || n.i.exempt {
			break
		}
		d.mu.Unlock()
		alarm := time.NewTimer(left)
		select {
		case <-alarm.C:
		case <-turned:
		case <-hurry:
			began = time.Time{}
		}
		alarm.Stop()
	}
	defer d.mu.Unlock()
	return d.sync(n.i)
}

func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	if !n.m.enter() {
		return syscall.EIO
	}
	defer n.m.disk.mu.Unlock()
	d := n.m.disk
	out.Bsize, out.Frsize, out.NameLen = pageSize, pageSize, 255
	out.Blocks = diskSize / pageSize
	out.Bfree = uint64(max(0, diskSize/pageSize-d.used))
	if d.state.Full {
		out.Bfree = 0
	}
	out.Bavail = out.Bfree
	out.Files = 1 << 20
	out.Ffree = out.Files - min(out.Files, d.inos)
	return 0
}
