package history

import (
	"fmt"
	"math"
	"time"

	"recount/internal/hint"
)

// Clock is how the clocks of one node err. The zero errors are a healthy clock.
type Clock struct {
	Node   string        `json:"node"`
	Offset time.Duration `json:"offset,omitempty"` // added to the wall clock
	Drift  float64       `json:"drift,omitempty"`  // 0.01: the wall and the monotonic clock gain one second in a hundred
}

// fits says why it is none, or nil.
func (c Clock) fits() error {
	if c.Drift <= -1 {
		return hint.Add(fmt.Errorf("%s: a drift of %v", c.Name(), c.Drift), "above -1, at which a clock stands still")
	}
	return nil
}

// Key implements State.
func (c Clock) Key() Key { return Key{Dimension: ofClocks, Node: c.Node} }

// Healthy implements State.
func (c Clock) Healthy() State { return Clock{Node: c.Node} }

// Merge implements State: jumps add up, and a clock that drifts against one that drifts gains by both. The product is rounded before it
// is added, on every processor.
func (c Clock) Merge(other State) State {
	o := other.(Clock)
	return Clock{Node: c.Node, Offset: c.Offset + o.Offset, Drift: c.Drift + o.Drift + float64(c.Drift*o.Drift)}
}

// Same implements State.
func (c Clock) Same(other State) bool {
	o := other.(Clock)
	return c.Offset == o.Offset && math.Abs(c.Drift-o.Drift) <= 1e-9
}

// Name implements State.
func (c Clock) Name() string { return "the clock of " + c.Node }

// Words implements State.
func (c Clock) Words() string {
	if c.Offset == 0 && c.Drift == 0 {
		return "right"
	}
	return fmt.Sprintf("wrong by %v and %g", c.Offset, c.Drift)
}
