package linear

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"recount/history"
)

// Access is one use of a resource that is guarded by fencing tokens.
type Access struct {
	Call, Return time.Duration // it took effect between them
	history.Access
	Kind AccessKind
	Lock bool  // a write is the acquisition of a lock, and told so
	At   int32 // where in the history it is
	Node string
	use  time.Duration // of a maybe: taking effect later than that, it would change nothing
}

// AccessKind is what an access was, and what became of it.
type AccessKind uint8

// The kinds of accesses.
const (
	Accepted AccessKind = iota // a write that was
	Rejected                   // a write that was
	Read
	Maybe // a write that may have been accepted, or may yet be
)

func (k AccessKind) String() string {
	return [...]string{Accepted: "accepted", Rejected: "rejected", Read: "seen", Maybe: "outcome unknown"}[k]
}

// Sure reports whether a shows that its token was accepted.
func (a *Access) Sure() bool { return a.Kind == Accepted || a.Kind == Read }

// String is the access without its value: "n1's write with token 5".
func (a *Access) String() string {
	what, by := "write", "a"
	switch {
	case a.Kind == Read:
		what = "read"
	case a.Lock:
		what, by = "acquisition", "an"
	}
	if a.Node != "" {
		by = a.Node + "'s"
	}
	return fmt.Sprintf("%s %s with token %d", by, what, a.Token)
}

// FenceModel is a register that accepts a write if no higher token was accepted before. Its state is what a read shows:
// the highest token accepted so far, and the value written last.
var FenceModel = porcupine.Model{
	Init: func() any { return &history.Access{} },
	Step: func(state, input, _ any) (bool, any) {
		s, a := state.(*history.Access), input.(*Access)
		switch fresh := a.Token >= s.Token; a.Kind {
		case Accepted:
			return fresh, &a.Access
		case Rejected:
			return !fresh, s
		case Read:
			return a.Access == *s, s
		default:
			if fresh {
				return true, &a.Access
			}
			return true, s
		}
	},
	Equal: func(a, b any) bool { return *a.(*history.Access) == *b.(*history.Access) },
	DescribeOperation: func(input, _ any) string {
		a := input.(*Access)
		return fmt.Sprintf("%s, value %d: %s", a, a.Value, a.Kind)
	},
	DescribeState: func(state any) string {
		s := state.(*history.Access)
		return fmt.Sprintf("token %d, value %d", s.Token, s.Value)
	},
}

// Operations makes accesses porcupine's. One of unknown outcome never returns.
func Operations(all []Access) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(all))
	clients := map[string]int{}
	for i := range all {
		a := &all[i]
		if _, known := clients[a.Node]; !known {
			clients[a.Node] = len(clients)
		}
		ops[i] = porcupine.Operation{ClientId: clients[a.Node], Input: a, Call: int64(a.Call), Return: int64(a.Return)}
	}
	return ops
}
