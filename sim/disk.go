package sim

import (
	"slices"
	"time"

	"recount/election"
	"recount/history"
)

// disk is what one node has stored. What was written survives the death of the process; what was synced survives that
// of the machine.
type disk struct {
	files []file
	at    map[string]int32 // of each key in files
	dirty []int32          // files that a sync has yet to take care of

	history.DiskState
	ill bool // it is in any state but the healthy one
}

// file is what there is of one key; nil is none.
type file struct {
	written, synced []byte
	dirty           bool
}

func newDisk() disk { return disk{at: map[string]int32{}} }

func (d *disk) load(key string) []byte {
	if at, ok := d.at[key]; ok {
		return slices.Clone(d.files[at].written)
	}
	return nil
}

func (d *disk) store(key string, value []byte) {
	at, ok := d.at[key]
	if !ok {
		at = int32(len(d.files))
		d.at[key] = at
		d.files = append(d.files, file{})
	}
	f := &d.files[at]
	f.written = put(f.written, value)
	if !f.dirty {
		f.dirty, d.dirty = true, append(d.dirty, at)
	}
}

// put has a buffer hold a value, which is not nil.
func put(buffer, value []byte) []byte {
	if buffer == nil {
		buffer = make([]byte, 0, len(value))
	}
	return append(buffer[:0], value...)
}

func (d *disk) sync() {
	for _, at := range d.dirty {
		f := &d.files[at]
		f.synced = put(f.synced, f.written)
	}
	d.clean()
}

// clean forgets that anything was not synced.
func (d *disk) clean() {
	for _, at := range d.dirty {
		d.files[at].dirty = false
	}
	d.dirty = d.dirty[:0]
}

// lose forgets what was not synced.
func (d *disk) lose() {
	for i := range d.files {
		if f := &d.files[i]; f.synced == nil {
			f.written = nil
		} else {
			f.written = put(f.written, f.synced)
		}
	}
	d.clean()
}

// wipe forgets all.
func (d *disk) wipe() {
	clear(d.at)
	d.files, d.dirty = d.files[:0], d.dirty[:0]
}

// set brings the disk into a state.
func (d *disk) set(s history.DiskState) {
	if s.Wiped && !d.Wiped {
		d.wipe()
	}
	d.DiskState = s
	d.ill = s != history.DiskState{}
}

// diskFailed is what an operation on a disk panics with that fails: no algorithm has a way to go on then, and its
// process ends, as that of a server does. It is recovered where the algorithm was called.
type diskFailed struct{}

// fail decides whether an operation of a sick disk fails that does so with this chance.
func (n *node) fail(chance float64) {
	if chance > 0 && n.c.disks.Float64() < chance {
		panic(diskFailed{})
	}
}

// guarded calls the algorithm, whose process ends if its disk fails it, a trap has it or it panics, and reports whether it goes on.
// Once the cluster's work has proved endless it calls none: healing is outside of Run, where nothing would break that off.
func (n *node) guarded(f func()) (goesOn bool) {
	if n.c.work.ended {
		return false
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case diskFailed:
			n.leave()
			n.exit(DiskStatus)
		case cutOff:
			n.leave()
			n.finish()
		case *Endless:
			panic(p)
		default:
			n.c.panicked(p)
		}
	}()
	f()
	if n.doomed != nil { // it had less to do than was waited for
		panic(cutOff{})
	}
	return true
}

// DiskStatus is the exit status of a process whose disk has failed it.
const DiskStatus = 255

// What follows is what election.Env says of storage.

func (n *node) Load(key string) []byte {
	n.fail(n.disk.ReadErrors)
	return n.disk.load(key)
}

func (n *node) Store(key string, value []byte) {
	if n.effect() {
		return
	}
	if n.disk.Full {
		panic(diskFailed{})
	}
	n.fail(n.disk.WriteErrors)
	n.disk.store(key, value)
}

// Sync takes its time on a slow disk: the process stands still, and all that it does after it, in the same method, is
// done so much later.
func (n *node) Sync() {
	if n.effect() {
		return
	}
	n.lag += n.disk.Slow
	if n.disk.SyncErrors > 0 && n.c.disks.Float64() < n.disk.SyncErrors {
		n.disk.clean() // what a failed sync has not written, no later one will
		panic(diskFailed{})
	}
	n.disk.sync()
}

// late does something as late as the process's disk has it.
func (n *node) late(f func()) {
	e := n.c.queue.add(n.now())
	e.kind, e.node, e.life, e.fn = belated, n.index, n.life, f
}

func (n *node) sendLate(to election.ID, m election.Message) {
	n.late(func() { n.c.send(n.index, int32(to)-1, m) })
}

// wait is called when the algorithm has returned: its process does nothing more until its disk has caught up.
func (n *node) wait() { n.busy, n.lag = n.now(), 0 }

// now is the true time as the process sees it, in the middle of a method.
func (n *node) now() time.Duration { return n.c.now + n.lag }
