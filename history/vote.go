package history

import (
	"errors"
	"strconv"

	"recount/internal/hint"
)

// Granted is ok without an invoke: a node reported that it granted a vote.
const Granted F = "granted"

// Vote is a vote that the op's node granted.
type Vote struct {
	Term uint64
	For  string
}

func init() {
	register(kind{
		name: Granted, alone: happened, ofNode: true, when: always,
		fits: func(op *Op) error {
			if op.Vote.For == "" {
				return hint.Add(errors.New("granted: a vote for nobody"), "for is who got it; where nobody did, no vote was granted")
			}
			return nil
		},
		value: &payload{
			append: func(op *Op, b []byte) []byte {
				b = strconv.AppendUint(append(b, `{"term":`...), op.Vote.Term, 10)
				b = appendString(append(b, `,"for":`...), op.Vote.For)
				return append(b, '}')
			},
			into: func(op *Op) any { return &op.Vote },
			scan: func(s *scanner, op *Op) {
				s.skip(`{"term":`)
				op.Vote.Term = s.count()
				s.skip(`,"for":`)
				op.Vote.For = s.text()
				s.skip(`}`)
			},
		},
	})
}
