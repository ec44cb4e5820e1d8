package shrink

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/sim"
)

// Decision is the message without which a run would not have broken what it breaks: the last of those.
type Decision struct {
	Message sim.Carried
	// Before is what had to come after it, if anything had: with the message later than this, nothing breaks.
	Before string
	At     time.Duration // when that was
}

func (d *Decision) String() string {
	m := d.Message
	words := fmt.Sprintf("%s %s→%s", m.Message.Kind, m.From, m.To)
	if m.Message.Term > 0 {
		words += fmt.Sprintf(" of term %d", m.Message.Term)
	}
	words = fmt.Sprintf("%s, which arrived at %.3fs, decided: without it nothing breaks.", words, m.Arrived.Seconds())
	if d.Before != "" {
		words += fmt.Sprintf(" Its order matters: had it come after %s at %.3fs, nothing would break either.", d.Before, d.At.Seconds())
	}
	return words
}

// maxTried is how many messages are tried.
const maxTried = 120

// decide looks for the message that decided: each that arrived before the violation was complete is lost in a run of its own,
// the last first. It is nil where no single one did, and of runs that are not simulated.
func (s *shrinker) decide(ctx context.Context) *Decision {
	r, v := s.result.Run, s.result.Verdict
	if r == nil || r.Plan.On != record.OnSim || len(r.Plan.Recorded) > 0 || v.To == 0 || !s.simulates {
		return nil
	}
	all, h, err := harness.Messages(ctx, r.Plan)
	if err != nil || harness.Same(r.History, h) != nil {
		return nil
	}
	begins, _ := r.Frame().Settled()
	all = slices.DeleteFunc(all, func(m sim.Carried) bool { return m.Lost != "" || m.Arrived > v.To || m.Arrived < begins })
	slices.SortStableFunc(all, func(a, b sim.Carried) int { return cmp.Compare(b.Arrived, a.Arrived) })
	breaks := func(m sim.Carried, late time.Duration) bool {
		o, err := harness.Spoiled(ctx, r.Plan, m, late)
		return err != nil || s.shows(o, r.Plan.Time) != nil
	}
	for i, m := range all[:min(len(all), maxTried)] {
		still := breaks(m, 0)
		if ctx.Err() != nil { // a run that was cut short may have broken it yet
			return nil
		}
		if still {
			continue
		}
		d := &Decision{Message: m}
		at, what := next(r.History, all[:i], m)
		if what != "" && at-m.Arrived < 30*time.Second && !breaks(m, at-m.Arrived+time.Millisecond) && ctx.Err() == nil {
			d.At, d.Before = at, what
		}
		return d
	}
	return nil
}

// next is what came next after a message at the node that got it: another message, of those later ones, or a change of what the
// node is that does not come of the message at once.
func next(h *history.History, later []sim.Carried, m sim.Carried) (at time.Duration, what string) {
	for _, o := range slices.Backward(later) {
		if o.To == m.To && o.Arrived > m.Arrived {
			at, what = o.Arrived, fmt.Sprintf("%s %s→%s", o.Message.Kind, o.From, o.To)
			break
		}
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Time <= m.Arrived || op.Type != history.OK || what != "" && op.Time >= at {
			continue
		}
		switch {
		case op.F == history.Announce && op.Node == m.To:
			return op.Time, fmt.Sprintf("%s became %s%s", op.Node, op.View.Role, inTerm(h.Frame().Setup(), op.View))
		case (op.F == history.Inject || op.F == history.Heal) && op.Fault != nil && slices.Contains(op.Fault.Nodes, m.To):
			return op.Time, fmt.Sprintf("the %s of %s", op.F, op.Fault.Name)
		}
	}
	return at, what
}
