package history

import (
	"strconv"
	"time"
)

// ReadClock is of the harness, ok: what the clocks of the node's process told at Time; carries Reading.
const ReadClock F = "clock"

// Reading is by how much the clocks of a process were wrong.
type Reading struct {
	Wall      time.Duration `json:"wall"`      // ahead of the true time, or with a minus behind
	Monotonic time.Duration `json:"monotonic"` // what it has gained since the run began, or with a minus lost
	// Waits is by how much waits of the node inside the kernel may have been wrong so far: the kernel waits by a clock that is
	// right. 0 where no such wait was seen.
	Waits time.Duration `json:"waits,omitempty"`
}

func init() {
	register(kind{
		name: ReadClock, alone: happened, ofNode: true, when: always,
		value: &payload{
			append: func(op *Op, b []byte) []byte {
				b = strconv.AppendInt(append(b, `{"wall":`...), int64(op.Reading.Wall), 10)
				b = strconv.AppendInt(append(b, `,"monotonic":`...), int64(op.Reading.Monotonic), 10)
				if op.Reading.Waits != 0 {
					b = strconv.AppendInt(append(b, `,"waits":`...), int64(op.Reading.Waits), 10)
				}
				return append(b, '}')
			},
			into: func(op *Op) any { return &op.Reading },
		},
	})
}
