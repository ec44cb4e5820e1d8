package harness

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/workloads"
)

// resourceOf is a system's own resource: how to write to it, or how to hear of its writes; neither where it has none.
func resourceOf(system election.System) (election.Writer, election.WriteReader) {
	if g, ok := system.(election.Guard); ok {
		return g.Resource()
	}
	return nil, nil
}

// toldWrites makes ops of what logs tell of writes to the target's own resource. It belongs to the run's loop.
//
// A line is read a little after it was written. Where the nodes themselves tell that a write begins and how it ended, that it
// ended is recorded later by lag: a write whose beginning is recorded after that was truly begun after the other had ended,
// unless a line was under way for longer. What the resource itself tells is recorded as it is read: the order is its own.
type toldWrites struct {
	fence *workloads.Fence
	after func(d time.Duration, f func())
	lag   time.Duration
	begun map[toldWrite]workloads.Pending
}

type toldWrite struct {
	node  string
	value int64
}

// leastLag is how long a line may be on its way at least.
const leastLag = time.Second

// newToldWrites returns nil if no writes are wanted.
func newToldWrites(f *workloads.Fence, after func(time.Duration, func()), b history.Bounds) *toldWrites {
	if f == nil {
		return nil
	}
	return &toldWrites{f, after, max(leastLag, b.Silence), map[toldWrite]workloads.Pending{}}
}

// of is what takes note of lines in the log of a node; nil if nobody wants it.
func (t *toldWrites) of(node string) func(election.WriteNews) {
	if t == nil {
		return nil
	}
	return func(n election.WriteNews) { t.take(node, n) }
}

// take takes note of a line in the log of a node, or of the resource.
func (t *toldWrites) take(of string, n election.WriteNews) {
	by := of
	if n.Decided {
		if by = ""; n.By != election.None {
			by = n.By.String()
		}
	}
	which := toldWrite{by, n.Value}
	p, begun := t.begun[which]
	if n.Stage == election.Begun {
		if !begun {
			t.begun[which] = t.fence.Begin(by, n.Token, n.Value)
		}
		return
	}
	delete(t.begun, which)
	ended, why := history.Info, "its log does not tell the outcome"
	switch {
	case !begun && !n.Decided:
		why = "its log did not tell that it began"
	case n.Stage == election.Accepted:
		ended, why = history.OK, ""
	case n.Stage == election.Refused:
		ended, why = history.Fail, "the resource refused it"
	}
	if !begun {
		p = t.fence.Begin(by, n.Token, n.Value)
	}
	if n.Decided {
		p.Told(ended, why)
		return
	}
	t.after(t.lag, func() { p.Told(ended, why) })
}
