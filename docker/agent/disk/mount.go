//go:build unix

package disk

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mount is one time that a disk is served. A crash ends it: what still speaks to it then gets errors, and the machine's
// next life needs a new one. So nothing that a kernel remembers of a file outlives the machine.
type Mount struct {
	disk   *Disk
	root   *node
	server *fuse.Server
	hurry  atomic.Pointer[chan struct{}] // closed when those that wait for a sync are to die
	dying  atomic.Pointer[func() bool]   // whether some of those are still there; nil before any was to die
}

// forever is how long the kernel may remember what it was told: nobody else changes anything.
const forever = 24 * time.Hour

// Serve serves the disk to the kernel over a file of /dev/fuse that was mounted, and that belongs to it from now on. Who
// was served before is no more.
func (d *Disk) Serve(device int) (*Mount, error) {
	m := &Mount{disk: d}
	m.root = &node{m: m, i: d.root}
	hurry := make(chan struct{})
	m.hurry.Store(&hurry)
	timeout := forever
	server, err := fuse.NewServer(fs.NewNodeFS(m.root, &fs.Options{
		EntryTimeout: &timeout, AttrTimeout: &timeout, RootStableAttr: &fs.StableAttr{Ino: d.root.number}, NullPermissions: true,
	}), fmt.Sprintf("/dev/fd/%d", device), &fuse.MountOptions{
		MaxWrite: 256 << 10, DisableXAttrs: true, ExplicitDataCacheControl: true, EnableSymlinkCaching: true,
	})
	if err != nil {
		return nil, fmt.Errorf("serve the disk: %w", err)
	}
	m.server = server
	d.mu.Lock()
	d.served = m
	d.mu.Unlock()
	go server.Serve() // until the kernel has forgotten the mount
	return m, nil
}

// Hurry lets all syncs end that wait because the disk is slow: the processes that wait for them are to die. Those that they had asked
// for before, and that come to the disk only now, end at once, too, for as long as dying says that some of them are still there.
func (m *Mount) Hurry(dying func() bool) {
	m.dying.Store(&dying) // first: whoever comes too late for the channel sees it
	fresh := make(chan struct{})
	close(*m.hurry.Swap(&fresh))
}

// hurried tells whether nobody who is to live waits for what is asked of the disk.
func (m *Mount) hurried() bool {
	dying := m.dying.Load()
	return dying != nil && (*dying)()
}

// Forget has the kernel forget the contents of files: the next reads are from the disk, and feel its state.
func (m *Mount) Forget() { forget(&m.root.Inode) }

func forget(i *fs.Inode) {
	i.NotifyContent(0, 0) // an error says that there was nothing to forget
	for _, child := range i.Children() {
		forget(child)
	}
}

// enter takes the disk's lock for an operation of this mount. It fails when the machine has died.
func (m *Mount) enter() bool {
	m.disk.mu.Lock()
	if m.disk.served != m {
		m.disk.mu.Unlock()
		return false
	}
	return true
}
