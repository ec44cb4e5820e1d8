package checkers

import (
	"fmt"
	"time"

	"recount/history"
)

// misled is what a fault of clocks did to a node that no clock that errs does: waits inside the kernel go by a clock that
// is right, so those that a program computes the end of from one that errs end at the wrong time.
type misled struct {
	since time.Duration // the first fault of clocks began
	nodes set
	by    time.Duration // at the worst
}

// tolerable is by which share of a silence waits may be wrong before what a node does in time no longer counts.
const tolerable = 0.1

// mislead takes note of what became of the waits of a node.
func (g *gathering) mislead(op *history.Op) {
	if by := op.Reading.Waits; float64(by) >= tolerable*float64(g.setup.Bounds.Silence) {
		g.misled.nodes.add(g.node(op.Node))
		g.misled.by = max(g.misled.by, by)
	}
}

// excuse has a result be unknown that is invalid for how long something took, where nodes were misled by then.
func (m *misled) excuse(r *Result, names string) {
	if r.Verdict != Invalid || m.nodes == (set{}) || r.To < m.since {
		return
	}
	r.Verdict, r.Ops, r.From, r.To = Unknown, nil, 0, 0
	r.Why = fmt.Sprintf("waits of %s went wrong by up to %s, as no real clock that errs makes them: try without faults of clocks; but for that, %s",
		names, lasted(m.by), r.Why)
}
