package checkers

import (
	"context"
	"fmt"

	"recount/history"
)

func init() {
	register(Checker{
		Property: "ordered-updates",
		Holds:    "updates numbered (term, counter) are applied in that order by every follower; stale leaders' are dropped",
		check:    orderedUpdates,
	})
}

// number is what a leader numbers an update by.
type number struct{ term, counter uint64 }

func (n number) after(o number) bool {
	return n.term > o.term || n.term == o.term && n.counter > o.counter
}

func (n number) String() string {
	if n.term == 0 {
		return fmt.Sprintf("update %d", n.counter)
	}
	return fmt.Sprintf("update %d of term %d", n.counter, n.term)
}

// orderedUpdates compares each update that a node applied with the one that it had applied before, and with the one of
// the same number that others applied. A node that may have been restarted in between may begin anew. That numbers are
// left out is no violation: what was lost was not applied in the wrong order.
func orderedUpdates(_ context.Context, f *facts) Result {
	last := map[string]int{}  // where in the history each node's last one is, in this life of the node
	first := map[number]int{} // and the first of each number
	leaders := map[string]bool{}
	followers := map[string]bool{}
	applied, swapped, doubled, skipped := 0, 0, 0, 0
	var wrong [2]int
	for i := range f.h.Ops {
		op := &f.h.Ops[i]
		if op.F != history.Apply {
			reborn(op, last)
			continue
		}
		update := op.Update()
		u := number{update.Term, update.Counter}
		applied++
		leaders[fmt.Sprintf("%d %s", update.Term, update.From)], followers[op.Node] = true, true
		if k, known := last[op.Node]; known {
			last := f.h.Ops[k].Update()
			before := number{last.Term, last.Counter}
			if !u.after(before) {
				if swapped++; swapped+doubled == 1 {
					wrong = [2]int{k, i}
				}
			} else if u.term == before.term && u.counter > before.counter+1 {
				skipped++
			}
		}
		last[op.Node] = i
		k, known := first[u]
		switch {
		case !known:
			first[u] = i
		case f.h.Ops[k].Update().From != update.From:
			if doubled++; swapped+doubled == 1 {
				wrong = [2]int{k, i}
			}
		}
	}
	figures := []Figure{
		figure("updates applied", applied), figure("numbers", len(first)), figure("leaders by term", len(leaders)),
		figure("followers", len(followers)), figure("out of order", swapped), figure("two of one number", doubled),
		figure("numbers left out", skipped), figure("restarts", f.restarts),
	}
	switch {
	case swapped+doubled > 0:
		a, b := &f.h.Ops[wrong[0]], &f.h.Ops[wrong[1]]
		e := evidence{span{a.Time, b.Time}, []int{a.Index, b.Index}}
		if a.Node == b.Node {
			return invalid(figures, e, "%s applied %s after %s", b.Node, told(b.Update()), told(a.Update()))
		}
		return invalid(figures, e, "%s applied %s, and %s applied %s", a.Node, told(a.Update()), b.Node, told(b.Update()))
	case applied == 0:
		return untested(figures, "no node reported an update of a leader: run the workload updates")
	case len(followers) < 2:
		return unknown(figures, "only one node reported what it applied: have all of them do so")
	case len(leaders) < 2:
		return untested(figures, "one leader sent all of the updates: a stale one takes a change of leader")
	}
	return valid(figures, "%s applied by %s in the order of %s, sent under %s; %s, %s on the way", count(applied, "update"),
		count(len(followers), "node"), count(len(first), "number"), count(len(leaders), "leadership"),
		count(skipped, "gap"), count(f.restarts, "restart"))
}

// told writes an update: "update 17 of term 4 from n1".
func told(u *history.Update) string {
	s := number{u.Term, u.Counter}.String()
	if u.From != "" {
		s += " from " + u.From
	}
	return s
}

// reborn forgets the nodes that an op may have restarted.
func reborn(op *history.Op, last map[string]int) {
	if op.F == history.Exit {
		delete(last, op.Node)
	}
	if op.Fault == nil {
		return
	}
	for _, p := range op.Fault.Procs {
		switch p.State {
		case history.Down, history.Stopped, history.Crashed:
			delete(last, p.Node)
		}
	}
}
