package checkers

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"recount/history"
)

// gather reads h once.
func gather(h *history.History) *facts {
	f := &facts{h: h}
	if s := h.Setup(); s != nil {
		f.setup = *s
		f.setup.Bounds = Thresholds(s.Bounds)
	}
	if len(h.Ops) > 0 {
		f.end = h.Ops[len(h.Ops)-1].Time
	}
	f.answers = make([]answer, 0, len(h.Ops)/2)
	g := gathering{facts: f, ids: map[string]int{}, terms: map[leadKey]int32{}, down: map[string]bool{}}
	for _, n := range f.setup.Nodes {
		g.node(n)
	}
	f.store = slices.Index(f.setup.Nodes, f.setup.Store)
	for _, n := range f.setup.Servers {
		f.servers.add(g.node(n))
	}
	for _, n := range f.setup.Voters() {
		f.voters.add(g.node(n))
	}
	switch f.leaders = f.voters; {
	case len(f.setup.Servers) > 0:
		f.leaders = first(len(f.setup.Nodes)).minus(f.servers)
	case len(f.setup.Voting) == 0:
		f.leaders = first(len(f.setup.Nodes))
	}
	f.world = newWorld(len(f.nodes), f.servers)
	for i := range h.Ops {
		g.op(i, &h.Ops[i])
	}
	g.close()
	return f
}

// gathering is the pass under way.
type gathering struct {
	*facts
	ids    map[string]int
	terms  map[leadKey]int32 // leaderships by term and node
	faults []*history.Fault
	since  time.Duration // the faults are what they are
	down   map[string]bool
	stood  time.Duration // until then nodes have repeated what they had announced, where that holds
}

func (g *gathering) op(i int, op *history.Op) {
	if g.setup.Standing {
		g.stand(op.Time)
	}
	switch op.F {
	case history.Observe:
		if op.Type == history.OK {
			g.told(i, op, g.h.Ops[g.h.Other(i)].Time)
		}
	case history.Announce:
		g.told(i, op, -1)
	case history.Stall:
		d := time.Duration(op.Access.Value)
		g.frozen = append(g.frozen, span{max(op.Time-d, 0), op.Time})
		g.stalls = append(g.stalls, span{op.Time - d, op.Time + g.setup.Bounds.Silence})
	case history.Exit:
		g.exits = append(g.exits, exit{i, g.world.exited(g.node(op.Node), op.Time)})
		g.fell(op.Time)
		g.ended(i, op.Node, op.Time)
	case history.Inject, history.Change, history.Heal:
		g.fault(i, op)
	case history.Resign:
		if op.Type == history.Invoke {
			g.asked(i, op)
		}
	}
}

// asked takes note that a node was asked to hand over, unless it certainly did not.
func (g *gathering) asked(i int, op *history.Op) {
	until, end := g.end, g.h.Other(i)
	if end >= 0 {
		if g.h.Ops[end].Type == history.Fail {
			return
		}
		until = g.h.Ops[end].Time
	}
	g.resigned = append(g.resigned, resignation{span{op.Time, until}, g.node(op.Node)})
}

func (g *gathering) node(name string) int {
	i, ok := g.ids[name]
	if !ok {
		if i = len(g.nodes); i == maxNodes {
			panic(fmt.Sprintf("more than %d nodes", maxNodes))
		}
		g.ids[name] = i
		g.nodes = append(g.nodes, name)
		g.seen = append(g.seen, watched{said: -1, stands: -1})
	}
	return i
}

// told takes note of a node's view. One that was announced tells of a change that the node's last answer may not have
// shown yet, but the one after that would have.
func (g *gathering) told(i int, op *history.Op, asked time.Duration) {
	n := g.node(op.Node)
	s := &g.seen[n]
	if op.View.Role == history.Server { // it says that it is there
		g.poll(n, &answer{from: asked, to: op.Time})
		s.last = span{asked, op.Time}
		return
	}
	a := answer{
		from: asked, to: op.Time, term: op.View.Term, tenure: op.View.Tenure, op: int32(i), node: int16(n),
		role: op.View.Role, polled: asked >= 0, torn: op.View.Torn, lead: -1,
	}
	if !a.torn {
		s.whole++
	}
	if a.polled {
		g.poll(n, &a)
	} else {
		a.from = s.view.from
		s.announced++
	}
	if n := len(g.heights); a.tells() && (n == 0 || a.term > g.heights[n-1].term) {
		g.heights = append(g.heights, height{span{s.view.from, a.to}, a.term, int32(len(g.answers))})
	}
	g.lead(&a)
	g.answers = append(g.answers, a)
	if a.polled {
		s.last = span{a.from, a.to}
		if !a.torn {
			s.view = a
		}
	} else if !a.torn {
		s.said = int32(len(g.answers) - 1)
		if g.setup.Standing {
			s.stands = s.said
			g.repeat(n, a.to)
		}
	}
}

// stand has nodes repeat until a time what they announced last, where that holds until they announce something else.
func (g *gathering) stand(until time.Duration) {
	every := max(g.lull()/3, time.Millisecond)
	for ; g.stood+every < until; g.stood += every {
		at := g.stood + every
		for n := range g.seen {
			if g.seen[n].stands >= 0 && !g.world.still(n) {
				g.repeat(n, at)
			}
		}
	}
}

// repeat has a node say again what it announced last.
func (g *gathering) repeat(n int, at time.Duration) {
	s := &g.seen[n]
	a := g.answers[s.stands]
	a.from, a.to, a.polled, a.lead = at, at, true, -1
	g.world.answered(n, at, at) // who says something by itself, or would if it were otherwise, is up
	s.last, s.up = span{at, at}, g.world.up(n)
	g.lead(&a)
	g.answers = append(g.answers, a)
	s.view = a
}

// poll takes note of when a node was asked and answered.
func (g *gathering) poll(n int, a *answer) {
	s := &g.seen[n]
	if s.up {
		g.silence(s, a.from)
		s.gaps++
		s.gapTime += a.to - s.last.to
		s.worst = max(s.worst, a.to-s.last.from)
	}
	s.polls++
	g.world.answered(n, a.from, a.to)
	s.up = g.world.up(n)
}

// fell takes note of which nodes are no longer surely up.
func (g *gathering) fell(at time.Duration) {
	for n := range g.seen {
		if s := &g.seen[n]; s.up && !g.world.up(n) {
			s.up = false
			g.silence(s, at)
		}
	}
}

// silence takes note of it if a node that was up gave no answer for longer than it may until a time.
func (g *gathering) silence(s *watched, until time.Duration) {
	if until-s.last.to > g.lull() {
		s.silent = append(s.silent, span{s.last.to, until})
	}
}

// fault takes note of what the nemesis does.
func (g *gathering) fault(i int, op *history.Op) {
	other := g.h.Other(i)
	if op.Type == history.Invoke {
		if op.F != history.Change {
			g.phase(op.Time)
			g.since = never
		}
		if op.F == history.Inject {
			g.tried++
		}
		intended := make([]history.Changes, 0, 2)
		for _, k := range [...]int{i, other} {
			if k >= 0 && g.h.Ops[k].Fault != nil {
				intended = append(intended, g.h.Ops[k].Fault.Changes)
			}
		}
		g.world.begin(op.Time, g.ids, intended...)
		g.fell(op.Time)
		return
	}
	told := op.Fault
	if told == nil {
		told = g.h.Ops[other].Fault
	}
	if told == nil {
		told = &history.Fault{}
	}
	g.world.end(op.Time, g.ids, op.Type, told.Changes)
	if op.Type != history.Fail {
		g.actions = append(g.actions, int32(i))
		g.restart(i, told.Procs)
	}
	switch op.F {
	case history.Inject:
		if op.Type == history.OK {
			g.took++
		}
		if op.Type != history.Fail {
			g.faults = append(slices.Clone(g.faults), told)
		}
	case history.Heal:
		if op.Type != history.Fail {
			g.faults = slices.DeleteFunc(slices.Clone(g.faults), func(o *history.Fault) bool { return o.ID == told.ID })
		}
	}
	if op.F != history.Change {
		g.since = op.Time
	}
}

// ended takes note that a node's process ended between a time and op i: it led no more then, as if it had said so.
func (g *gathering) ended(i int, node string, since time.Duration) {
	g.down[node] = true
	n, at := g.node(node), g.h.Ops[i].Time
	g.seen[n].stands = -1
	a := answer{from: since, to: at, op: int32(i), node: int16(n), polled: true, lead: -1}
	g.lead(&a)
	g.answers = append(g.answers, a)
}

func (g *gathering) restart(i int, procs []history.Proc) {
	for _, p := range procs {
		if p.State == history.Up && g.down[p.Node] {
			g.restarts++
		}
		switch p.State {
		case history.Up:
			g.down[p.Node] = false
		case history.Down, history.Stopped, history.Crashed:
			g.ended(i, p.Node, g.h.Ops[g.h.Other(i)].Time)
		}
	}
}

// phase ends the phase under way.
func (g *gathering) phase(at time.Duration) {
	if at > g.since {
		g.phases = append(g.phases, phase{span{g.since, at}, g.faults})
	}
}

func (g *gathering) close() {
	g.phase(g.end)
	for n := range g.seen {
		if s := &g.seen[n]; s.up {
			g.silence(s, g.end)
		}
	}
	for _, all := range []*[]span{&g.stalls, &g.frozen} {
		slices.SortFunc(*all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	}
	g.frozen = merge(g.frozen)
	g.order()
}
