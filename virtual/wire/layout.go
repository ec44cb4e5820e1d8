// Package wire is what a node that runs in virtual time and its controller say to each other: a piece of shared memory,
// and a byte on a pipe each time that it is the other's turn.
//
// A node is a process of the operating system. It runs until nothing in it can go on at its present time. Then it
// *reports*: what it sent meanwhile, and when its next timer is due. The controller answers with a *grant*: what arrives
// and when, and a horizon, before which the node may go on by itself. Between a report and the next grant nothing
// of the node moves, so that whatever it does follows from the grants alone.
//
// This file, codec.go and datagram.go import nothing: they are also compiled into the node's standard library, as internal/virtual.
package wire

// Version of what is said here. A node refuses to run under a controller of another one.
const Version = 7

// Magic opens the shared memory.
const Magic = 0x656d69747472697 // "virttime"

// The descriptors that a node begins with, after the standard three.
const (
	MemoryFD = 3 // the shared memory
	GrantFD  = 4 // to read: a byte for each grant
	ReportFD = 5 // to write: a byte for each report
	TraceFD  = 6 // to write: scheduler events, if Header.Trace is set
)

// Env is the environment variable that makes a process a node, "1". The program does not see it.
const Env = "RECOUNT_VIRTUAL"

// The shared memory: the header, then room for the configuration's text, then for messages each way.
const (
	TextAt        = 4 << 10
	TextMax       = 60 << 10
	InAt          = 64 << 10
	Area          = 16 << 20 // room for messages in a direction
	OutAt         = InAt + Area
	Size          = OutAt + Area
	MaxData       = 256 << 10 // bytes in one message, at most
	FirstID       = 1         // sockets of the node's making count up from here,
	FirstAccepted = 1 << 31   // and those that the controller makes, by Accepted, from here
)

// Policies of scheduling: which of the goroutines that can run goes next.
const (
	FIFO       = iota // the one that became ready first
	Random            // any, drawn
	Priorities        // the one with the highest of drawn priorities, which change at drawn points (PCT, Burckhardt 2010)
)

// What a report says of why it was made.
const (
	Idle = iota // nothing can go on before Header.Next
	More        // the area for messages is full: take them, and grant again what was granted, without messages
)

// Header is at the beginning of the shared memory. All times are nanoseconds on the node's own monotonic clock, which the
// controller relates to true time: a clock that drifts is the controller's arithmetic, and timers drift with it.
type Header struct {
	Magic   uint64
	Version uint32
	TextLen uint32 // bytes of the configuration's text: lines of key=value, see Config

	// Set before the process starts.
	Seed     uint64
	Start    int64  // the time at which it begins
	Collect  int64  // time between garbage collections
	Policy   uint32 // of scheduling
	Preempt  uint32 // one wake-up in so many preempts who woke; 0 for none
	CPUs     uint32 // what runtime.NumCPU says
	IP       [4]byte
	Trace    uint32 // 1: write an Event to TraceFD for each scheduler event
	Files    uint32 // 1: tell of changes of files
	StopAt   uint64 // end, with the stacks of all goroutines, at this scheduler event; 0 for never
	SyncTime int64  // time that a sync takes on a healthy disk

	// A grant.
	Floor   int64     // it is at least this time
	Horizon int64     // go on by yourself before it
	Wall    int64     // the wall clock is the monotonic one plus this
	In      uint32    // bytes of messages in the area
	Turn    uint32    // 1: chance goes on as that of Seed, which is another now; the node takes it back
	Slow    int64     // added to each sync
	Errors  [3]uint32 // chance that a read, write, sync fails with EIO, of 1<<32
	Full    uint32    // 1: ENOSPC for what takes more room
	Die     uint64    // end, as by SIGKILL, before this many more changes of files have been made; 0 for never
	Torn    uint32    // of that last change, if it is a write, so many bytes are still written
	_       uint32

	// A report.
	Why    uint32 // Idle, More
	Out    uint32 // bytes of messages in the area; kept true all the time, so that a dying node's are not lost
	Now    int64
	Next   int64  // when the next timer is due; 0 for never
	Hash   uint64 // of all scheduler events so far
	Events uint64 // how many
	Wrote  uint32 // 1: it has changed or synced a file, or tried to
	_      uint32
}

// Chances in Header.Errors.
const (
	ReadError = iota
	WriteError
	SyncError
)

// Event is one step of the scheduler, as written to TraceFD. 40 bytes, native order.
type Event struct {
	Now  int64  // its time
	ID   uint64 // the goroutine, numbered from 1 in order of birth; 0 is the runtime
	Aux  uint64 // by kind: the function born ('N'), why it waits ('P'), how many could have run ('S'), where the heap ends ('T')
	Kind uint64 // N born, R ready, S scheduled, P parks, T time moves, G collection
	Hash uint64 // of all events up to this one
}
