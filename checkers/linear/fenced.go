package linear

import (
	"context"
	"slices"

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
	o := fenced(all)
	k := slices.IndexFunc(all, func(a Access) bool { return a.At == died.At })
	for _, s := range o.heldAt(ctx, &o.Ops[k]) {
		a := history.Access{Token: s.Revision}
		for i := range all {
			if o.Ops[i].Kind != reject && o.Ops[i].Value == s.Value {
				a.Value = all[i].Value
			}
		}
		held = append(held, a)
	}
	return held
}
