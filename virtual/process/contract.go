// Package process runs one node in virtual time: a process of the operating system whose program was built with
// virtual/overlay, and that moves only by grants. What the network, the disk and the clock do is up to its owner.
package process

import (
	"fmt"
	"io"
	"os"
	"time"

	"recount/virtual/wire"
)

// Options say how a node begins.
type Options struct {
	Path string // the program
	Dir  string // that it begins in, below the root
	// Prefix is a command that runs the program, and keeps its descriptors: nice, taskset. May be empty.
	Prefix []string
	Args   []string // without the program's name
	Env    []string // all of its environment

	wire.Config
	IP       [4]byte
	Seed     uint64
	Policy   uint32        // of scheduling: wire.FIFO, …
	Preempt  uint32        // one wake-up in so many preempts; 0 for none
	Start    int64         // its monotonic clock when it begins, nanoseconds; at least 1
	SyncTime time.Duration // of a healthy disk
	Files    bool          // tell of changes of files
	StopAt   uint64        // end with all stacks at this scheduler event; 0 for never

	Stderr   io.Writer             // what the runtime itself writes: panics, stacks; an *os.File is best. May be nil
	Trace    *os.File              // takes a wire.Event for each scheduler event. May be nil
	Patience time.Duration         // how long the node may take, of CPU time, until it has nothing more to do at an instant; 0 means 20 s
	Waits    func(d time.Duration) // called now and then while it takes long, with how long it has taken of real time. May be nil
}

// Fitting is how many of some messages, from the first on, a grant has room for. It is one at least, if there is any.
func Fitting(messages []wire.Message) int {
	room := wire.Area
	for i, m := range messages {
		if room -= wire.MessageSize(len(m.Data)); room < 0 {
			return i
		}
	}
	return len(messages)
}

// Grant lets a node go on. Times are the node's own.
type Grant struct {
	Floor    int64 // it is at least this time
	Horizon  int64 // it may go on by itself before it
	Wall     int64 // the wall clock is the monotonic one plus this
	Disk     Disk
	Turn     uint64         // the seed that its chance goes on with from now on; 0 for that which it has. Set it in one grant only
	Messages []wire.Message // what arrives, in order of time, not before Floor; as many as Fitting tells
}

// Disk is how a node's disk behaves. The zero value is a healthy one.
type Disk struct {
	Slow   time.Duration // added to each sync
	Errors [3]uint32     // chance that a read, write, sync fails with EIO, of 1<<32
	Full   bool          // ENOSPC for what takes more room
	Die    uint64        // the process ends before this many changes of files more have been made; 0 for never. Set it in one grant only
	Torn   uint32        // and so many bytes of that last change, a write, are still written
}

// Report is what a node did with a grant.
type Report struct {
	Now      int64            // its time
	Next     int64            // when it wants to go on; 0 for never
	Messages []wire.Message   // valid until the next grant
	Hash     uint64           // of all of its scheduler events
	Events   uint64           // how many those were
	Wrote    bool             // it has changed or synced a file since the last report, or tried to
	Ended    *os.ProcessState // not nil: it has ended, and this is its last report
}

// Stuck is the error of a node that does not come to rest.
type Stuck struct {
	Path, What string
	Wrote      []byte // to its standard output and error, since its last report
	Stacks     string // of its goroutines, as the runtime prints them; empty if Options.Stderr is a file: they are there
}

func (e *Stuck) Error() string { return fmt.Sprintf("process: %s %s", e.Path, e.What) }
