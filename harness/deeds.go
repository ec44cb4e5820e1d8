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
	open := -1 // the place of the one that has not ended
	for i := range h.Ops {
		op := &h.Ops[i]
		var told history.Changes
		if op.Fault != nil {
			told = op.Fault.Changes
		}
		switch sprung := op.Process == history.Harness && op.F == history.Exit; {
		case sprung && !told.Empty(): // by a trap, which the nemesis takes up once it is done with what it is at
			d.deeds = append(d.deeds, deed{op.Time, op.Time, told, told, history.OK})
		case op.Process != history.Nemesis:
		case op.Type == history.Invoke:
			open = len(d.deeds)
			d.deeds = append(d.deeds, deed{op.Time, op.Time, told, told, op.Type})
		case open >= 0:
			begun := &d.deeds[open]
			begun.to, begun.came, open = op.Time, op.Type, -1
			if !told.Empty() {
				begun.did = told
			}
		case !told.Empty():
			d.deeds = append(d.deeds, deed{op.Time, op.Time, told, told, op.Type})
		}
	}
	for k := range d.deeds {
		x := &d.deeds[k]
		d.each = append(d.each, x.tried)
		if x.came != history.Fail {
			d.each = append(d.each, x.did)
		}
	}
	d.each = slices.DeleteFunc(d.each, history.Changes.Empty)
	d.all = sync.OnceValue(func() history.Changes { return history.InTurn(d.each) })
	return d
}

// inForce is what may be in force of what the nemesis did.
type inForce struct {
	states  history.States   // if it did what it told of, where nobody knows
	doubted []history.States // what may be instead
	lost    bool             // more than is kept may be
}

// mostDoubted is how much of what may be instead is kept.
const mostDoubted = 64

// add has a deed change it. What was done for sure is so whatever is in doubt besides.
func (f *inForce) add(x *deed) {
	before := f.states
	switch x.came {
	case history.Fail:
		return
	case history.OK:
		for i, s := range f.doubted {
			f.doubted[i] = s.With(x.did)
		}
	default:
		f.doubted = append(f.doubted, before, before.With(x.tried))
	}
	f.states = before.With(x.did)
	var apart []history.States
	for _, s := range f.doubted {
		same := func(o history.States) bool { return slices.Equal(o, s) }
		if !same(f.states) && !slices.ContainsFunc(apart, same) {
			apart = append(apart, s)
		}
	}
	if f.doubted = apart; len(apart) > mostDoubted {
		f.doubted, f.lost = nil, true
	}
}

// may reports whether something may be so of it.
func (f *inForce) may(is func(did history.Changes) bool) bool {
	return f.lost || is(f.states.Changes()) || slices.ContainsFunc(f.doubted, func(s history.States) bool { return is(s.Changes()) })
}

// lingers is for how long messages may still be under way that links with what is in force of it have kept.
func (f *inForce) lingers() (longest time.Duration) {
	for _, s := range append([]history.States{f.states}, f.doubted...) {
		late := map[[2]string]time.Duration{} // a packet suffers its link, and then its port
		for _, l := range s.Changes().Links {
			way := [2]string{l.From, l.To}
			late[way] = history.Sum(late[way], l.Keeps())
			longest = max(longest, late[way])
		}
	}
	return longest
}

// lapses returns when something is so of what the nemesis did: from when it set out to do it, for as long as that may be in force or a
// message under way that it has kept, and for as long as an election may take after it.
func (d *deeds) lapses(is func(did history.Changes) bool, elect time.Duration) (all []checkers.Lapse) {
	lapse := func(from, to, lingers time.Duration) {
		to = history.Sum(history.Sum(to, lingers), elect)
		if n := len(all); n > 0 && from <= all[n-1].To {
			all[n-1].To = max(all[n-1].To, to)
			return
		}
		all = append(all, checkers.Lapse{From: from, To: to})
	}
	var f inForce
	held, lingers := false, time.Duration(0)
	for k := range d.deeds {
		x := &d.deeds[k]
		before, kept := held, lingers
		f.add(x)
		held, lingers = f.may(is), f.lingers()
		if before || is(x.tried) || is(x.did) {
			lapse(x.from, x.to, max(kept, lingers))
		}
		if !held {
			continue
		}
		until := time.Duration(math.MaxInt64)
		if k < len(d.deeds)-1 {
			until = max(x.to, d.deeds[k+1].from)
		}
		lapse(x.to, until, lingers)
	}
	return all
}

// any reports whether something is so of one of some deeds, or of all of them together.
func (d *deeds) any(is func(did history.Changes) bool) bool {
	return slices.ContainsFunc(d.each, is) || is(d.all())
}
