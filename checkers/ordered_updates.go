package checkers

import (
	"context"
	"fmt"
	"time"

	"recount/history"
	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "ordered-updates",
		Holds:    "updates numbered (term, counter) are applied in that order by every follower; stale leaders' are dropped",
		of:       []history.F{history.Apply, history.Exit, history.Inject, history.Change, history.Heal},
		watch: func(f *facts) watcher {
			return &updates{
				facts: f, last: map[string]applied{}, senders: newSenders(), firsts: map[number]applied{}, rivals: map[leader]bool{},
				followers: map[string]bool{},
			}
		},
	})
}

// leader is who sent updates in a term; "" is one that was not told.
type leader struct {
	term uint64
	from string
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

// updates compares each update that a node applied with the one that it had applied before, and with the one of
// the same number that others applied. A node that may have been restarted in between may begin anew. That numbers are
// left out is no violation: what was lost was not applied in the wrong order.
type updates struct {
	*facts
	last                      map[string]applied // of each node, in this life of it
	senders                   senders
	firsts                    map[number]applied // the first of each number whose sender was told, unless it can be looked up
	rivals                    map[leader]bool    // who sent an update of a number that another had sent one of
	followers                 map[string]bool
	count                     int
	swapped, doubled, skipped int
	wrong                     [2]applied // the first that is out of order, or of another's number, and which it clashes with
	untold                    bool       // nobody knows whom some came from
	lookup                    bool       // all that is known of that is its number and its sender
}

// applied is an update that a node applied.
type applied struct {
	number
	at         time.Duration
	op         int
	node, from string
}

func (u *updates) take(op *history.Op) {
	if op.F != history.Apply {
		if op.F == history.Exit {
			delete(u.last, op.Node)
		}
		u.reborn(op.Fault)
		if u.began != nil { // an end need not repeat what was to be done
			u.reborn(u.began.fault)
		}
		return
	}
	update := op.Update()
	now := applied{number{update.Term, update.Counter}, op.Time, op.Index, op.Node, update.From}
	u.count++
	u.followers[now.node] = true
	u.untold = u.untold || now.from == ""
	i := history.Place(u.nodes, now.node)
	doubtful := i >= 0 && u.seen[i].doomed(now.at)
	if before, known := u.last[now.node]; known && !doubtful {
		if !now.after(before.number) {
			if u.swapped++; u.swapped+u.doubled == 1 {
				u.wrong[0], u.wrong[1] = before, now
			}
		} else if now.term == before.term && now.counter > before.counter+1 {
			u.skipped++
		}
	}
	if !doubtful { // else the next one may be another life's
		u.last[now.node] = now
	}
	first, _ := u.senders.tell(now.number, now.from)
	switch {
	case now.from == "" || first == now.from:
	case first == "":
		if u.again == nil {
			u.firsts[now.number] = now
		}
	default:
		u.rivals[leader{now.term, now.from}] = true
		if u.doubled++; u.swapped+u.doubled == 1 {
			u.wrong[0], u.wrong[1] = u.firsts[now.number], now
			if u.lookup = u.again != nil; u.lookup {
				u.wrong[0] = applied{number: now.number, from: first}
			}
		}
	}
}

// find looks up the update that the first one clashes with.
func (u *updates) find() error {
	clash, found := &u.wrong[0], false
	return u.again(func(op *history.Op, _ int) {
		if update := op.Update(); !found && update != nil && (number{update.Term, update.Counter}) == clash.number && update.From == clash.from {
			clash.at, clash.op, clash.node, found = op.Time, op.Index, op.Node, true
		}
	})
}

func (u *updates) check(context.Context) Result {
	leaders := u.senders.leaderships(u.rivals)
	figures := []Figure{
		figure("updates applied", u.count), figure("numbers", u.senders.count), figure("leaders by term", leaders),
		figure("followers", len(u.followers)), figure("out of order", u.swapped), figure("two of one number", u.doubled),
		figure("numbers left out", u.skipped), figure("restarts", u.restarts),
	}
	switch {
	case u.swapped+u.doubled > 0:
		if u.lookup {
			if err := u.find(); err != nil {
				return unknown(figures, "%s", unread(err))
			}
		}
		a, b := &u.wrong[0], &u.wrong[1]
		e := evidence{span{a.at, b.at}, []int{a.op, b.op}}
		r := invalid(figures, e, "%s applied %s, and %s applied %s", a.node, a, b.node, b)
		if a.node == b.node {
			r = invalid(figures, e, "%s applied %s after %s", b.node, b, a)
		}
		r.about = u.group(a.node, a.from, b.node, b.from)
		return r
	case u.count == 0:
		return untested(figures, "no node reported an update of a leader: run the workload updates, where the election orders any")
	case len(u.followers) < 2:
		return unknown(figures, "only one node reported what it applied: have all of them do so")
	case leaders < 2 && u.untold:
		return untested(figures, "one leader may have sent all of the updates: have nodes tell whom each came from, and give it a change of leader")
	case leaders < 2:
		return untested(figures, "one leader sent all of the updates: a stale one takes a change of leader")
	}
	return valid(figures, "%s applied by %s in the order of %s, sent under %s; %s, %s on the way", count.Of(u.count, "update"),
		count.Of(len(u.followers), "node"), count.Of(u.senders.count, "number"), count.Of(leaders, "leadership"),
		count.Of(u.skipped, "gap"), count.Of(u.restarts, "restart"))
}

// String writes an update: "update 17 of term 4 from n1".
func (a *applied) String() string {
	s := a.number.String()
	if a.from != "" {
		s += " from " + a.from
	}
	return s
}

// reborn forgets the nodes that a fault may have restarted, or made other members.
func (u *updates) reborn(f *history.Fault) {
	if f == nil {
		return
	}
	for _, p := range f.Procs {
		if p.State.Ended() {
			delete(u.last, p.Node)
		}
	}
	for _, m := range f.Members() { // who comes back is another member than it was
		delete(u.last, m.Node)
	}
}
