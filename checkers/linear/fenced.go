package linear

import (
	"context"

	"recount/history"
)

// fenced is a fenced resource as an object that can be searched: it holds the value that was written last, and instead of a
// revision the highest token so far.
func fenced(all []Access) *Object {
	o := NewObject(false)
	o.fenced = true
	number := map[int64]int32{0: 0}
	for i := range all {
		a := &all[i]
		n, known := number[a.Value]
		if !known {
			n = int32(len(number))
			number[a.Value] = n
		}
		u := Op{Call: a.Call, Return: a.Return, Value: n, Revision: a.Token, Begin: int32(i), End: int32(i)}
		switch a.Kind {
		case Accepted, Maybe:
			u.Kind = accept
		case Rejected:
			u.Kind, u.Value = reject, 0
		case Read:
			u.Kind = look
		}
		o.Ops = append(o.Ops, u)
	}
	return o
}

// allOf decides parts of what happened to a fenced resource that depend on nothing but themselves: all of them are legal if
// and only if each part is. What was found counts, whatever else was not finished: one illegal part makes the whole illegal.
func allOf(ctx context.Context, parts [][]Access) Found {
	sum := ordered(0)
	for i := range parts {
		o := fenced(parts[i])
		switch found := o.search(ctx, o.Ops, memoryOf(ctx)); {
		case found.Answer == illegal:
			return Found{Answer: illegal, Steps: sum.Steps + found.Steps, died: -1}
		case found.Answer == unknown && sum.Answer == legal:
			found.Steps += sum.Steps
			sum = found
		default:
			sum.Steps += found.Steps
		}
	}
	return sum
}

// LastOrder returns of accesses that have no order the one at whose return the last order died; nil if it takes too much to find out.
func LastOrder(ctx context.Context, core []Access) (died *Access) {
	o := fenced(core)
	found := newTimeline(o, o.Ops, State{}).wide(ctx, limits{bytes: small}, false)
	if found.Answer != illegal {
		return nil
	}
	return &core[found.died]
}

// HeldAt returns what the resource may have held until one of all accesses returned, if the last order died then, and it was one of
// a few things; nil if not, or if it takes too much to find out.
func HeldAt(ctx context.Context, all []Access, died *Access) (held []history.Access) {
	var by []Access // what may have been done by then
	for _, a := range all {
		if a.Call > died.Return {
			break
		}
		if a.Return > died.Return {
			if a.Kind == Read || a.Kind == Rejected {
				continue
			}
			a.Kind, a.Return = Maybe, Never
		}
		by = append(by, a)
	}
	o := fenced(by)
	found := newTimeline(o, o.Ops, State{}).wide(ctx, limits{steps: lookSteps + lookStepsPer*len(by), bytes: small}, false)
	if found.Answer != illegal || by[found.died].At != died.At || len(found.held) == mostHeld { // there may be more
		return nil
	}
	value := map[int32]int64{}
	for i := range by {
		if u := &o.Ops[i]; u.Kind != reject {
			value[u.Value] = by[i].Value
		}
	}
	for _, s := range found.held {
		held = append(held, history.Access{Token: s.Revision, Value: value[s.Value]})
	}
	return held
}
