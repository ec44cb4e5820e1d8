// Package history is the record of a run: who did what to which node and when, what nodes said about who leads, and
// what the nemesis did to them. It is all that a checker ever sees, and it can be judged again without a cluster.
//
// The vocabulary is Jepsen's: an operation is begun by an invoke and ended by ok (it happened), fail (it certainly did
// not) or info (nobody knows).
package history

import "time"

// Op is one line of a history: the beginning or the end of an operation, or something that was seen to happen.
//
// F decides which of the fields from View to Setup carries meaning; the others stay zero.
type Op struct {
	Index   int           // position in the history, from 0
	Time    time.Duration // since the run began, on the run's one monotonic clock
	Process Process       // who acts: a client, the nemesis or the harness
	Type    Type
	F       F
	Node    string    // the node concerned; "" when none is
	View    View      // Observe (when ok), Announce
	Access  Access    // Write, Read
	Vote    Vote      // Granted
	Reading Reading   // ReadClock
	Reg     *Register // Get, Put, CAS, Acquire, Release
	Txn     *Txn      // Txns
	Update  *Update   // Apply
	Fault   *Fault    // Inject, Change, Heal
	Setup   *Setup    // Begin
	Error   string    // why the type is fail or info
}

// Process names who performs an operation. A process has at most one operation under way; one whose operation ended as
// info never acts again (its client takes a new number), so that its last operation may take effect at any later time.
type Process int32

// The processes that are no clients.
const (
	Nemesis Process = -1 // injects and heals faults
	Harness Process = -2 // begins and ends the run, reports stalls of the machine
)

// Type tells where in its life an operation is.
type Type uint8

// The types of ops.
const (
	Invoke Type = iota + 1 // begun
	OK                     // happened
	Fail                   // certainly did not happen, and never will
	Info                   // may have happened, or may yet
)

// F is what an operation does.
type F string

// What operations there are, who performs them, and what they carry.
const (
	Begin     F = "begin"    // harness, ok: the first op of a run; carries Setup
	Settle    F = "settle"   // harness, ok: the cluster has had the time to elect its first leader; schedules count from here
	End       F = "end"      // harness, ok: the last op of a run that was not cut short; info: nobody knows whether it was
	Compare   F = "compare"  // harness: is the cluster what the nemesis believes of it? ok = it is, fail = it is not
	Stall     F = "stall"    // harness, info: the machine itself stood still for Access.Value nanoseconds until Time
	Exit      F = "exit"     // harness, info: the node's process ended by itself; it stays down
	ReadClock F = "clock"    // harness, ok: what the clocks of the node's process told at Time; carries Reading
	Observe   F = "observe"  // client: ask a node for its view
	Announce  F = "announce" // ok without an invoke: a node reported a change of its view by itself, at Time or earlier
	Granted   F = "granted"  // ok without an invoke: a node reported that it granted a vote
	Write     F = "write"    // client: write Access.Value under Access.Token; ok = accepted, fail = rejected
	Read      F = "read"     // client: read; ok carries what was read
	Get       F = "get"      // client: read a register; ok carries what was read
	Put       F = "put"      // client: write a register
	CAS       F = "cas"      // client: write a register if it holds Reg.Old; fail = it did not, or nothing was tried
	Acquire   F = "acquire"  // client: take a lock
	Release   F = "release"  // client: give it back
	Txns      F = "txn"      // client: use several registers at once; ok carries what was read
	Apply     F = "apply"    // ok without an invoke: a node reported that it applied an update of a leader's
	Resign    F = "resign"   // client: ask a leader to hand over; ok = it was asked while it led
	Inject    F = "inject"   // nemesis: a fault begins; ok = seen to take effect, fail = it did not, info = not known
	Change    F = "change"   // nemesis: a fault that moves (a flapping link) takes its next shape
	Heal      F = "heal"     // nemesis: a fault ends
)

// Access is one use of a resource that the leader guards.
type Access struct {
	Token uint64 // the fencing token presented (Write) or the highest accepted so far (Read)
	Value int64
}

// Register is one use of a register, or of a lock.
type Register struct {
	Key      string `json:"key,omitempty"`      // which of several; "" where there is one
	Value    string `json:"value,omitempty"`    // written, or read; "" is nothing. Of a lock: who takes it or gives it back, where that counts
	Old      string `json:"old,omitempty"`      // CAS: what it takes
	Revision uint64 `json:"revision,omitempty"` // what the use left behind, where the store counts its writes; else 0
}

// Txn is several uses of registers that happen at once, in this order.
type Txn struct {
	Uses []Use `json:"uses"`
}

// Use is one of them.
type Use struct {
	F     F      `json:"f"` // Get or Put
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
}

// Update is what a leader had its followers do. Leaders number their updates: by their term first, then by a counter.
type Update struct {
	Term    uint64 `json:"term,omitempty"`
	Counter uint64 `json:"counter"`
	From    string `json:"from,omitempty"` // the leader
}

// Vote is a vote that the op's node granted.
type Vote struct {
	Term uint64
	For  string
}

// Reading is by how much the clocks of a process were wrong.
type Reading struct {
	Wall      time.Duration `json:"wall"`      // ahead of the true time, or with a minus behind
	Monotonic time.Duration `json:"monotonic"` // what it has gained since the run began, or with a minus lost
}
