package history

import (
	"fmt"
	"strconv"
	"time"
)

// Stall is of the harness, info: the machine itself stood still for Access.Value nanoseconds until Time.
const Stall F = "stall"

func init() {
	register(kind{
		name: Stall, alone: noticed, when: always,
		value: &payload{
			append: func(op *Op, b []byte) []byte {
				return append(strconv.AppendInt(append(b, `{"value":`...), op.Access.Value, 10), '}')
			},
			into: func(op *Op) any { return &op.Access },
		},
		fits: func(op *Op) error {
			if op.Access.Value < 0 || op.Access.Value >= int64(Longest) {
				return fmt.Errorf("a stall of %d ns: want 0 or more, and less than %d", op.Access.Value, Longest)
			}
			return nil
		},
	})
}

// Standstills are the times in which the machine stood still, those that overlap as one.
type Standstills []standstill

type standstill struct{ from, to time.Duration }

// Add takes note of an op, in order of time, if it is a stall.
func (s *Standstills) Add(op *Op) {
	if op.F != Stall {
		return
	}
	is := standstill{max(op.Time-time.Duration(op.Access.Value), 0), op.Time}
	for n := len(*s); n > 0 && (*s)[n-1].to >= is.from; n-- {
		is.from = min(is.from, (*s)[n-1].from)
		*s = (*s)[:n-1]
	}
	*s = append(*s, is)
}

// Much is for how long the machine stood still in all of a time, and whether that is worth telling: less than a twentieth is a little.
func (s Standstills) Much(of time.Duration) (still time.Duration, much bool) {
	for _, is := range s {
		still += is.to - is.from
	}
	return still, 20*still > of
}

// Standstills are those of the history.
func (f *Frame) Standstills() (all Standstills) {
	for i := range f.Ops {
		all.Add(&f.Ops[i])
	}
	return all
}
