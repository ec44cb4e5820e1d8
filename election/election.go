// Package election is the contract between an election under test and Recount.
//
// An algorithm is an event-driven state machine, a Node: it owns no goroutine, no socket and no clock, and gets all of
// them from an Env. The same Node runs in the simulator, in virtual time, and in a container, over real sockets, clocks
// and disks. A server that exists already is a System instead: see there.
package election

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// Node is one member of an election. Its methods are never called concurrently, and none may block.
type Node interface {
	// Start is called once, before anything else. After a crash a new Node is made and started on the storage that
	// the old one left behind.
	Start()
	// Receive handles a message from another member. Messages may be lost, delayed, duplicated and reordered.
	Receive(from ID, m Message)
	// Expire handles a timer that was set and has run out.
	Expire(t Timer)
	// Status is the node's own view, now. It changes nothing, and what it says must hold together: one answer.
	Status() Status
}

// Env is all that a Node may touch of the world. It belongs to one Node and is used from within that Node's methods only.
type Env interface {
	// ID is the node's own number, from 1 to Size.
	ID() ID
	// Size is the number of members, the node itself included.
	Size() int
	// Now reads the node's monotonic clock: it never steps, but it may drift.
	Now() time.Duration
	// Wall reads the node's wall clock, which may step and drift.
	Wall() time.Time
	// Rand is the node's own source of randomness, derived from the run's seed.
	Rand() *rand.Rand
	// Send sends m to another member, as a datagram: it may never arrive. The message must not be changed afterwards.
	Send(to ID, m Message)
	// SetTimer makes Expire(t) happen once, after d on the node's monotonic clock. Setting a timer that is set already
	// replaces it; a d of zero or less expires as soon as may be.
	SetTimer(t Timer, d time.Duration)
	// StopTimer undoes SetTimer. Stopping a timer that is not set does nothing.
	StopTimer(t Timer)
	// Load, Store and Sync do not return when the disk fails: an algorithm has no way to go on then, and its process ends
	// where it stands, as that of a server does. The next life begins on what is left.

	// Load returns what was stored under key, or nil.
	Load(key string) []byte
	// Store writes value under key, and does not keep the slice. It survives the death of the process; only what was synced
	// survives that of the machine.
	Store(key string, value []byte)
	// Sync returns when all that was stored would survive the death of the machine.
	Sync()
	// Granted reports that this node has given its vote, so that voting twice can be seen from outside.
	Granted(term uint64, candidate ID)
	// Applied reports that this node has applied an update that a leader sent, by the number that the leader gave it: its
	// term, or 0, and a counter.
	Applied(term, counter uint64, from ID)
}

// ID numbers the members of an election from 1; 0 is nobody.
type ID int

// None is nobody.
const None ID = 0

var names = func() (s [256]string) {
	for i := range s[1:] {
		s[i+1] = "n" + strconv.Itoa(i+1)
	}
	return s
}()

// String is the name of the node in histories and on the command line: "n1"; "" for None.
func (id ID) String() string {
	if id >= 0 && int(id) < len(names) {
		return names[id]
	}
	return "n" + strconv.Itoa(int(id))
}

// Timer numbers the timers of one algorithm, from 0. There may be MaxTimers of them.
type Timer uint8

// MaxTimers is how many timers a Node may use.
const MaxTimers = 8

// Message is what members send each other: one flat struct for all algorithms, so that sending allocates nothing and
// every transport can carry it. An algorithm uses the fields it needs and says which.
type Message struct {
	Kind  string // the algorithm's own name for it, as its source has it: "RequestVote"
	Term  uint64
	Value uint64 // a second number: a counter, a log index, a maximum
	Node  ID     // somebody the message speaks of: a candidate, a leader
	OK    bool   // the answer, in answers
	List  []ID   // members, where the message carries many
	Data  []byte // anything else
}

// Role is the part a node plays.
type Role uint8

// The roles that algorithms have; one that has more maps them to these.
const (
	Follower Role = iota
	Candidate
	Leader
	Unknown // of a node that was asked before it knew anything: no evidence of what it or its term was
)

// Status is a node's view of the election.
type Status struct {
	Role   Role
	Term   uint64 // 0 where the algorithm has no terms
	Leader ID     // whom the node believes to lead; None when it does not know
	Tenure uint64 // of a leader that tells one: a number that each of its leaderships has another of; 0 where it tells none
}

// Resigner is a Node that can give up its leadership on purpose, so that a successor need not wait for a timeout.
type Resigner interface {
	// Resign gives up the leadership if this node has it.
	Resign()
}
