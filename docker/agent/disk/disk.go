//go:build unix

// Package disk is a disk that can fail: a file system in memory that a node's data volume is served from, through FUSE.
// It knows what of it would survive the death of the machine, and loses the rest on demand; it fills up, slows down,
// fails and is wiped on demand. The program that uses it is unmodified and notices no difference to a disk in good
// health, except in speed.
//
// What is on disk, in the worst case that is allowed:
//   - a file's bytes and length, as of its last sync (fsync, fdatasync, msync, O_SYNC);
//   - names as journal.go has it;
//   - owners, modes and times, which are never lost.
//
// A sync that failed has written nothing, and no later sync writes what it left out. A disk whose state is torn has some sectors more:
// of what was written last (torn.go).
package disk

import (
	"maps"
	"math"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"recount/history"
)

// diskSize is how much a disk holds, in bytes. It takes memory only for what was written.
const diskSize = 1 << 30

// unlimited is the size of a disk that holds whatever it is told: room is somebody else's affair.
const unlimited = math.MaxInt64

// Disk is one disk. It is safe for concurrent use.
type Disk struct {
	mu      sync.Mutex
	root    *inode
	pending []record // changes of names that are not on disk, in the order in which they were made
	inos    uint64   // given out so far
	size    int64    // how much it holds, in bytes
	used    int64    // pages taken
	last    extent   // what was written last, if it is not synced
	state   history.DiskState
	turned  chan struct{} // closed when the state changes
	rand    *rand.Rand    // decides which operations fail
	served  *Mount        // who may use it
	canary  *inode        // a file that no listing shows and no fault is done to
	watch   func() bool   // asked before each change and each sync; nil for nobody
	touched bool          // somebody read, changed or synced something on it
}

// inode is a file, a folder or a symbolic link.
type inode struct {
	number     uint64
	mode       uint32 // with its type
	uid, gid   uint32
	atime      time.Time
	mtime      time.Time
	ctime      time.Time
	links      int
	in         map[*inode]int    // how many names it has in which folders
	data       content           // of a file
	entries    map[string]*inode // of a folder: what is seen
	saved      map[string]*inode // and what is on disk
	target     string            // of a symbolic link
	exempt     bool              // no fault is done to it
	unbuffered bool              // the kernel remembers nothing of it
	mapped     bool              // of a mirror: it is written through memory, and may be otherwise than was told
}

// New returns an empty disk. Which of its operations fail is drawn from rnd.
func New(rnd *rand.Rand) *Disk {
	d := &Disk{size: diskSize, turned: make(chan struct{}), rand: rnd}
	d.root = d.inode(syscall.S_IFDIR|0o755, 0, 0)
	d.root.links = 1
	d.canary = d.hidden()
	d.canary.exempt = true
	return d
}

func (d *Disk) inode(mode, uid, gid uint32) *inode {
	d.inos++
	now := time.Now()
	i := &inode{number: d.inos, mode: mode, uid: uid, gid: gid, atime: now, mtime: now, ctime: now, in: map[*inode]int{}}
	switch mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
		i.entries, i.saved = map[string]*inode{}, map[string]*inode{}
	case syscall.S_IFREG:
		i.data = newContent()
	}
	return i
}

// hidden is a file without a name.
func (d *Disk) hidden() *inode {
	i := d.inode(syscall.S_IFREG|0o600, 0, 0)
	i.unbuffered = true
	return i
}

func (i *inode) folder() bool { return i.mode&syscall.S_IFMT == syscall.S_IFDIR }

// Set brings the disk into a state. A disk that turns wiped is emptied at once.
func (d *Disk) Set(s history.DiskState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.Wiped && !d.state.Wiped {
		d.root.saved = map[string]*inode{}
		d.canary.data = newContent()
		d.lose()
	}
	if s == d.state {
		return
	}
	d.state = s
	close(d.turned)
	d.turned = make(chan struct{})
}

// Watch has f asked before each change of the disk and each sync of something on it. If it says no, nothing comes of that, and the machine has died:
// see Crash. It must not use the disk.
func (d *Disk) Watch(f func() bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watch = f
}

// dies asks who watches whether something may be done to an inode. If not, the machine has died.
func (d *Disk) dies(i *inode) bool {
	d.touch(i)
	if i.exempt || d.watch == nil || d.watch() {
		return false
	}
	d.lose()
	return true
}

// touch takes note of who uses something on the disk: not of what tries it.
func (d *Disk) touch(i *inode) { d.touched = d.touched || !i.unbuffered }

// Touched tells whether anything on the disk was ever read, changed or synced: no fault of another one is felt.
func (d *Disk) Touched() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.touched
}

// State is the state that the disk is in.
func (d *Disk) State() history.DiskState {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

// Crash takes away all that is not on disk, and makes whoever uses the disk get nothing but errors: its machine is dead.
func (d *Disk) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lose()
}

func (d *Disk) lose() {
	d.served = nil
	close(d.turned) // nobody waits for this disk any more
	d.turned = make(chan struct{})
	last, kept := d.last.i, []sector(nil)
	if d.state.Torn {
		kept = d.tear()
	}
	if d.state.Scattered {
		d.scatter()
	}
	d.pending = nil
	d.used = 0
	d.canary.data.lose()
	seen := map[*inode]bool{d.root: true}
	d.last = extent{}
	d.root.revert(seen)
	if seen[last] {
		last.data.keep(kept)
	}
	for i := range seen {
		if !i.folder() {
			d.used += int64(len(i.data.pages))
		}
	}
}

// revert makes a folder, and all that is below it, what is on disk of it.
func (i *inode) revert(seen map[*inode]bool) {
	i.entries = maps.Clone(i.saved)
	for _, child := range i.entries {
		if !seen[child] {
			seen[child] = true
			child.links, child.in = 0, map[*inode]int{}
			if child.folder() {
				child.revert(seen)
			} else {
				child.data.lose()
			}
		}
		child.links++
		child.in[i]++
	}
}
