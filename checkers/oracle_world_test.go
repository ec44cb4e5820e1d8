package checkers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"recount/history"
)

// health is what is surely so of a thing that faults change.
type health int

const (
	healthy health = iota
	mistreated
	broken   // a link that is cut, a process that does not run
	doubtful // one of these
	started  // a process that has not been heard of since
	ended    // a process that ended by itself, though its disk, its clock, its processor and its memory were healthy
	left     // one that did, and is excused
)

// around is what the faults made of the cluster between two ops that follow each other.
type around struct {
	h      *history.History
	is     map[history.Key]health
	before map[history.Key]health   // of what the op under way is to change
	to     map[history.Key][]health // what it is to make of it
	last   map[string]time.Duration // when each process was started
	exit   map[string]time.Duration // when it ended by itself, or an op had stopped it
	owed   map[string]bool          // it ended so, for no reason, while it was to be started, and has not been heard of since
	astir  map[string]bool          // something else started it since it ended by itself, nobody knows when
	fears  map[string]bool          // something else than a start may befall it yet
	dreads map[string]bool          // of that, what is to end or stop it
	bidden map[string]bool          // what is under way is to have it run, be it that it does already
	hopes  map[string]bool          // a start may befall it yet, by what ended before
	rising map[string]bool          // it surely stood still, and all that was done to it before what is under way is to start it
	spared map[string]time.Duration // when it was known that what might have ended it will not any more
	doomed map[string]bool          // what ended before may end it yet, be it that it did not run then
	over   map[string]bool          // it ended by itself meanwhile, and has given no answer since
	sick   map[string]time.Duration // until when what it works with was not surely healthy
	now    *time.Duration           // of the last op
	kept   map[history.Key]kept     // by links

	trapped map[string]bool // a trap ended it while it was being changed: nobody knows whether the change has started it again
}

// stretches returns where something holds, whatever it is: for as long as it is the same and not "". Instants do not count.
func stretches(h *history.History, holds func(around) string) (all []sure) {
	was := ""
	for i, w := range stages(h)[1:len(h.Ops)] {
		from, to := h.Ops[i].Time, h.Ops[i+1].Time
		if from == to {
			continue
		}
		is := holds(w)
		if is != "" && is == was {
			all[len(all)-1].to = to
		} else if is != "" {
			all = append(all, sure{is, from, to})
		}
		was = is
	}
	return all
}

// atFirst is what is so before the first op.
func atFirst(h *history.History) around {
	flags := func() map[string]bool { return map[string]bool{} }
	w := around{
		h: h, is: map[history.Key]health{}, before: map[history.Key]health{}, to: map[history.Key][]health{},
		last: map[string]time.Duration{}, exit: map[string]time.Duration{}, spared: map[string]time.Duration{}, sick: map[string]time.Duration{},
		owed: flags(), astir: flags(), fears: flags(), dreads: flags(), bidden: flags(), hopes: flags(), rising: flags(), doomed: flags(), over: flags(),
		trapped: flags(), now: new(time.Duration), kept: map[history.Key]kept{},
	}
	for _, n := range h.Setup().Nodes {
		w.is[history.Proc{Node: n}.Key()] = started
		if !w.atFirst(n) {
			w.is[history.Member{Node: n}.Key()] = mistreated
		}
	}
	return w
}

// stages are what is so before the first op, and after each: one more than there are ops.
func stages(h *history.History) []around {
	return noted(h, "stages", func() []around {
		w := atFirst(h)
		all := []around{w.clone()}
		for i := range h.Ops {
			w.happens(i)
			all = append(all, w.clone())
		}
		return all
	})
}

// atLast is what is so after the last op.
func atLast(h *history.History) around { return stages(h)[len(h.Ops)] }

// clone is the same, which goes on by itself.
func (w around) clone() around {
	w.is, w.before, w.to, w.last, w.exit = maps.Clone(w.is), maps.Clone(w.before), maps.Clone(w.to), maps.Clone(w.last), maps.Clone(w.exit)
	w.owed, w.astir, w.fears, w.sick, w.trapped = maps.Clone(w.owed), maps.Clone(w.astir), maps.Clone(w.fears), maps.Clone(w.sick), maps.Clone(w.trapped)
	w.dreads, w.bidden, w.hopes, w.over, w.rising, w.doomed, w.spared = maps.Clone(w.dreads), maps.Clone(w.bidden), maps.Clone(w.hopes), maps.Clone(w.over), maps.Clone(w.rising), maps.Clone(w.doomed), maps.Clone(w.spared)
	now := *w.now
	w.now, w.kept = &now, maps.Clone(w.kept)
	return w
}

// happens goes on with one op.
func (w around) happens(i int) {
	was := map[string]health{}
	for _, n := range w.h.Setup().Nodes {
		was[n] = w.proc(n)
	}
	w.goesOn(i)
	for _, n := range w.h.Setup().Nodes {
		exits := w.h.Ops[i].F == history.Exit && w.h.Ops[i].Node == n
		if stopped := w.proc(n) == broken; stopped && was[n] != broken || !stopped && exits { // who is stopped and ends is as it was
			w.astir[n] = w.revives(i, n, stopped)
		}
	}
}

// revives reports whether a node whose process ended by itself with an op, or was stopped by it, showed later that something else had
// started it.
func (w around) revives(i int, node string, stopped bool) bool {
	w = w.clone()
	for k := i + 1; k < len(w.h.Ops); k++ {
		op, is := w.h.Ops[k], w.proc(node)
		gone := is == ended || is == left
		if stopped {
			gone = is == broken
		}
		switch {
		case !gone && is != doubtful && w.before[history.Proc{Node: node}.Key()] != broken: // what was under way may fail, though it answered
			return false
		case op.Node != node:
		case !stopped && (op.F == history.Exit || gone && op.F == history.Announce),
			gone && op.F == history.Observe && op.Type == history.OK && w.h.Ops[w.h.Other(k)].Time > w.exit[node]:
			return gone
		}
		w.goesOn(k)
		if is == doubtful && op.Type == history.OK && w.proc(node) == broken { // stopped again
			return false
		}
	}
	return false
}

// goesOn does, but for what only shows later.
func (w around) goesOn(i int) {
	h, op, k := w.h, w.h.Ops[i], w.h.Other(i)
	for _, n := range h.Setup().Nodes {
		if !w.healthy(n) {
			w.sick[n] = op.Time
		}
	}
	*w.now = op.Time
	w.keeps(i)
	var doubted []history.State // what is named by the invoke, or by the end
	if op.Fault != nil {
		doubted = op.Fault.States()
	}
	if op.F == history.Inject || op.F == history.Change || op.F == history.Heal {
		switch {
		case op.Type == history.Invoke && k >= 0 && h.Ops[k].Fault != nil:
			doubted = append(doubted, h.Ops[k].Fault.States()...)
		case op.Type != history.Invoke && (op.Fault == nil || op.Type == history.OK && op.Fault.Empty() && h.Ops[k].Fault != nil):
			op.Fault = h.Ops[k].Fault // its end need not repeat it
		}
	}
	switch {
	case op.F == history.Exit:
		k := history.Proc{Node: op.Node}.Key()
		if w.is[k] == broken {
			break
		}
		now := left
		if op.Fault == nil && (w.runs(op.Node, op.Time) || w.is[k] == ended) && w.right(op.Node) && w.belongs(op.Node) && !w.suffers(op.Node, op.Time) && !w.meets(i) {
			now = ended
		}
		w.is[k], w.exit[op.Node] = now, op.Time
		delete(w.owed, op.Node)
		if _, changing := w.before[k]; changing {
			w.before[k] = now // as if it had ended before that began
		}
		runs := func(to health) bool { return to != broken }
		if w.bidden[op.Node] && !w.hopes[op.Node] && !slices.ContainsFunc(w.to[k], runs) {
			w.before[k], w.to[k] = now, append(w.to[k], healthy)
		}
		w.over[op.Node] = w.hopes[op.Node]
		if w.hopes[op.Node] || slices.ContainsFunc(w.to[k], runs) {
			w.is[k] = doubtful // it may have been started again, or may be yet
			w.owed[op.Node], w.trapped[op.Node] = now == ended, op.Fault != nil
		}
	case op.F == history.Observe && op.Type == history.OK:
		w.answers(op.Node, h.Ops[h.Other(i)].Time)
	case op.Fault == nil:
	case op.Type == history.Invoke:
		for _, n := range h.Setup().Nodes {
			w.rising[n] = w.rises(n)
		}
		clear(w.before)
		clear(w.to)
		clear(w.bidden)
		for _, s := range doubted {
			k, to := s.Key(), toBe(s)
			if k.Dimension == "procs" {
				delete(w.trapped, k.Node)
			}
			if k.Dimension == "procs" && to == healthy {
				w.bidden[k.Node] = true
			}
			was := w.is[k]
			if was == to || was == started && to == healthy {
				continue
			}
			w.to[k] = append(w.to[k], to)
			if _, twice := w.before[k]; !twice {
				w.before[k] = was
			}
			if (was == ended || was == left) && to == broken {
				w.is[k] = left // nor would it run if it had not ended
				continue
			}
			w.is[k] = doubtful
			if k.Dimension == "procs" {
				delete(w.owed, k.Node)
			}
			if p := (history.Proc{Node: k.Node}).Key(); k.Dimension == "members" && to != broken { // it is started anew
				delete(w.trapped, k.Node)
				if _, twice := w.before[p]; !twice {
					w.before[p] = w.is[p]
				}
				w.is[p], w.to[p] = doubtful, append(w.to[p], doubtful)
				delete(w.owed, k.Node)
			}
		}
	case op.Type == history.Fail:
		for k, was := range w.before {
			w.is[k] = was
		}
		clear(w.before) // and never will
		clear(w.to)
		clear(w.bidden)
		w.settle()
	case op.Type == history.OK:
		for _, s := range op.Fault.States() {
			k, to := s.Key(), toBe(s)
			if k.Dimension == "procs" && to == healthy && w.trapped[k.Node] {
				to, w.to[k] = doubtful, []health{healthy}
			} else if k.Dimension == "procs" && to == healthy && w.is[k] != healthy {
				if w.is[k] != started {
					w.last[k.Node] = op.Time
				}
				to = started
			} else if k.Dimension == "procs" && to == broken && w.is[k] != broken {
				w.exit[k.Node] = op.Time
			}
			if k.Dimension == "procs" {
				delete(w.bidden, k.Node)
				delete(w.fears, k.Node)
				delete(w.dreads, k.Node)
				delete(w.hopes, k.Node)
				delete(w.rising, k.Node)
				w.spare(k.Node, op.Time)
				delete(w.over, k.Node)
			}
			if k.Dimension == "members" && to != broken && w.is[k] == doubtful && (w.before[k] != doubtful || !w.dreads[k.Node]) { // else it may have been so before
				delete(w.fears, k.Node)
				delete(w.dreads, k.Node)
				delete(w.hopes, k.Node)
				delete(w.rising, k.Node)
				if w.spare(k.Node, op.Time); w.before[k] == doubtful {
					w.spared[k.Node] = op.Time // nobody knew until then whether it was to end
				}
				delete(w.over, k.Node)
				if p := (history.Proc{Node: k.Node}).Key(); w.trapped[k.Node] {
					w.to[p] = []health{healthy}
				} else {
					w.is[p], w.last[k.Node] = started, op.Time
				}
			}
			w.is[k] = to
		}
		for k := range w.before { // what is done yet to a process that has ended meanwhile befalls the next one
			if is := w.is[k]; (is == ended || is == left || is == healthy) && !slices.ContainsFunc(op.Fault.States(), func(s history.State) bool { return s.Key() == k }) &&
				k.Dimension == "procs" && slices.ContainsFunc(w.to[k], func(to health) bool { return to != healthy }) {
				w.fears[k.Node] = true
				w.dreads[k.Node] = w.dreads[k.Node] || slices.Contains(w.to[k], broken)
			}
		}
		w.settle()
		w.fear(doubtful)
		w.doom(deedOf(h, k))
	default:
		w.fear(healthy, ended, left, doubtful)
		w.settle()
		w.doom(deedOf(h, k))
	}
}

// meets reports whether the nemesis sets out to end or stop a process, or to change its membership or what it works with, at the very instant
// at which it ends by itself with an op before.
func (w around) meets(exit int) bool {
	h := w.h
	node, at := h.Ops[exit].Node, h.Ops[exit].Time
	for i := exit + 1; i < len(h.Ops) && h.Ops[i].Time == at; i++ {
		if h.Ops[i].Process != history.Nemesis || h.Ops[i].Type != history.Invoke {
			continue
		}
		for _, k := range []int{i, h.Other(i)} {
			if k < 0 || h.Ops[k].Fault == nil {
				continue
			}
			for _, s := range h.Ops[k].Fault.States() {
				key := s.Key()
				if key.Node == node && slices.Contains([]string{"procs", "disks", "cpu", "memory", "members"}, key.Dimension) &&
					toBe(s) != healthy && toBe(s) != w.is[key] {
					return true
				}
			}
		}
	}
	return false
}

// kept is what a link may have held up.
type kept struct {
	most  time.Duration // since it was healed
	until time.Duration // when what it held up before that has come
}

// keeps takes note of what an op says of links that hold messages up.
func (w around) keeps(i int) {
	op, named := w.h.Ops[i], w.h.Ops[i].Fault
	if other := w.h.Other(i); op.Type == history.OK && (named == nil || named.Empty()) && other >= 0 {
		named = w.h.Ops[other].Fault // its end need not repeat it
	}
	if op.Process != history.Nemesis || named == nil {
		return
	}
	for _, l := range named.Links {
		is, late := w.kept[l.Key()], l.Delay+l.Jitter
		if l.Rate > 0 {
			late += time.Second
		}
		if is.most = max(is.most, late); is.most > 0 && op.Type == history.OK && l.LinkState == (history.LinkState{}) {
			last := op.Time + is.most
			for k, other := range w.kept {
				if k != l.Key() && k.Node == l.From && k.To == l.To { // the whole link, or a port of it
					last += other.most
				}
			}
			is = kept{until: max(is.until, last)}
		}
		w.kept[l.Key()] = is
	}
}

// arrivals adds to the text of a history, as ops that change nothing, each time at which the last comes of what links had held up: an
// oracle looks at what is so between two ops.
func arrivals(h *history.History, text string) string {
	last := h.Ops[len(h.Ops)-1].Time
	for _, w := range stages(h) {
		for _, late := range w.kept {
			if line := fmt.Sprintf("%s matches\n", late.until); late.until > 0 && late.until < last && !strings.Contains(text, "\n"+line) {
				text += line
			}
		}
	}
	return text
}

// spare takes note that it is known by a time what became of a process.
func (w around) spare(node string, at time.Duration) {
	if w.doomed[node] {
		w.spared[node] = at
	}
	delete(w.doomed, node)
}

// doom takes note of the processes that an op was to end, though nobody knows what came of that.
func (w around) doom(d deed) {
	for _, p := range d.named {
		if isEnd(p) && !slices.ContainsFunc(d.settled, func(s history.Proc) bool { return s.Node == p.Node }) {
			w.doomed[p.Node] = true
		}
	}
}

// answers goes on with an answer of a node, to what it was asked at a time.
func (w around) answers(node string, asked time.Duration) {
	k := history.Proc{Node: node}.Key()
	if gone, once := w.exit[node]; asked < w.last[node] || once && asked <= gone {
		return
	}
	was, changing := w.before[k]
	trapped := w.trapped[node]
	delete(w.trapped, node)
	if was == started || was == ended || was == left || changing && w.over[node] {
		if w.before[k] = healthy; w.fears[node] { // as it was before, should that fail
			w.before[k] = doubtful
		}
	}
	switch {
	case w.is[k] == broken:
		w.is[k] = doubtful
	case w.is[k] == started:
		w.is[k] = healthy
		delete(w.owed, node)
	case w.is[k] == ended || w.is[k] == left || w.over[node] || trapped || w.rises(node) || changing && (was == ended || was == left):
		w.is[k] = healthy
		delete(w.over, node)
		if w.fears[node] || changing && slices.ContainsFunc(w.to[k], func(to health) bool { return to != healthy }) {
			w.is[k] = doubtful
		}
		delete(w.owed, node)
	}
}

// fear takes note of the processes that an op may do more to yet than start them, if they are so, and of those in doubt that it may start.
func (w around) fear(is ...health) {
	maps.Copy(w.hopes, w.bidden)
	clear(w.bidden)
	for k := range w.before {
		if k.Dimension == "procs" && w.is[k] == doubtful && slices.ContainsFunc(w.to[k], func(to health) bool { return to != broken }) {
			w.hopes[k.Node] = true
		}
		if k.Dimension == "procs" && slices.Contains(is, w.is[k]) && slices.ContainsFunc(w.to[k], func(to health) bool { return to != healthy }) {
			w.fears[k.Node] = true
			w.dreads[k.Node] = w.dreads[k.Node] || slices.Contains(w.to[k], broken)
		}
	}
}

// settle forgets what was to become of things of which that is known.
func (w around) settle() {
	for k := range w.before {
		if w.is[k] != doubtful {
			delete(w.before, k)
			delete(w.to, k)
		}
	}
	for n := range w.owed {
		if p := w.proc(n); p != doubtful && p != started {
			delete(w.owed, n)
		}
	}
}

// toBe is what becomes of a thing.
func toBe(s history.State) health {
	switch s := s.(type) {
	case history.Link:
		if s.Cut {
			return broken
		}
	case history.Proc:
		if s.State != history.Up {
			return broken
		}
	case history.Member:
		if s.As == history.Removed {
			return broken
		}
	case history.Disk:
		s.Torn, s.Scattered = false, false
		if s == s.Healthy() {
			return healthy
		}
	}
	if s == s.Healthy() {
		return healthy
	}
	return mistreated
}

func (w around) proc(n string) health { return w.is[history.Proc{Node: n}.Key()] }

// down reports whether a process surely does not run, or stands still.
func (w around) down(n string) bool {
	is := w.proc(n)
	return (is == broken || is == ended || is == left) && !w.astir[n]
}

// pends reports whether it is in doubt whether a process runs, for what is done to it, or may be yet.
func (w around) pends(n string) bool {
	_, changing := w.before[history.Proc{Node: n}.Key()]
	return w.proc(n) == doubtful && (changing || w.fears[n] || w.hopes[n])
}

// threatened reports whether it is in doubt whether a process runs, for what is done to it beside a start, or may be yet.
func (w around) threatened(n string) bool {
	more := slices.ContainsFunc(w.to[history.Proc{Node: n}.Key()], func(to health) bool { return to != healthy })
	is := w.proc(n)
	return (is == doubtful || is == ended || is == left) && (more || w.fears[n])
}

// votes is healthy of who surely votes, or is a candidate for ever, and doubtful of who may.
func (w around) votes(n string) health { return w.is[history.Member{Node: n}.Key()] }

// atFirst reports whether a node votes at first, or never can.
func (w around) atFirst(n string) bool {
	return slices.Contains(w.h.Setup().Voters(), n) || !slices.Contains(franchise(w.h), n)
}

// out reports whether a node surely is out: removed, or a learner though it was none at first.
func (w around) out(n string) bool {
	return w.votes(n) == broken || w.votes(n) == mistreated && w.atFirst(n)
}

// belongs reports whether a node surely is not.
func (w around) belongs(n string) bool { return !w.out(n) && w.votes(n) != doubtful }

// franchise are those that vote or can be made voters: all but candidates that elect through servers.
func franchise(h *history.History) []string {
	s := h.Setup()
	if len(s.Servers) == 0 || s.Peers {
		return s.Nodes
	}
	return slices.DeleteFunc(slices.Clone(s.Nodes), func(n string) bool {
		return !slices.Contains(s.Servers, n) && !slices.Contains(s.Voters(), n)
	})
}

// enough reports whether nodes have a majority of the voters in them, whichever of those vote of whom nobody can tell; or perhaps.
func (w around) enough(nodes []string, perhaps bool) bool {
	var sure, doubt []string
	for _, n := range franchise(w.h) {
		switch w.votes(n) {
		case healthy:
			sure = append(sure, n)
		case doubtful:
			doubt = append(doubt, n)
		}
	}
	all, some := true, false
	for mask := range 1 << len(doubt) {
		voters := slices.Clone(sure)
		for i, n := range doubt {
			if mask>>i&1 == 1 {
				voters = append(voters, n)
			}
		}
		of := 0
		for _, n := range voters {
			if slices.Contains(nodes, n) {
				of++
			}
		}
		all, some = all && 2*of > len(voters), some || 2*of > len(voters)
	}
	return all || perhaps && some
}

// everEnough reports whether nodes may have had a majority of the voters in them at a time or before.
func everEnough(h *history.History, nodes []string, by time.Duration) bool {
	for i, w := range stages(h)[1:] {
		lasts := i == len(h.Ops)-1 || h.Ops[i].Time < h.Ops[i+1].Time
		if lasts && h.Ops[i].Time <= by && w.enough(nodes, true) {
			return true
		}
	}
	return false
}

// alwaysEnough reports whether they surely had at all times from one to another.
func alwaysEnough(h *history.History, nodes []string, from, to time.Duration) bool {
	return throughout(h, from, to, func(w around) bool { return w.enough(nodes, false) })
}

// throughout reports whether something held from one time to another, both included.
func throughout(h *history.History, from, to time.Duration, good func(around) bool) bool {
	end := h.Ops[len(h.Ops)-1].Time
	return slices.ContainsFunc(stretches(h, func(w around) string {
		if good(w) {
			return "good"
		}
		return ""
	}), func(s sure) bool { return s.from <= from && (to < s.to || to == s.to && to == end && good(atLast(h))) })
}

// runs reports whether a node's process runs at a time, for all that is known of it: it did before, or all that is done to it is to start it; and
// nothing may end it yet.
func (w around) runs(n string, now time.Duration) bool {
	k := history.Proc{Node: n}.Key()
	at, spared := w.spared[n]
	return !w.doomed[n] && (!spared || at != now) && (w.is[k] == healthy || w.is[k] == started || w.owed[n] || w.rises(n))
}

// rises reports whether it surely stood still before all that was done to it, and that is to start it.
func (w around) rises(n string) bool {
	k := history.Proc{Node: n}.Key()
	was := w.before[k]
	return w.is[k] == doubtful && !w.fears[n] && (w.rising[n] || was == broken || was == ended || was == left) &&
		!slices.ContainsFunc(w.to[k], func(to health) bool { return to != healthy })
}

// healthy reports whether a node's disk, processor and memory surely are.
func (w around) healthy(n string) bool {
	return w.is[history.Disk{Node: n}.Key()] == healthy && w.is[history.CPU{Node: n}.Key()] == healthy && w.is[history.Memory{Node: n}.Key()] == healthy
}

// suffers reports whether they may not be at a time, or may not have been within a lull before it.
func (w around) suffers(n string, at time.Duration) bool {
	until, some := w.sick[n]
	return !w.healthy(n) || some && at-until <= lull(w.h)
}

// right reports whether a node's clock, disk, processor and memory surely are.
func (w around) right(n string) bool {
	return w.rightButDisk(n) && w.is[history.Disk{Node: n}.Key()] == healthy
}

// rightButDisk reports whether its clock, processor and memory surely are.
func (w around) rightButDisk(n string) bool {
	return w.is[history.Clock{Node: n}.Key()] == healthy && w.is[history.CPU{Node: n}.Key()] == healthy &&
		w.is[history.Memory{Node: n}.Key()] == healthy
}

// connected reports whether two nodes surely reach each other, and nothing may still come between them that was late.
func (w around) connected(a, b string) bool {
	for k, late := range w.kept {
		if late.until > *w.now && (k.Node == a && k.To == b || k.Node == b && k.To == a) {
			return false
		}
	}
	for k, is := range w.is {
		if k.Dimension == "links" && is != healthy && (k.Node == a && k.To == b || k.Node == b && k.To == a) {
			return false
		}
	}
	return true
}

// deaf reports whether nothing of one node's surely reaches another.
func (w around) deaf(node, of string) bool {
	return w.down(of) || w.is[history.Link{From: of, To: node}.Key()] == broken
}

// calm names who is not surely out, if all of them are well and connected; else it is empty.
func (w around) calm() string {
	members := slices.DeleteFunc(slices.Clone(w.h.Setup().Nodes), w.out)
	for _, a := range members {
		if w.proc(a) != healthy || !w.right(a) || !w.belongs(a) {
			return ""
		}
		for _, b := range members {
			if a != b && !w.connected(a, b) {
				return ""
			}
		}
	}
	return strings.Join(members, " ")
}

// lull is the longer of a silence and three polls.
func lull(h *history.History) time.Duration {
	return max(h.Setup().Bounds.Silence, 3*h.Setup().Bounds.Poll)
}

// awake is what is left of a stretch where each stall of the machine, and a silence after it, is cut out.
func awake(h *history.History, s sure) []sure {
	all := []sure{s}
	for _, op := range h.Ops {
		if op.F != history.Stall {
			continue
		}
		from, to := op.Time-time.Duration(op.Access.Value), op.Time+h.Setup().Bounds.Silence
		var rest []sure
		for _, s := range all {
			if to < s.from || s.to < from {
				rest = append(rest, s)
				continue
			}
			if s.from < from {
				rest = append(rest, sure{s.node, s.from, from})
			}
			if to < s.to {
				rest = append(rest, sure{s.node, to, s.to})
			}
		}
		all = rest
	}
	return all
}

// anyRun draws a run of some nodes under faults. They are asked again and again, and mostly make sense. In a duel they take the
// leadership from each other, and have terms.
func anyRun(t *rapid.T, duel bool) string {
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
	one := func(in int, what string) bool { return number(in-1, what) == in-1 }
	var b strings.Builder
	nodes := []string{"n1", "n2", "n3", "n4", "n5"}[:2+number(2, "nodes")]
	silence, poll := 1+number(3, "silence"), 1+number(2, "poll")
	fmt.Fprintf(&b, "nodes %s\nbounds silence=%dms elect=%dms poll=%dms", strings.Join(nodes, " "), silence, 3+number(9, "elect"), poll)
	if one(3, "other bounds") || duel {
		fmt.Fprintf(&b, " terms=%d moves=%d returns=%d", 1+number(3, "terms"), 1+number(4, "moves"), 1+number(2, "returns"))
	}
	b.WriteString("\n")
	numbered := duel || !one(5, "no terms")
	if !numbered {
		b.WriteString("flags no-terms\n")
	}
	if len(nodes) > 2 && one(5, "not all vote") {
		fmt.Fprintf(&b, "voters %s\n", strings.Join(nodes[:max(len(nodes)-1-number(1, "more do not"), 2)], " "))
	}
	counted := one(4, "tenures")
	type belief struct {
		role, leader string
		term, tenure int
	}
	views := make([]belief, len(nodes))
	down := make([]bool, len(nodes))
	for i := range views {
		views[i] = belief{role: "follower"}
	}
	text := func(v belief) string {
		s := v.role
		if numbered {
			s += fmt.Sprintf(" %d", v.term)
		}
		if counted && v.role == "leader" {
			s += fmt.Sprintf(" tenure %d", v.tenure)
		}
		if v.leader != "" && v.role == "follower" {
			s += " of " + v.leader
		}
		return s
	}
	term, restless, noisy, faulty := 0, 4+number(40, "restless"), 10+number(100, "noise"), 5+number(40, "faults")
	if duel {
		restless, noisy = 3+number(3, "restless"), 100+number(400, "noise")
	}
	nemesis := trouble{t: t, b: &b, nodes: nodes, down: down, members: one(2, "members")}
	ends := 15 + number(45, "length")
	elect := func(now int) {
		i := number(len(nodes)-1, "elected")
		if down[i] {
			return
		}
		term++
		for k := range views {
			if k != i && !one(8, "deaf") && !down[k] {
				views[k] = belief{role: "follower", leader: nodes[i], term: term}
			}
		}
		if views[i] = (belief{role: "leader", term: term, tenure: term}); one(2, "announced") {
			fmt.Fprintf(&b, "%dms %s announces %s\n", now, nodes[i], text(views[i]))
		}
	}
	for now := number(2, "begin"); now < ends; now++ {
		if one(restless, "elects") || now == 2 {
			elect(now)
		}
		if one(60, "stall") {
			fmt.Fprintf(&b, "%dms stall %dms\n", now, number(5, "stalled"))
		}
		if now >= nemesis.busy && one(faulty, "fault") {
			nemesis.make(now)
		}
		for i, n := range nodes {
			v := views[i]
			if down[i] && !one(12, "answers all the same") {
				continue
			}
			if one(noisy, "exits") && one(4, "surely") {
				fmt.Fprintf(&b, "%dms %s exits\n", now, n)
				down[i] = !one(3, "answers on")
				continue
			}
			if one(noisy, "campaigns") {
				views[i] = belief{role: "candidate", term: v.term + 1 + number(1, "terms")}
				term = max(term, views[i].term-number(1, "unnoticed"))
			}
			if one(noisy, "announces") {
				fmt.Fprintf(&b, "%dms %s announces %s\n", now, n, text(views[i]))
			}
			if one(noisy, "odd") {
				v = belief{role: rapid.SampledFrom([]string{"leader", "follower", "candidate", "unknown"}).Draw(t, "role"),
					term: number(term+2, "term"), leader: rapid.SampledFrom(nodes).Draw(t, "leader"), tenure: number(2, "tenure")}
				if v.role == "unknown" && number(1, "nothing") == 0 {
					v = belief{role: "unknown"}
				}
			}
			if (now+i)%poll > 0 || one(noisy, "not asked") {
				continue
			}
			drawPoll(t, &b, now, noisy, n, text(v))
		}
	}
	if !one(20, "cut short") {
		fmt.Fprintf(&b, "%dms end\n", max(ends, nemesis.busy)+4)
	}
	return b.String()
}

// trapSome has traps end some of the processes that end by themselves.
func trapSome(t *rapid.T, text string) string {
	before, after, found := strings.Cut(text, " exits\n")
	for found {
		if text = before + " exits"; rapid.Bool().Draw(t, "trapped") {
			text += " trapped"
		}
		rest, more, again := strings.Cut(after, " exits\n")
		before, after, found = text+"\n"+rest, more, again
	}
	return before
}

// drawPoll writes what comes of asking a node that would say s: late, torn or no answer at all now and then, by one in noisy.
func drawPoll(t *rapid.T, b *strings.Builder, now, noisy int, node, s string) {
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
	one := func(in int, what string) bool { return number(in-1, what) == in-1 }
	took := 0
	if one(6, "slow") {
		took = number(3, "took")
	}
	switch {
	case one(noisy, "torn"):
		s += " torn"
	case one(noisy, "silent"):
		s = []string{"silent", "refuses"}[number(1, "how")]
	}
	fmt.Fprintf(b, "%dms-%dms %s %s\n", now, now+took, node, s)
}

// everAnswered reports whether a node that was asked ever gave an answer.
func everAnswered(h *history.History, node string) bool {
	return slices.ContainsFunc(h.Ops, func(op history.Op) bool {
		return op.F == history.Observe && op.Type == history.OK && op.Node == node
	})
}

// trouble is what the nemesis of a run that is drawn makes, one fault after the other.
type trouble struct {
	t       *rapid.T
	b       *strings.Builder
	nodes   []string
	down    []bool
	members bool        // who is one is changed, too
	more    []string    // what else is done to a node, by the verb
	faults  [][3]string // under way: the name, what heals it, and who is down by it
	busy    int         // the nemesis is, until then
}

// make injects or heals a fault.
func (m *trouble) make(now int) {
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(m.t, what) }
	m.busy = now + number(3, "takes")*number(1, "slow")
	outcome := []string{"", "", "", "", "", "; failed", "; unseen", "; untold"}[number(7, "outcome")]
	if len(m.faults) > 0 && number(1, "heal") == 1 {
		f := m.faults[0]
		m.faults = m.faults[1:]
		fmt.Fprintf(m.b, "%dms-%dms nemesis heal %s: %s%s\n", now, m.busy, f[0], f[1], outcome)
		if f[2] != "" {
			m.down[slices.Index(m.nodes, f[2])] = false
		}
		m.busy++
		return
	}
	i := number(len(m.nodes)-1, "whom")
	a, o := m.nodes[i], m.nodes[(i+1+number(len(m.nodes)-2, "with"))%len(m.nodes)]
	var cuts []string
	for _, x := range m.nodes {
		if x != a {
			cuts = append(cuts, "cut "+a+"-"+x)
		}
	}
	all := [][2]string{{strings.Join(cuts, ", "), ""}, {strings.Join(cuts, ", "), ""}, {"cut " + a + "-" + o, ""},
		{"cut " + a + ">" + o, ""}, {"slow " + a + "-" + o, ""}, {"slow " + a + "-" + o + ":80", ""}, {"cut " + a + "-" + o + ":80", ""},
		{"kill " + a, a}, {"kill " + a, a}, {"pause " + a, a}, {"skew " + a, ""}, {"fill " + a, ""}, {"throttle " + a, ""}, {"squeeze " + a, ""},
		{strings.ReplaceAll(strings.Join(cuts, ", "), "-", ">"), ""},
	}
	if m.members {
		all = append(all, [2]string{"remove " + a, ""}, [2]string{"remove " + a, ""}, [2]string{"learner " + a, ""}, [2]string{"remove " + a + ", remove " + o, ""},
			[2]string{"remove " + a, ""}, [2]string{"voter " + a, ""}, [2]string{"voter " + a + ", voter " + o, ""})
	}
	for _, verb := range m.more {
		all = append(all, [2]string{verb + " " + a, ""})
	}
	changes := all[number(len(all)-1, "change")]
	back := []string{"voter", "voter", "learner"}[number(2, "comes back as")*number(1, "odd")]
	back = strings.NewReplacer("cut", "join", "slow", "join", "kill", "start", "pause", "resume", "skew", "right", "fill", "mend",
		"throttle", "free", "squeeze", "relieve", "hide", "show", "remove", back, "learner", "voter", "voter", "learner").Replace(changes[0])
	name := fmt.Sprintf("fault%d %s", len(m.b.String()), a)
	fmt.Fprintf(m.b, "%dms-%dms nemesis inject %s: %s%s\n", now, m.busy, name, changes[0], outcome)
	m.faults = append(m.faults, [3]string{name, back, changes[1]})
	if changes[1] != "" && outcome != "; failed" {
		m.down[i] = true
	}
	m.busy++
}
