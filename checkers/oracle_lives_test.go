package checkers

import (
	"slices"
	"time"

	"recount/history"
)

// fate is an end of a node's process, or what may have been one: it was at some instant between, if at all.
type fate struct {
	node     string
	from, to time.Duration
	again    time.Duration // when the next may have been started
	perhaps  bool
	told     int // by which op it is known that it is over
}

// deed is what the nemesis set out to do, and what is known of it.
type deed struct {
	begins, until int // the places of the ops; -1 if there is no end
	failed        bool
	named         []history.Proc // at the beginning or at the end
	members       []history.Member
	settled       []history.Proc // as they are, surely
}

// deedOf is what was begun with an op.
func deedOf(h *history.History, i int) (d deed) {
	d.begins, d.until = i, h.Other(i)
	take := func(op history.Op) {
		if op.Fault != nil {
			d.named, d.members = append(d.named, op.Fault.Procs...), append(d.members, op.Fault.Members()...)
			d.settled = op.Fault.Procs
		}
	}
	if take(h.Ops[i]); d.until < 0 {
		d.settled = nil
		return d
	}
	take(h.Ops[d.until])
	d.failed = h.Ops[d.until].Type == history.Fail
	if h.Ops[d.until].Type != history.OK {
		d.settled = nil
	}
	return d
}

// ends reports whether a node's process was to end.
func (d deed) ends(node string) bool {
	return slices.ContainsFunc(d.named, func(p history.Proc) bool { return p.Node == node && isEnd(p) })
}

// runs reports whether it was to run.
func (d deed) runs(node string) bool {
	return slices.Contains(d.named, history.Proc{Node: node, State: history.Up})
}

// renewed are the nodes that are being started anew, as other members than they were, once an op began that.
func renewed(w around, i int) (nodes []string) {
	for _, m := range deedOf(w.h, i).members {
		if m.As != history.Removed && w.votes(m.Node) == doubtful {
			nodes = append(nodes, m.Node)
		}
	}
	return nodes
}

// course is what may have ended or started a node's process, in a history.
type course struct {
	threats, starts [][2]int // of what may have, where it begins and ends; -1 if it does not
	renews          []int    // of them, those that began with a change of members
	settles         []int    // where it is known what became of the process
}

func courseOf(h *history.History, node string) course {
	return noted(h, "course of "+node, func() course { return workOutCourse(h, node) })
}

func workOutCourse(h *history.History, node string) (c course) {
	for i, w := range stages(h)[1:] {
		if op := h.Ops[i]; op.Process != history.Nemesis || op.Type != history.Invoke {
			continue
		}
		d := deedOf(h, i)
		if d.failed {
			continue
		}
		anew := slices.Contains(renewed(w, i), node)
		if d.ends(node) || anew {
			c.threats = append(c.threats, [2]int{i, d.until})
		}
		if d.runs(node) || anew {
			c.starts = append(c.starts, [2]int{i, d.until})
		}
		known := anew && stages(h)[i].votes(node) != doubtful // else it may have been that before, and nothing was done
		if known {
			c.renews = append(c.renews, i)
		}
		sure := d.until >= 0 && h.Ops[d.until].Type == history.OK
		known = known || anew && d.until >= 0 && !stages(h)[d.until].dreads[node]
		if sure && (known || slices.ContainsFunc(d.settled, func(p history.Proc) bool { return p.Node == node })) {
			c.settles = append(c.settles, d.until)
		}
	}
	return c
}

// pending reports whether something that was to have the process run was under way at an op, or might be yet.
func (c course) pending(at int) bool {
	return slices.ContainsFunc(c.starts, func(s [2]int) bool {
		settled := slices.ContainsFunc(c.settles, func(k int) bool { return s[1] >= 0 && s[1] <= k && k < at })
		return s[0] < at && !settled
	})
}

// kills reports whether what began with an op surely ended the process.
func (c course) kills(h *history.History, node string, begins int) bool {
	return slices.ContainsFunc(deedOf(h, begins).settled, func(p history.Proc) bool { return p.Node == node && isEnd(p) })
}

// doubted reports whether something may have ended the process by an op, of which nobody knew then what came.
func (c course) doubted(h *history.History, node string, place int) bool {
	return slices.ContainsFunc(c.threats, func(t [2]int) bool {
		return t[0] < place && !slices.ContainsFunc(c.settles, func(k int) bool {
			came := k == t[1] && (c.kills(h, node, t[0]) || slices.Contains(c.renews, t[0]))
			return t[1] >= 0 && t[1] <= k && k < place && (came || h.Ops[k].Time < h.Ops[place].Time)
		})
	})
}

// again is since when a process may have been started again whose end is told by an op: by itself, or by what the nemesis did.
func again(h *history.History, node string, place int) time.Duration {
	c := courseOf(h, node)
	begins, ended := place, h.Ops[place].Time
	if h.Ops[place].F != history.Exit {
		begins = h.Other(place)
	}
	return c.again(h, node, begins, place, ended)
}

// again is the same of one that ended since an op, by another and its time.
func (c course) again(h *history.History, node string, begins, place int, ended time.Duration) time.Duration {
	if c.pending(begins) {
		return h.Ops[begins].Time
	}
	next := len(h.Ops)
	for _, s := range slices.Backward(c.starts) {
		if s[0] >= begins {
			next = s[0]
		}
	}
	for i, op := range h.Ops[:next] {
		answers := op.F == history.Observe && op.Type == history.OK && op.Node == node && h.Ops[h.Other(i)].Time >= ended
		if i > place && (answers || op.F == history.Announce && op.Node == node) {
			return h.Ops[begins].Time // something else had started it
		}
	}
	if next < len(h.Ops) {
		return h.Ops[next].Time
	}
	return forever
}

// fates are all ends of processes, and all that may have been some.
func fates(h *history.History) []fate {
	return noted(h, "fates", func() []fate { return workOutFates(h) })
}

func workOutFates(h *history.History) (all []fate) {
	for _, n := range h.Setup().Nodes {
		c := courseOf(h, n)
		for i, op := range h.Ops {
			if op.F == history.Exit && op.Node == n {
				all = append(all, fate{n, op.Time, op.Time, again(h, n, i), false, i})
			}
		}
		for _, t := range c.threats {
			e := fate{n, h.Ops[t[0]].Time, forever, h.Ops[t[0]].Time, true, len(h.Ops)} // something else may have started it
			for _, k := range slices.Backward(c.settles) {
				if t[1] >= 0 && k >= t[1] {
					e.to, e.told = h.Ops[k].Time, k
				}
			}
			if slices.Contains(c.settles, t[1]) {
				if c.kills(h, n, t[0]) || slices.Contains(c.renews, t[0]) {
					e.perhaps, e.again = false, again(h, n, t[1])
				}
			}
			all = append(all, e)
		}
	}
	return all
}

// asMembers are times in which nodes led, and claimed to, without when they were out, or may have been.
func asMembers(h *history.History, led, claimed []sure, perhaps bool) (l, c []sure) {
	outs := map[string][]sure{}
	for _, n := range h.Setup().Nodes {
		outs[n] = stretches(h, func(w around) string {
			if w.out(n) || perhaps && w.votes(n) == doubtful {
				return "out"
			}
			return ""
		})
	}
	for _, s := range led {
		l = append(l, without(s, outs[s.node])...)
	}
	for _, s := range claimed {
		if s.from < s.to && slices.Contains(led, s) {
			c = append(c, without(s, outs[s.node])...)
		} else if !slices.ContainsFunc(outs[s.node], func(o sure) bool { return o.from <= s.to && s.from <= o.to }) {
			c = append(c, s)
		}
	}
	return l, c
}
