// Package history is the record of a run: who did what to which node and when, what nodes said about who leads, and
// what the nemesis did to them. It is all that a checker ever sees, and it can be judged again without a cluster.
//
// The vocabulary is Jepsen's: an operation is begun by an invoke and ended by ok (it happened), fail (it certainly did
// not) or info (nobody knows).
package history

import "time"

// Op is one line of a history: the beginning or the end of an operation, or something that was seen to happen.
//
// F decides which of the fields from View to Value carries meaning; the others stay zero.
type Op struct {
	Index   int           // position in the history, from 0
	Time    time.Duration // since the run began, on the run's one monotonic clock
	Process Process       // who acts: a client, the nemesis or the harness
	Type    Type
	F       F
	Node    string // the node concerned; "" when none is
	View    View
	Access  Access
	Vote    Vote
	Reading Reading
	Reg     *Register
	Fault   *Fault
	Setup   *Setup
	Value   any    // what the kinds without a field of their own carry: a pointer
	Error   string // why the type is fail or info
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

// F is what an operation does. Each kind of operation says in a file of its own what sets it apart, and registers there:
// see kind.
type F string
