package linear

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"

	"recount/history"
)

// What was done to a fenced resource long ago decides nothing any more. Where an accepted write W divides the accesses, so that
// of those before it
//
//   - no write had a higher token than W, nor than any access that is left may have been accepted with,
//   - each write had returned when W was begun, or was of unknown outcome and had a lower token than W,
//   - none was begun after one that is left had returned,
//
// and no access that is left and was begun before W returned can have read what they wrote, or been rejected for their sake
// alone, they have an order together with all that is left, and comes, if and only if they have one and the rest has one. The
// one goes before the other: all that is later than W finds what W wrote, or what came after it.

// Past looks for accesses that have no bearing any more on what is to come, among all that have ended, which are in the order of
// their calls, and those under way, which are given as of unknown outcome, or as reads. All that comes is later than what has
// been. It returns which of those that have ended can be forgotten, nil if none can; and whether there is no order of all of them
// as it is. It takes little time, and may find nothing.
func Past(ctx context.Context, ended, open []Access) (gone []bool, wrong bool) {
	p := newPast(ended, open)
	for part := mostParts; part > 0; part-- {
		if p.settled(ctx, len(p.all)*part/mostParts-1, -1) {
			return p.gone, false
		}
	}
	// The first writes of a token settle those of unknown outcome that had lower ones.
	if first := p.rise(); p.settled(ctx, first, 1) {
		return p.gone, false
	}
	all := slices.Concat(ended, slices.DeleteFunc(slices.Clone(open), func(a Access) bool { return a.Kind == Read }))
	slices.SortStableFunc(all, func(a, b Access) int { return int(min(max(a.Call-b.Call, -1), 1)) })
	return nil, glance(ctx, all) == illegal
}

// The latest write is tried first, and if those before it have no order that is easily found, one in each of so many parts; some
// near to it are tried if it does not divide.
const (
	mostParts = 4
	mostTries = 16
)

// glance decides in little time, or not at all.
func glance(ctx context.Context, all []Access) porcupine.CheckResult {
	found, parts := byLevels(all)
	for i := range parts {
		o := fenced(parts[i])
		t := newTimeline(o, o.Ops, State{})
		each := t.deep(ctx, limits{steps: lookSteps + lookStepsPer*len(o.Ops), bytes: small})
		if each.Answer != legal {
			return each.Answer
		}
	}
	return found.Answer
}

// past is the search for such a write.
type past struct {
	ended []Access
	all   []Access // the same, settled
	open  []Access
	until time.Duration // nothing that returned then or later divides them
	gone  []bool        // of all, those before the write that was tried last
}

func newPast(ended, open []Access) *past {
	p := &past{ended: ended, open: open, until: Never, gone: make([]bool, len(ended))}
	p.all = slices.Clone(ended)
	p.settle()
	for i := range open {
		if open[i].Kind == Read { // nobody knows what it will have read
			p.until = min(p.until, open[i].Call)
		}
	}
	return p
}

// settle makes a write of unknown outcome an accepted one if it was read, and all other writes of the same had surely been
// overwritten by then.
func (p *past) settle() {
	maybe := map[history.Access]int{} // a write of unknown outcome; -1 if there are several, or it is under way
	for i := range p.all {
		if a := &p.all[i]; a.Kind == Maybe {
			if _, known := maybe[a.Access]; known {
				i = -1
			}
			maybe[a.Access] = i
		}
	}
	for i := range p.open {
		if a := &p.open[i]; a.Kind == Maybe {
			maybe[a.Access] = -1
		}
	}
	if len(maybe) == 0 {
		return
	}
	maybe[history.Access{}] = -1 // nobody need have written that
	type write struct{ call, returned time.Duration }
	var sure []write // in the order of their returns; the call is the latest until then
	writes := map[history.Access][]write{}
	for i := range p.all {
		if a := &p.all[i]; a.Kind == Accepted {
			sure = append(sure, write{a.Call, a.Return})
			if _, doubtful := maybe[a.Access]; doubtful {
				writes[a.Access] = append(writes[a.Access], write{a.Call, a.Return})
			}
		}
	}
	slices.SortFunc(sure, func(a, b write) int { return cmp.Compare(a.returned, b.returned) })
	for i := 1; i < len(sure); i++ {
		sure[i].call = max(sure[i].call, sure[i-1].call)
	}
	for i := range p.all {
		r := &p.all[i]
		if r.Kind != Read {
			continue
		}
		m, known := maybe[r.Access]
		if !known || m < 0 || p.all[m].Call > r.Return {
			continue
		}
		over := time.Duration(-1) // what had returned before was overwritten
		if k := sort.Search(len(sure), func(k int) bool { return sure[k].returned >= r.Call }); k > 0 {
			over = sure[k-1].call
		}
		if !slices.ContainsFunc(writes[r.Access], func(w write) bool { return w.returned >= over && w.call <= r.Return }) {
			w := &p.all[m]
			w.Kind, w.Return = Accepted, min(w.Return, r.Return)
		}
	}
}

// rise is the place of the first accepted write with the highest token.
func (p *past) rise() (first int) {
	for i := range p.all {
		if a := &p.all[i]; a.Kind == Accepted && (a.Token > p.all[first].Token || p.all[first].Kind != Accepted) {
			first = i
		}
	}
	return first
}

// settled looks for a write that divides, from a place on in a direction, and reports whether those before it have an order.
func (p *past) settled(ctx context.Context, from, step int) bool {
	for i, tries := from, 0; i >= 0 && i < len(p.all) && tries < mostTries; i += step {
		w := &p.all[i]
		if p.ended[i].Kind != Accepted || w.Return >= p.until {
			continue
		}
		if tries++; p.divides(w) {
			before := p.before()
			return len(before) > 0 && glance(ctx, before) == legal
		}
	}
	return false
}

// before returns the accesses that are gone, as far as they have an order to be found.
func (p *past) before() (all []Access) {
	for i := range p.all {
		if p.gone[i] {
			all = append(all, p.all[i])
		}
	}
	return all
}

// divides reports whether a write does so, and marks what is gone then.
func (p *past) divides(w *Access) bool {
	highest, higher := uint64(0), uint64(0) // token of those before, for sure and at most
	first := w.Return                       // call of a read that overlaps
	for i := range p.all {
		a := &p.all[i]
		p.gone[i] = a.Return < w.Call || a.Kind == Maybe && a.Token < w.Token && a.Call < w.Call
		if p.gone[i] && a.Sure() {
			highest = max(highest, a.Token)
		}
		if p.gone[i] && a.Kind == Maybe {
			higher = max(higher, a.Token)
		}
		if a.Kind == Read && !p.gone[i] {
			first = min(first, a.Call)
		}
	}
	if higher = max(higher, highest); higher > w.Token {
		return false
	}
	// What was overwritten before any read began that overlaps cannot be what they show.
	over := time.Duration(-1)
	for i := range p.all {
		if a := &p.all[i]; a.Kind == Accepted && a.Return < first {
			over = max(over, a.Call)
		}
	}
	was, is := map[history.Access]bool{{}: over < 0}, map[history.Access]bool{}
	for i := range p.all {
		switch a := &p.all[i]; {
		case a.Kind != Accepted && a.Kind != Maybe:
		case p.gone[i] && a.Return >= over:
			was[a.Access] = true
		case !p.gone[i]:
			is[a.Access] = true
		}
	}
	for i := range p.open {
		if a := &p.open[i]; a.Kind == Maybe {
			if is[a.Access] = true; a.Token < higher && a.Call <= w.Return {
				return false
			}
		}
	}
	last := time.Duration(-1) // call of a read that is gone though it overlaps
	for i := range p.all {
		a := &p.all[i]
		switch {
		case p.gone[i]:
		case a.Kind == Rejected && a.Token < highest:
			p.gone[i] = true // it always has a place
		case a.Call > w.Return:
		case a.Kind == Read && was[a.Access]:
			if is[a.Access] {
				return false
			}
			p.gone[i], last = true, max(last, a.Call)
		case a.Kind == Read && !is[a.Access], a.Token < higher, a.Kind == Read && a.Access == (history.Access{}):
			return false // what nobody need have written would be there again, before W
		}
	}
	for i := range p.all {
		if !p.gone[i] && p.all[i].Return < last {
			return false
		}
	}
	return true
}
