package clock

import (
	"fmt"
	"time"
)

// Sample is what the clocks of a process told the process itself.
type Sample struct{ Wall, Monotonic Reading }

// Reading is what a clock told a process, and what the real one read right before and after.
type Reading struct{ Before, Read, After int64 }

// Wrong is by how much the clock was wrong, and by how much that may be out.
func (r Reading) Wrong() (wrong, accuracy time.Duration) {
	half := (r.After - r.Before) / 2
	return time.Duration(r.Read - r.Before - half), time.Duration(half)
}

// slack is how far a reading may be out: clocks of different cores agree less than a core with itself.
const slack = time.Microsecond

// Check tells whether the clocks erred by t.
func (s Sample) Check(t Timeline) error {
	for _, c := range []struct {
		name string
		line deviation
		Reading
	}{
		{"wall clock", t.deviations[realtime], s.Wall}, {"monotonic clock", t.deviations[monotonic], s.Monotonic},
	} {
		low, high := c.Before+c.line.at(c.Before), c.After+c.line.at(c.After)
		if c.Read < low-int64(slack) || c.Read > high+int64(slack) {
			wrong, accuracy := c.Wrong()
			return fmt.Errorf("its %s is wrong by %v ± %v, not by %v", c.name, wrong, accuracy, time.Duration(c.line.at(c.After)))
		}
	}
	return nil
}
