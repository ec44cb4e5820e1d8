package checkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"recount/checkers/linear"
)

func init() {
	register(Checker{
		Property: "exclusive-leadership",
		Holds:    "no two nodes are leader at one instant, whatever their terms: what leases and locks promise",
		check:    exclusiveLeadership,
	})
}

// hold is a leadership as the use of a lock: taken by its first claim at the latest, given back after its last one at
// the earliest. If these are in the wrong order it may have lasted no more than an instant, some time between them.
type hold struct {
	taken, given time.Duration
	node         int
	lead         *leadership
}

// begin and end are where the time lies in which it may have been the shortest.
func (h *hold) begin() time.Duration { return min(h.taken, h.given) }
func (h *hold) end() time.Duration   { return max(h.taken, h.given) }

// clashes reports whether two nodes cannot have held the lock one after the other. Who gives it back at the very time
// at which another takes it may have been first.
func (h *hold) clashes(o *hold) bool {
	return h.node != o.node && (max(h.taken, o.taken) < min(h.given, o.given) || h.within(o) || o.within(h))
}

// within reports whether h can only have been while o was held.
func (h *hold) within(o *hold) bool {
	return h.given <= h.taken && o.taken < h.given && h.taken < o.given
}

// turn is an operation on the lock.
type turn struct {
	node string
	hold int
	take bool
}

// lockModel is a lock. Its state is the hold that has it, 0 for none.
var lockModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, _ any) (bool, any) {
		t := input.(turn)
		if t.take {
			return state == 0, t.hold
		}
		return state == t.hold, 0
	},
	DescribeOperation: func(input, _ any) string {
		t := input.(turn)
		if t.take {
			return t.node + " takes the lead"
		}
		return t.node + " gives it up"
	},
}

// exclusiveLeadership looks for two holds that clash. Where none do, each may have been as short as it can, and all of
// them one after the other: so that is all there is to decide. porcupine confirms the clash.
func exclusiveLeadership(ctx context.Context, f *facts) Result {
	if why := f.blind(); why != "" {
		return unknown(nil, "%s", why)
	}
	figures := []Figure{figure("leaderships", len(f.leads))}
	if len(f.leads) == 0 {
		return untested(figures, "no node claimed to lead: give the cluster time to elect")
	}
	a, b := clash(f.holds())
	if a == nil {
		return valid(figures, "%s, no two at one instant; %s", count(len(f.leads), "leadership"), f.watch())
	}
	ops := slices.Concat(f.turns(a, 1), f.turns(b, 2))
	ctx, cancel := linear.Extended(ctx)
	defer cancel()
	switch answer, why := linear.Ask(ctx, lockModel, ops); answer {
	case porcupine.Unknown:
		return unknown(figures, "%s", why)
	case porcupine.Ok:
		panic(fmt.Sprintf("porcupine knows an order for %v and %v", *a, *b))
	}
	e := evidence{span: span{max(a.begin(), b.begin()), min(a.end(), b.end())}}
	for _, l := range []*leadership{a.lead, b.lead} {
		e.ops = append(e.ops, f.index(&f.answers[l.first]), f.index(&f.answers[l.last]))
	}
	r := invalid(figures, e, "%s%s and %s%s led at one time, between %s and %s",
		f.nodes[a.node], f.in(a.lead), f.nodes[b.node], f.in(b.lead), at(e.from), at(e.to))
	r.Drawing = linear.Draw(ctx, lockModel, ops)
	return r
}

func (f *facts) holds() []hold {
	all := make([]hold, len(f.leads))
	for i := range f.leads {
		l := &f.leads[i]
		all[i] = hold{f.answers[l.first].to, f.answers[l.last].from, l.node, l}
	}
	return all
}

// clash returns two holds that clash, those that did so first, or nil.
func clash(all []hold) (a, b *hold) {
	slices.SortStableFunc(all, func(a, b hold) int { return cmp.Compare(a.begin(), b.begin()) })
	var open []*hold // that have not ended when the next one begins
	for i := range all {
		h := &all[i]
		open = slices.DeleteFunc(open, func(o *hold) bool { return o.end() <= h.begin() })
		for _, o := range open {
			if o.clashes(h) {
				return o, h
			}
		}
		open = append(open, h)
	}
	return nil, nil
}

// turns makes a hold two operations: taken after the node's last denial, given back before its next one.
func (f *facts) turns(h *hold, number int) []porcupine.Operation {
	lost := never
	if h.lead.lost >= 0 {
		lost = f.answers[h.lead.lost].to
	}
	node := f.nodes[h.node]
	return []porcupine.Operation{
		{ClientId: h.node, Input: turn{node, number, true}, Call: int64(h.lead.since), Return: int64(h.taken)},
		{ClientId: h.node, Input: turn{node, number, false}, Call: int64(h.given), Return: int64(max(lost, h.given))},
	}
}
