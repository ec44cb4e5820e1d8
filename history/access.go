package history

import "strconv"

// What leaders do to the resource that they guard.
const (
	Write F = "write" // client: write Access.Value under Access.Token; ok = accepted, fail = rejected
	Read  F = "read"  // client: read; ok carries what was read
)

// Access is one use of a resource that the leader guards.
type Access struct {
	Token uint64 // the fencing token presented (Write) or the highest accepted so far (Read)
	Value int64
}

func init() {
	access := &payload{
		append: func(op *Op, b []byte) []byte {
			b = strconv.AppendUint(append(b, `{"token":`...), op.Access.Token, 10)
			b = strconv.AppendInt(append(b, `,"value":`...), op.Access.Value, 10)
			return append(b, '}')
		},
		into: func(op *Op) any { return &op.Access },
		scan: func(s *scanner, op *Op) {
			s.skip(`{"token":`)
			op.Access.Token = s.count()
			s.skip(`,"value":`)
			op.Access.Value = s.number()
			s.skip(`}`)
		},
	}
	register(kind{name: Write, value: access, when: always})
	register(kind{name: Read, value: access, when: whenOK})
}
