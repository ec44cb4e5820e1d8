package checkers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recount/history"
)

// spokenBy is who asks for what a standing log line says again.
const spokenBy history.Process = 100_000

// spoken is a history in which each answer that a standing log line gives is one that was asked for.
func spoken(h *history.History) *history.History {
	setup := *h.Setup()
	if !setup.Standing {
		return h
	}
	setup.Standing = false
	every := max(lull(h)/3, time.Millisecond)
	stands, since, doubted := map[string]history.View{}, map[string]time.Duration{}, map[string]time.Duration{}
	late := map[string]bool{} // whose lines may be from before an op had left it down or standing still
	var anew []string         // by what the nemesis began last
	var ops []history.Op
	w := atFirst(h)
	say := func(node string, at time.Duration, torn bool) {
		op := history.Op{Process: spokenBy + history.Process(len(ops)), Node: node, F: history.Observe, Type: history.Invoke, Time: at}
		end := op
		end.Type, end.View = history.OK, stands[node]
		end.View.Torn = torn || !w.healthy(node) // that it runs is all that it may say
		ops = append(ops, op, end)
		w.answers(node, at)
	}
	for i, op := range h.Ops {
		before := time.Duration(0)
		if i > 0 {
			before = h.Ops[i-1].Time
		}
		again := func(n string) bool {
			_, stood := stands[n]
			return stood && !w.down(n) && w.proc(n) != broken && !w.pends(n)
		}
		for at := before; at < op.Time; {
			next := op.Time // a tick, or when a line is sure for the last time
			if tick := (at + every - 1) / every * every; tick > 0 {
				next = min(next, tick)
			} else {
				next = min(next, every)
			}
			for _, n := range setup.Nodes {
				if last := told(h, n, stands[n], i) - lag(h) - 1; again(n) && last >= at && last > since[n] {
					next = min(next, last)
				}
			}
			for _, n := range setup.Nodes {
				last := told(h, n, stands[n], i) - lag(h) - 1
				if next < op.Time && again(n) && (next%every == 0 || last == next && last > since[n]) {
					say(n, next, next <= doubted[n] || retold(h, n, stands[n], next, i))
				}
			}
			at = next + 1
		}
		if op.F == history.Begin {
			op.Setup = &setup
		}
		ops = append(ops, op)
		w.happens(i)
		if op.Process == history.Nemesis {
			begins := i
			if op.Type == history.Invoke {
				anew = renewed(w, i)
			} else {
				begins = h.Other(i)
			}
			for _, n := range setup.Nodes {
				if deed := deedOf(h, begins); !deed.failed && (deed.ends(n) || slices.Contains(anew, n)) { // or it may
					delete(stands, n)
				}
				if deed := deedOf(h, begins); !deed.failed && op.Type == history.Invoke && (deed.runs(n) || slices.Contains(anew, n)) {
					delete(late, n)
				}
			}
		}
		switch {
		case op.F == history.Announce && op.View.Torn:
			delete(stands, op.Node)
		case op.F == history.Announce:
			stands[op.Node] = op.View
			late[op.Node] = late[op.Node] || w.proc(op.Node) == broken
			since[op.Node], doubted[op.Node] = op.Time, -1
			for _, o := range h.Ops[:i] {
				if o.F == history.Observe && o.Type == history.OK && o.Node == op.Node && o.Time > op.Time-lag(h) && unlike(o.View, op.View) {
					doubted[op.Node] = o.Time + lag(h)
				}
			}
			torn := late[op.Node] || w.threatened(op.Node) || slices.ContainsFunc(fates(h), func(e fate) bool {
				return e.node == op.Node && e.told < i && e.to >= op.Time-lag(h)
			})
			if say(op.Node, op.Time, torn || op.Time <= doubted[op.Node] || retold(h, op.Node, op.View, op.Time, i+1)); torn {
				delete(stands, op.Node)
			}
		case op.F == history.Exit:
			delete(stands, op.Node)
		case op.F == history.Observe && op.Type == history.OK:
			asked, view := h.Ops[h.Other(i)].Time, op.View
			if asked > w.exit[op.Node] {
				delete(late, op.Node)
			}
			switch said, stood := stands[op.Node]; {
			case !stood || !unlike(view, said):
			case asked > since[op.Node]:
				delete(stands, op.Node)
			default:
				doubted[op.Node] = op.Time + lag(h)
			}
		}
	}
	for i := range ops {
		ops[i].Index = i
	}
	all, err := history.New(ops)
	if err != nil {
		panic(err)
	}
	return all
}

// retold reports whether a node says something else than its line not a lag after a time, from an op on, or may be about to; or the
// machine stands still then, or is seen to not a lag later.
func retold(h *history.History, node string, line history.View, at time.Duration, from int) bool {
	for i, op := range h.Ops[from:] {
		if op.F == history.Stall && (i == 0 && op.Time-time.Duration(op.Access.Value) <= at || op.Time <= at+lag(h)) {
			return true
		}
	}
	return told(h, node, line, from) <= at+lag(h)
}

// told is when a node says something else than its line, from an op on, or the history ends.
func told(h *history.History, node string, line history.View, from int) time.Duration {
	for _, op := range h.Ops[from:] {
		otherwise := op.Node == node && (op.F == history.Announce && (op.View.Torn || differ(op.View, line)) ||
			op.F == history.Observe && op.Type == history.OK && unlike(op.View, line))
		if otherwise || op.F == history.End {
			return op.Time
		}
	}
	return h.Ops[len(h.Ops)-1].Time
}

// lag is how late a log line may be read.
func lag(h *history.History) time.Duration {
	if h.Setup().Lag > 0 {
		return h.Setup().Lag
	}
	return lull(h)
}

// unlike reports whether an answer says something else than a log line.
func unlike(view, line history.View) bool {
	if view.Role == history.UnknownRole || view.Role == history.Server {
		return view.Term != 0 && view.Term != line.Term || view.Leader != "" && view.Leader != line.Leader
	}
	return differ(view, line)
}

func differ(view, line history.View) bool {
	return view.Role != line.Role || view.Tenure != line.Tenure || view.Term != line.Term || view.Leader != line.Leader
}

// unasked reports whether somebody claimed to lead whom nobody ever asked.
func unasked(h *history.History) bool {
	return slices.ContainsFunc(undivided(h), func(a said) bool {
		return a.claims() && !everAnswered(h, a.node)
	})
}

// reigned returns the longest times, longer than elect, in which nodes surely led.
func reigned(h *history.History) (all []sure) {
	for _, n := range h.Setup().Nodes {
		led, _ := surely(h, slices.DeleteFunc(slices.Clone(undivided(h)), func(a said) bool { return a.node != n }), fates(h))
		for _, l := range longest(led) {
			if l.to-l.from > h.Setup().Bounds.Elect {
				all = append(all, l)
			}
		}
	}
	return all
}

// longest returns those that are no part of another.
func longest(all []sure) (rest []sure) {
	for i, a := range all {
		if !slices.ContainsFunc(all, func(b sure) bool {
			return b.from <= a.from && a.to <= b.to && b.to-b.from > a.to-a.from
		}) && !slices.Contains(all[:i], a) {
			rest = append(rest, a)
		}
	}
	return rest
}

// without is what some times leave of another.
func without(s sure, all []sure) []sure {
	rest := []sure{s}
	for _, o := range all {
		var now []sure
		for _, r := range rest {
			if o.to < r.from || r.to < o.from {
				now = append(now, r)
				continue
			}
			if r.from < o.from {
				now = append(now, sure{r.node, r.from, o.from})
			}
			if o.to < r.to {
				now = append(now, sure{r.node, o.to, r.to})
			}
		}
		rest = now
	}
	return rest
}

// meet is what of some times lies within another.
func meet(all []sure, s sure) (parts []sure) {
	for _, o := range all {
		if from, to := max(o.from, s.from), min(o.to, s.to); from < to {
			parts = append(parts, sure{o.node, from, to})
		}
	}
	return parts
}

// scene is what surely was so in a history, from op to op.
type scene struct {
	h     *history.History
	parts []scenery
	mute  map[string][]sure
}

type scenery struct {
	from, to  time.Duration
	well      map[string]bool
	able      map[string]bool // well, whatever its disk is
	votes     map[string]bool // or is a candidate
	reached   map[string]bool // by clients
	connected map[[2]string]bool
	enough    map[int]bool // of those who may be a majority of the voters, which surely are
}

func sceneOf(h *history.History) scene {
	s := scene{h: h, mute: map[string][]sure{}}
	nodes := h.Setup().Nodes
	for i, w := range stages(h)[1:len(h.Ops)] {
		p := scenery{
			h.Ops[i].Time, h.Ops[i+1].Time, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[[2]string]bool{}, map[int]bool{},
		}
		if p.from == p.to {
			continue
		}
		for _, a := range nodes {
			p.able[a] = w.proc(a) == healthy && w.rightButDisk(a) && w.belongs(a)
			p.well[a] = p.able[a] && w.right(a)
			p.votes[a] = w.votes(a) == healthy
			p.reached[a] = w.is[history.Client{Node: a}.Key()] == healthy
			for _, b := range nodes {
				p.connected[[2]string{a, b}] = a == b || w.connected(a, b)
			}
		}
		of := electors(h)
		for mask := range 1 << len(of) {
			p.enough[mask] = h.Setup().Store != "" && mask == 1 || h.Setup().Store == "" && w.enough(chosen(of, mask), false)
		}
		s.parts = append(s.parts, p)
	}
	for _, n := range nodes {
		s.mute[n] = mute(h, n)
	}
	return s
}

// company returns the longest parts of a time in which some had a majority with them, and more held; or, of those, the longest
// in which that was seen.
func (s *scene) company(in sure, seen bool, more func(scenery) bool, who ...string) (all []sure) {
	return s.companyWhere(func(p scenery) map[string]bool { return p.well }, in, seen, more, who...)
}

// bareCompany is the same of a peer whose own disk may be as it likes, as far as that is not surely healthy all the time: it is of the majority
// where that does not keep it from it.
func (s *scene) bareCompany(in sure, seen bool, more func(scenery) bool, who string) []sure {
	all := s.companyWhere(func(p scenery) map[string]bool { return p.able }, in, seen, more, who)
	return slices.DeleteFunc(all, func(c sure) bool {
		return !slices.ContainsFunc(s.parts, func(p scenery) bool { return p.from < c.to && c.from < p.to && !p.well[who] })
	})
}

// companyWhere is one of them, by how well those have to be that have the majority with them.
func (s *scene) companyWhere(well func(scenery) map[string]bool, in sure, seen bool, more func(scenery) bool, who ...string) (all []sure) {
	setup := s.h.Setup()
	peers, of := len(setup.Servers) == 0 && setup.Store == "", electors(s.h)
	for mask := range 1 << len(of) {
		majority := chosen(of, mask)
		set := majority
		if peers {
			set = slices.Concat(set, who)
		}
		holds := func(p scenery) bool {
			if !p.enough[mask] {
				return false
			}
			for _, a := range slices.Concat(set, who) {
				if !p.well[a] && (slices.Contains(majority, a) || !well(p)[a]) {
					return false
				}
				for _, b := range set {
					both := slices.Contains(who, a) || slices.Contains(setup.Servers, a) && slices.Contains(setup.Servers, b)
					if both && !p.connected[[2]string{a, b}] {
						return false
					}
				}
			}
			return more == nil || more(p)
		}
		var times []sure
		open := false
		for _, p := range s.parts {
			switch is := holds(p); {
			case is && open:
				times[len(times)-1].to = p.to
			case is:
				times = append(times, sure{"", p.from, p.to})
			}
			open = holds(p)
		}
		for _, t := range meet(times, in) {
			parts := []sure{t}
			if seen {
				for _, n := range slices.Concat(set, who) {
					var rest []sure
					for _, p := range parts {
						rest = append(rest, without(p, s.mute[n])...)
					}
					parts = rest
				}
			}
			all = append(all, parts...)
		}
	}
	return longest(all)
}

// electors are those of whom it takes a majority, as far as they vote.
func electors(h *history.History) []string {
	if store := h.Setup().Store; store != "" {
		return []string{store}
	}
	return franchise(h)
}

// chosen are some of all.
func chosen(of []string, mask int) (some []string) {
	for i, n := range of {
		if mask>>i&1 == 1 {
			some = append(some, n)
		}
	}
	return some
}

// learners are those that have to know who leads, while they vote.
func learners(h *history.History) []string {
	setup := h.Setup()
	if len(setup.Servers) == 0 && setup.Store == "" {
		return franchise(h)
	}
	return slices.DeleteFunc(slices.Clone(setup.Nodes), func(n string) bool { return n == setup.Store || slices.Contains(setup.Servers, n) })
}

// namesNobody is when a node named nobody: from the end of one of some answers to the beginning of another.
func namesNobody(h *history.History, node string) (all []sure) {
	var row, others []said
	for _, a := range answers(h) {
		switch {
		case a.node != node:
		case a.names() != "" || a.ended || !a.view.Torn && a.view.Role == history.UnknownRole:
			others = append(others, a)
		case !a.view.Torn:
			row = append(row, a)
		}
	}
	rows := make([]int, len(row)) // which row each belongs to
	asked := time.Duration(0)
	for i, a := range row {
		if i > 0 {
			rows[i] = rows[i-1]
		}
		if i > 0 && a.at-asked > lull(h) {
			rows[i]++
			asked = 0
		}
		asked = max(asked, a.asked)
	}
	for i, a := range row {
		for j, b := range row[i:] {
			if rows[i] == rows[i+j] && a.at < b.asked && !slices.ContainsFunc(others, func(o said) bool { return o.asked <= b.asked && a.asked <= o.at }) {
				all = append(all, sure{node, a.at, b.asked})
			}
		}
	}
	return longest(all)
}

// namesUnseen is when a node was not seen to name anybody.
func namesUnseen(h *history.History, node string) (all []sure) {
	last := time.Duration(0)
	for _, a := range answers(h) {
		if a.node == node && a.names() != "" {
			all = append(all, sure{node, last, a.asked})
			last = a.at
		}
	}
	return append(all, sure{node, last, h.Ops[len(h.Ops)-1].Time})
}

func TestOraclesLearnsLeader(t *testing.T) {
	compare(t, "learns-leader", anyReign, func(h *history.History) Verdict {
		h = spoken(h)
		elect := h.Setup().Bounds.Elect
		named := slices.ContainsFunc(answers(h), func(a said) bool { return a.view.Leader != "" && a.view.Leader != a.node })
		if len(heard(h)) < 2 || !named || unasked(h) {
			return Unknown
		}
		s := sceneOf(h)
		broken, due, doubt := false, false, false
		for _, l := range reigned(h) {
			for _, n := range learners(h) {
				votes := func(p scenery) bool { return p.votes[n] }
				if n == l.node {
					continue
				}
				for _, c := range s.company(l, false, votes, l.node, n) {
					if c.to-c.from <= elect {
						continue
					}
					due = true
					for _, u := range meet(namesUnseen(h, n), c) {
						doubt = doubt || u.to-u.from > elect
					}
				}
				for _, c := range s.company(l, true, votes, l.node, n) {
					for _, u := range meet(namesNobody(h, n), c) {
						broken = broken || most(h, u.from, u.to) > elect
					}
				}
			}
		}
		switch {
		case broken:
			return Invalid
		case !whole(h) || doubt || inVain(h) || !due:
			return Unknown
		}
		return Valid
	})
}

func TestOraclesProgress(t *testing.T) {
	compare(t, "progress", anyReign, func(h *history.History) Verdict {
		h = spoken(h)
		elect := h.Setup().Bounds.Elect
		tries, took := map[string][]sure{}, map[string][]sure{} // by node
		written := false
		for i, op := range h.Ops {
			if op.F == history.Apply {
				for _, n := range []string{op.Node, op.Update().From} {
					took[n] = append(took[n], sure{n, op.Time - lull(h), op.Time})
				}
			}
			if op.Type != history.Invoke || op.F != history.Put && op.F != history.CAS || op.Node == "" {
				continue
			}
			written = true
			w := sure{op.Node, op.Time, h.Ops[len(h.Ops)-1].Time}
			through := false
			if k := h.Other(i); k >= 0 {
				w.to = h.Ops[k].Time
				through = h.Ops[k].Type == history.OK || op.F == history.CAS && h.Ops[k].Type == history.Fail
			}
			for _, r := range h.Ops[i:] {
				read := r.Type == history.OK && (r.F == history.Get && r.Reg.Value == op.Reg.Value || r.F == history.CAS && r.Reg.Old == op.Reg.Value)
				if !through && read && r.Reg.Key == op.Reg.Key { // it had by then
					through, w.to = true, min(w.to, r.Time)
				}
			}
			if through {
				took[op.Node] = append(took[op.Node], w)
			} else {
				tries[op.Node] = append(tries[op.Node], w)
			}
		}
		if len(heard(h)) < 2 || !written || unasked(h) {
			return Unknown
		}
		// vain is for how long writes to a node were tried in a time.
		vain := func(in sure, node string) (sum time.Duration) {
			until := time.Duration(-1)
			for _, w := range tries[node] {
				if w.from < in.from || in.to < w.from {
					continue
				}
				from, to := w.from, min(w.to, in.to)
				if until >= 0 && from-until <= lull(h) {
					from = until
				}
				sum += max(to-from, 0)
				until = max(until, to)
			}
			return sum
		}
		// over is how long it was from when the first of three writes or more to a node in a time began until the last one was over.
		over := func(in sure, node string) time.Duration {
			first, last, n := forever, time.Duration(-1), 0
			for _, w := range tries[node] {
				if in.from <= w.from && w.from <= in.to {
					first, last = min(first, w.from), max(last, min(w.to, in.to))
					n++
				}
			}
			if n < 3 {
				return 0
			}
			return last - first
		}
		s := sceneOf(h)
		peers := len(h.Setup().Servers) == 0 && h.Setup().Store == ""
		broken, tested, doubt := false, false, false
		for _, l := range reigned(h) {
			var anyhow []sure // when something got through anywhere, or another said that it leads
			for _, n := range h.Setup().Nodes {
				anyhow = append(anyhow, took[n]...)
			}
			for _, a := range answers(h) {
				if a.node != l.node && a.view.Role == history.Leader {
					anyhow = append(anyhow, sure{a.node, a.asked, a.at})
				}
			}
			reached := func(p scenery) bool { return p.reached[l.node] }
			for _, c := range s.company(l, false, reached, l.node) {
				if c.to-c.from <= elect {
					continue
				}
				tested = tested || slices.ContainsFunc(took[l.node], func(o sure) bool { return o.from <= c.to && c.from <= o.to })
				for _, q := range without(c, took[l.node]) {
					doubt = doubt || max(vain(q, l.node), over(q, l.node)) > elect
				}
			}
			for _, c := range s.company(l, true, reached, l.node) {
				for _, q := range without(c, took[l.node]) {
					broken = broken || vain(q, l.node)-(q.to-q.from-net(h, q.from, q.to)) > elect
				}
			}
			if !peers {
				continue
			}
			for _, c := range s.bareCompany(l, false, reached, l.node) {
				for _, q := range without(c, anyhow) {
					doubt = doubt || max(vain(q, l.node), over(q, l.node)) > elect
				}
			}
			for _, c := range s.bareCompany(l, true, reached, l.node) {
				for _, q := range without(c, anyhow) {
					broken = broken || vain(q, l.node)-(q.to-q.from-net(h, q.from, q.to)) > elect
				}
			}
		}
		switch {
		case broken:
			return Invalid
		case !whole(h) || doubt || inVain(h) || !tested:
			return Unknown
		}
		return Valid
	})
}

// anyReign draws a run in which somebody mostly leads for long, some node mostly names nobody, and clients mostly write in vain to
// who leads. Nodes may elect through servers or a store, some may not vote, and log lines may stand.
func anyReign(t *rapid.T) string {
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
	one := func(in int, what string) bool { return number(in-1, what) == in-1 }
	var b strings.Builder
	nodes := []string{"n1", "n2", "n3", "n4"}[:2+number(2, "nodes")]
	all := nodes
	fmt.Fprintf(&b, "nodes %s\n", strings.Join(nodes, " "))
	switch number(7, "kind") {
	case 0:
		b.WriteString("servers s1 s2 s3\n")
		all = slices.Concat(nodes, []string{"s1", "s2", "s3"})
	case 1:
		fmt.Fprintf(&b, "store %s\n", nodes[len(nodes)-1])
	case 2:
		if len(nodes) > 2 {
			fmt.Fprintf(&b, "voters %s\n", strings.Join(nodes[:max(len(nodes)-1-number(1, "more do not"), 2)], " "))
		}
	}
	silence, poll := 1+number(3, "silence"), 1+number(1, "poll")
	fmt.Fprintf(&b, "bounds silence=%dms elect=%dms poll=%dms", silence, 2+number(7, "elect"), poll)
	standing := one(5, "standing")
	if standing && one(2, "lag") {
		b.WriteString(" lag=1ms")
	}
	b.WriteString("\n")
	if standing {
		b.WriteString("flags standing\n")
	}
	numbered := !one(4, "no terms")
	if !numbered {
		b.WriteString("flags no-terms\n")
	}
	counted := one(4, "tenures")
	asked := !standing || one(3, "asked as well")
	text := func(v belief, leads int) string {
		s := v.role
		if numbered {
			s += fmt.Sprintf(" %d", v.term)
		}
		if counted && v.role == "leader" {
			s += fmt.Sprintf(" tenure %d", leads)
		}
		if v.leader != "" && v.role != "leader" {
			s += " of " + v.leader
		}
		return s
	}
	noisy, faulty, restless := 20+number(200, "noise"), 10+number(60, "faults"), 10+number(90, "restless")
	unlearned, vain := 1+number(3, "knows"), 1+number(9, "vain")
	views, down := make([]belief, len(nodes)), make([]bool, len(all))
	for i := range views {
		views[i] = belief{role: "follower"}
	}
	nemesis := trouble{t: t, b: &b, nodes: all, down: down, members: one(2, "members"), more: []string{"hide"}}
	term, leads, leader, writes := 0, 0, -1, 0
	tell := func(now, i int) {
		if standing || one(3, "announces") {
			fmt.Fprintf(&b, "%dms %s announces %s\n", now, nodes[i], text(views[i], leads))
		}
	}
	elect := func(now int) {
		i := number(len(nodes)-1, "elected")
		if down[i] {
			return
		}
		if leader >= 0 && one(3, "by leave") {
			fmt.Fprintf(&b, "%dms %s resigns%s\n", now, nodes[leader], []string{"", " refused", " unended", " unknown"}[number(3, "resigned")])
		}
		leader = i
		if leads++; !one(5, "the same term again") || term == 0 {
			term++
		}
		for k := range views {
			if k == i || down[k] {
				continue
			}
			v := belief{role: "follower", term: term, leader: nodes[i]}
			if one(unlearned, "learns nothing") {
				v.leader = ""
			}
			if views[k] != v {
				views[k] = v
				tell(now, k)
			}
		}
		views[i] = belief{role: "leader", term: term}
		tell(now, i)
	}
	ends := 15 + number(45, "length")
	for now := number(2, "begin"); now < ends; now++ {
		if now == 2 || one(restless, "elects") {
			elect(now)
		}
		if one(60, "stall") {
			fmt.Fprintf(&b, "%dms stall %dms\n", now, number(5, "stalled"))
		}
		if now >= nemesis.busy && one(faulty, "fault") {
			nemesis.make(now)
		}
		if leader >= 0 && one(2, "writes") {
			writes++
			whom, verb := nodes[leader], "put "
			if one(10, "to another") {
				whom = nodes[number(len(nodes)-1, "to")]
			}
			if one(5, "compares") {
				verb = fmt.Sprintf("cas %d ", number(writes, "old"))
			}
			outcome := []string{" unknown", " failed", " unended", " unknown", ""}[number(3, "outcome")]
			if one(vain, "gets through") {
				outcome = ""
			}
			if verb != "put " && outcome == " failed" && !one(vain, "answered") {
				outcome = " unknown"
			}
			fmt.Fprintf(&b, "%dms-%dms client %s%d at %s%s\n", now, now+number(4, "wrote"), verb, writes-number(1, "again"), whom, outcome)
		}
		if one(5*vain, "reads") {
			fmt.Fprintf(&b, "%dms-%dms client get %d at %s\n", now, now+number(2, "read"), number(writes, "found"), nodes[0])
		}
		if leader >= 0 && one(10*vain, "applies") {
			fmt.Fprintf(&b, "%dms %s applies %d %d of %s\n", now, nodes[number(len(nodes)-1, "by")], term, now, nodes[leader])
		}
		for i, n := range all {
			server := i >= len(nodes)
			switch {
			case down[i] && !one(12, "answers all the same"):
				continue
			case one(noisy, "exits") && one(4, "surely"):
				fmt.Fprintf(&b, "%dms %s exits\n", now, n)
				down[i] = !one(3, "answers on")
				continue
			case server:
				if (now+i)%poll == 0 && !one(noisy, "not asked") {
					fmt.Fprintf(&b, "%dms %s server\n", now, n)
				}
				continue
			}
			v := views[i]
			if one(noisy, "odd") {
				v = belief{role: rapid.SampledFrom([]string{"leader", "follower", "candidate", "unknown"}).Draw(t, "role"), term: number(term+1, "term")}
				if one(2, "names") {
					v.leader = nodes[number(len(nodes)-1, "leader")]
				}
				if one(3, "for good") {
					views[i] = v
				}
			}
			if one(noisy, "announces") {
				fmt.Fprintf(&b, "%dms %s announces %s\n", now, n, text(v, leads))
			}
			if !asked || (now+i)%poll > 0 || one(noisy, "not asked") {
				continue
			}
			drawPoll(t, &b, now, noisy, n, text(v, leads))
		}
	}
	if !one(20, "cut short") {
		fmt.Fprintf(&b, "%dms end\n", max(ends, nemesis.busy)+4)
	}
	return b.String()
}
