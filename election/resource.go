package election

import "context"

// Write is one write to a resource that the leader guards.
type Write struct {
	Token uint64 // the fencing token that is presented
	Value int64  // no two writes have the same
}

// Guard is a System that may have a resource of its own, which decides by itself what writes it takes. The workload fence
// is then about that one, not about Recount's.
type Guard interface {
	// Resource is how it is written to or how its writes are heard of: one of the two, or neither if there is none.
	Resource() (Writer, WriteReader)
}

// Writer writes to a target's own resource as a member would: from its place in the network.
type Writer interface {
	// Write reports whether the write was accepted. False means that it never will be, because the resource has accepted a
	// higher token; an error, that nobody knows. It may be called concurrently.
	Write(ctx context.Context, by Member, all []Member, w Write) (accepted bool, err error)
}

// WriteReader hears of writes from the logs of members.
type WriteReader interface {
	// ReadWrite returns what a line of a member's log tells of a write, and false for lines that tell of none. Lines of one
	// member come in order.
	ReadWrite(of ID, line string) (WriteNews, bool)
}

// WriteNews is what a line of a log tells of a write.
type WriteNews struct {
	Write
	By    ID // whose write it is; None where nobody says
	Stage WriteStage
	// Decided says that the resource itself wrote the line, as it decided: its lines come in the order of its decisions, and
	// nothing told that the write began.
	Decided bool
}

// WriteStage is how far a write has come.
type WriteStage uint8

// The stages. A write that was begun ends in one of the others, or nobody hears of its end.
const (
	Begun    WriteStage = iota + 1 // it is about to be sent
	Accepted                       // it took effect
	Refused                        // it never will
	Unclear                        // nobody knows
)
