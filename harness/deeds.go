package harness

import (
	"math"
	"slices"
	"sync"
	"time"

	"recount/checkers"
	"recount/history"
)

// deed is what the nemesis set out to do, and did.
type deed struct {
	from, to time.Duration // when it set out, and when it knew what came of it
	tried    history.Changes
	did      history.Changes // those that it told of in the end
	came     history.Type    // of it; Invoke if it never told
}

// deeds are all that the nemesis set out to do, one after the other.
type deeds struct {
	deeds []deed
	each  []history.Changes      // what they did, and what did not certainly fail
	all   func() history.Changes // of all of them together
}

func deedsOf(h *history.Frame) *deeds {
	d := &deeds{}
	open := false // the last of them has not ended
	for i := range h.Ops {
		op := &h.Ops[i]
		tells := op.Fault != nil && !op.Fault.Empty()
		switch n := len(d.deeds) - 1; {
		case op.Process != history.Nemesis:
		case op.Type == history.Invoke || tells && !open:
			if open = op.Type == history.Invoke; !tells {
				open = false
				break
			}
			d.deeds = append(d.deeds, deed{op.Time, op.Time, op.Fault.Changes, op.Fault.Changes, op.Type})
		case open:
			last := &d.deeds[n]
			last.to, last.came, open = op.Time, op.Type, false
			if tells {
				last.did = op.Fault.Changes
			}
		}
	}
	for k := range d.deeds {
		d.each = append(d.each, d.deeds[k].tried)
		if d.deeds[k].came != history.Fail {
			d.each = append(d.each, d.deeds[k].did)
		}
	}
	d.all = sync.OnceValue(func() history.Changes { return history.InTurn(d.each) })
	return d
}

// lapses returns when something is so of what the nemesis did: from when it set out to do it, for as long as that may be in force, and
// for as long as an election may take after it.
func (d *deeds) lapses(is func(did history.Changes) bool, elect time.Duration) (all []checkers.Lapse) {
	lapse := func(from, to time.Duration) {
		if to += min(elect, math.MaxInt64-to); len(all) > 0 && from <= all[len(all)-1].To {
			all[len(all)-1].To = to
			return
		}
		all = append(all, checkers.Lapse{From: from, To: to})
	}
	var inForce history.States
	var doubted []history.Changes // that may be
	holds := func() bool {
		return is(history.ChangesOf(slices.Collect(inForce.All())...)) || slices.ContainsFunc(doubted, is)
	}
	for k := range d.deeds {
		x := &d.deeds[k]
		before := holds()
		switch x.came {
		case history.OK:
			inForce = inForce.With(x.did)
		case history.Info, history.Invoke:
			doubted = append(doubted, history.ChangesOf(slices.Collect(inForce.All())...), x.tried)
			inForce = inForce.With(x.did)
		}
		if before || is(x.tried) || is(x.did) {
			lapse(x.from, x.to)
		}
		if !holds() {
			continue
		}
		until := time.Duration(math.MaxInt64)
		if k < len(d.deeds)-1 {
			until = d.deeds[k+1].from
		}
		lapse(x.to, until)
	}
	return all
}

// any reports whether something is so of one of some deeds, or of all of them together.
func (d *deeds) any(is func(did history.Changes) bool) bool {
	return slices.ContainsFunc(d.each, is) || is(d.all())
}
