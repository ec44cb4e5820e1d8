package history

import (
	"fmt"
	"strconv"
)

// Stall is of the harness, info: the machine itself stood still for Access.Value nanoseconds until Time.
const Stall F = "stall"

func init() {
	register(kind{
		name: Stall, alone: true, when: always,
		value: &payload{
			append: func(op *Op, b []byte) []byte {
				return append(strconv.AppendInt(append(b, `{"value":`...), op.Access.Value, 10), '}')
			},
			into: func(op *Op) any { return &op.Access },
		},
		fits: func(op *Op) error {
			if op.Access.Value < 0 || op.Access.Value >= int64(longest) {
				return fmt.Errorf("a stall of %d ns: want 0 or more, and less than %d", op.Access.Value, longest)
			}
			return nil
		},
	})
}
