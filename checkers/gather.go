package checkers

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"recount/history"
)

// gathering is the pass over a history, under way.
type gathering struct {
	*facts
	names       map[string]int32  // places in facts.leaderNames
	terms       map[leadKey]int32 // leaderships by term and node
	faults      []*history.Fault
	divisions   []division
	injects     map[int]bool // the faults that were to be injected, by their ids; of those, those that waited for what never came
	down        map[string]bool
	stirred     time.Duration // when something else happened than that nodes said the same again,
	calm        int           // how many answers there were then,
	looked      int           // and when the calm since was looked at last
	stood       time.Duration // until then nodes have repeated what they had announced, where that holds
	reached     time.Duration // and until then what stands was told when it was sure for the last time
	known       time.Duration // until then all that happened has come, be it that it is not taken up yet
	ahead       []upcoming    // what has come since, and is taken up once nothing that was written before it can come, where that holds
	standstills []*history.Op // of that, where the machine stood still
	// mostRepeats is how often they do between two ops where it cannot be left out; then as often again, however long it lasts.
	mostRepeats int
}

func newGathering() gathering {
	g := gathering{
		facts: &facts{leaderNames: []string{""}, open: newBegun(), unended: cutShort}, names: map[string]int32{"": 0}, injects: map[int]bool{},
		terms: map[leadKey]int32{}, down: map[string]bool{}, mostRepeats: mostRepeats,
	}
	g.holds = sync.OnceValue(func() []hold { return g.allHolds(true, true) })
	g.overlooked = sync.OnceValue(g.whoWasOverlooked)
	g.begin(nil)
	return g
}

// cutShort is why nothing is valid in a history without an end.
const cutShort = "the run was cut short"

// begin takes up what the history says of the cluster, before all else.
func (g *gathering) begin(s *history.Setup) {
	f := g.facts
	if f.given = s; s != nil {
		f.setup = *s
		f.setup.Bounds = Thresholds(s.Bounds)
	}
	for _, n := range f.setup.Nodes {
		g.node(n)
	}
	f.misled.since = never
	f.store = slices.Index(f.setup.Nodes, f.setup.Store)
	for _, n := range f.setup.Servers {
		f.servers.add(g.node(n))
	}
	for _, n := range f.setup.Voters() {
		f.voters.add(g.node(n))
	}
	f.franchise, f.leaders = first(len(f.setup.Nodes)), f.voters
	if len(f.setup.Servers) > 0 && !f.setup.Peers {
		f.serving, f.franchise, f.leaders = f.servers, f.servers.or(f.voters), f.franchise.minus(f.servers)
	}
	f.world = newWorld(len(f.nodes), f.serving, f.franchise.minus(f.voters), f.world.epochs)
}

// op takes up an op, and the end of what the nemesis begins with it, if that is known.
func (g *gathering) op(op, end *history.Op) {
	if op.F == history.Begin {
		g.begin(op.Setup)
	}
	g.ops++
	g.end, g.unended = op.Time, cutShort
	if g.setup.Standing {
		g.stand(op.Time)
		g.passes(op)
	}
	g.world.arrive(op.Time)
	begun := g.open.see(op, g.newest())
	g.began = begun
	switch op.F {
	case history.Observe:
		switch op.Type {
		case history.Invoke:
			if i := history.Place(g.nodes, op.Node); i >= 0 {
				g.seen[i].asked = true
			}
		case history.OK:
			g.told(op, begun.at)
		case history.Fail, history.Info:
			if i := history.Place(g.nodes, op.Node); i >= 0 {
				g.seen[i].none++
			}
		}
	case history.Announce:
		g.told(op, -1)
	case history.Stall:
		g.stir(op.Time)
		g.still.Add(op)
		d := time.Duration(op.Access.Value)
		g.frozen = append(g.frozen, span{max(op.Time-d, 0), op.Time})
		g.stalls = append(g.stalls, span{op.Time - d, op.Time + g.setup.Bounds.Silence})
	case history.Exit:
		n := g.node(op.Node)
		trapped := op.Fault != nil
		if why := g.world.exited(n, op.Time, g.lull(), trapped, g.seen[n].doomed(op.Time)); !trapped {
			g.exits = append(g.exits, exit{op.Time, op.Index, n, op.Error, why})
		}
		g.seen[n].stands = -1
		g.fell(op.Time)
		g.ended(op, op.Node, op.Time)
	case history.Inject, history.Change, history.Heal:
		if op.Type == history.Invoke {
			g.sets(op, end)
		} else {
			g.did(op, begun)
		}
	case history.ReadClock:
		g.mislead(op)
	case history.Compare:
		g.compared(op)
	case history.Resign:
		g.stir(op.Time)
		if op.Type == history.Invoke {
			n := g.node(op.Node)
			g.resigned = slices.DeleteFunc(g.resigned, func(r resignation) bool { return r.node == n && r.open }) // who asks knows better
			g.askToGo(n, op.Time, false)
		} else {
			g.hears(op, begun.number)
		}
	case history.End:
		if g.unended = ""; op.Type != history.OK {
			g.unended = "no sign that the history is complete (" + op.Error + ")"
		}
	}
}

// hears takes note of what came of what an op of that number asked for: it was over then, or had certainly not been asked. Else it may
// be asked yet.
func (g *gathering) hears(op *history.Op, number int) {
	if op.Type == history.Fail {
		g.resigned = slices.DeleteFunc(g.resigned, func(r resignation) bool { return r.op == number })
	}
	for i := range g.resigned {
		if r := &g.resigned[i]; r.op == number {
			if r.open, r.over = false, op.Time; op.Type == history.OK {
				r.to = op.Time
			}
		}
	}
}

// asks takes note of whom the nemesis asks to hand over by an op that begins.
func (g *gathering) asks(op *history.Op, intended []history.Changes) {
	var asked set
	for _, c := range intended {
		for _, o := range c.HandOvers() {
			if n := history.Place(g.nodes, o.Node); o.Asked && n >= 0 {
				asked.add(n)
			}
		}
	}
	asked.each(func(n int) {
		g.stir(op.Time)
		g.askToGo(n, op.Time, true)
	})
}

// askToGo takes note that a node is being asked to hand over, by a client or by an op of the nemesis that is under way.
func (g *gathering) askToGo(n int, at time.Duration, open bool) {
	g.resigned = append(g.resigned, resignation{span: span{at, never}, over: never, node: n, op: g.newest(), open: open})
}

func (g *gathering) node(name string) int {
	i := history.Place(g.nodes, name)
	if i < 0 {
		if i = len(g.nodes); i == maxNodes {
			panic(fmt.Sprintf("more than %d nodes", maxNodes))
		}
		g.nodes = append(g.nodes, name)
		g.seen = append(g.seen, watched{said: -1, avowed: -1, stands: -1, another: -1, gone: -never, counts: g.setup.Bounds.Elect})
	}
	return i
}

// name returns the place of a leader's name in facts.leaderNames.
func (g *gathering) name(leader string) int32 {
	k, known := g.names[leader]
	if !known {
		k = int32(len(g.leaderNames))
		g.names[leader] = k
		g.leaderNames = append(g.leaderNames, leader)
	}
	return k
}

// mute reports whether term 0 says nothing of the term of a node with a role: who leads has another, where that is not all that tells one; and
// where it is, nobody else has.
func (g *gathering) mute(role history.Role) bool {
	switch role {
	case history.Server:
		return true
	case history.Leader:
		return !g.setup.Tokens
	}
	return g.setup.Tokens
}

// told takes note of a node's view. One that was announced tells of a change that the node's last answer may not have
// shown yet, but the one after that would have.
func (g *gathering) told(op *history.Op, asked time.Duration) {
	n := g.node(op.Node)
	s := &g.seen[n]
	if op.View.Role == history.Server && g.servers.has(n) { // it says that it is there
		if s.whole > 0 { // and once said more
			g.stir(op.Time)
		}
		if asked < 0 {
			g.speaks(n)
			return
		}
		g.poll(n, &answer{from: asked, to: op.Time})
		s.last = span{asked, op.Time}
		return
	}
	leader := s.view.leader
	if g.leaderNames[leader] != op.View.Leader {
		leader = g.name(op.View.Leader)
	}
	a := answer{
		from: asked, to: op.Time, term: op.View.Term, tenure: op.View.Tenure, op: op.Index, node: int16(n),
		leader: leader, role: op.View.Role, polled: asked >= 0, torn: op.View.Torn, lead: -1,
		mute: op.View.Term == 0 && g.mute(op.View.Role),
	}
	if a.dull = g.dulls(&a); !a.dull {
		g.stir(op.Time)
	}
	if a.torn {
		s.torn++
	} else {
		s.whole++
	}
	if _, named := g.key(&a); a.claims() && !named {
		a.nameless = true
		g.termless++
	}
	if a.polled {
		g.poll(n, &a)
	} else {
		s.lives(a.to)
		if a.from = s.view.from; g.setup.Standing { // it may have been read late
			a.from = max(0, g.surely(&a))
		} else {
			a.from = max(a.from, s.born(a.to-g.lull()))
		}
		g.speaks(n)
	}
	if a.tells() && a.from > s.another {
		if s.highest = max(s.highest, a.term); a.heard() {
			s.heard = max(s.heard, a.term)
		}
	}
	if n := len(s.rises); a.tells() && (n == 0 || a.term > s.rises[n-1].term) {
		s.rises = append(s.rises, height{span: span{min(s.view.from, a.from), a.to}, term: a.term})
	}
	if n := len(g.heights); a.tells() && (n == 0 || a.term > g.heights[n-1].term) {
		g.heights = append(g.heights, height{span{min(s.view.from, a.from), a.to}, a.term, int32(len(g.answers))})
	}
	g.lead(&a)
	g.retells(s, &a)
	g.answers = append(g.answers, a)
	if a.polled {
		s.last = span{a.from, a.to}
		if s.shows(a); !a.torn {
			s.sees(s.last, a.to+g.near())
		}
	} else if !a.torn {
		if s.said = int32(len(g.answers) - 1); !a.vague() {
			s.avowed = s.said
		}
		if g.setup.Standing {
			g.stands(n)
		}
	}
}

// speaks takes note that a node told something by itself.
func (g *gathering) speaks(n int) {
	g.seen[n].announced++
	g.world.announced(n)
}

// poll takes note of when a node was asked and answered.
func (g *gathering) poll(n int, a *answer) {
	s := &g.seen[n]
	if s.up {
		g.silence(s, a.to)
		s.gaps++
		s.gapTime += a.to - s.last.to
		s.worst = max(s.worst, a.to-s.last.from)
	}
	s.polls++
	s.lives(a.from)
	g.world.answered(n, a.from, a.to)
	s.late = s.late && a.from < g.world.awake[n]
	s.up = g.world.up(n)
}

// fell takes note of which nodes are no longer surely up.
func (g *gathering) fell(at time.Duration) {
	for n := range g.seen {
		if s := &g.seen[n]; s.up && !g.world.up(n) {
			s.up, s.fell = false, at
			g.silence(s, at)
			s.lapse(at)
		}
	}
}

// lapse takes note of how long a node has not been asked, if it ever was, when that ends without an answer.
func (w *watched) lapse(at time.Duration) {
	if w.polls > 0 {
		w.worst = max(w.worst, at-w.last.from)
	}
}

// stayed takes note of which nodes surely are up again, since what was to be done to them was not.
func (g *gathering) stayed(at time.Duration) {
	for n := range g.seen {
		if s := &g.seen[n]; !s.up && g.world.up(n) {
			if s.up = true; s.fell < at { // what lasts no time does not count
				s.last = span{at, at}
			}
		}
	}
}

// silence takes note of it if a node that was up gave no answer for longer than it may until a time.
func (g *gathering) silence(s *watched, until time.Duration) {
	if until-s.last.to <= g.lull() {
		return
	}
	s.silent = append(s.silent, span{s.last.to, until})
}

// sets takes note of what the nemesis sets out to do, as far as its beginning and its end tell.
func (g *gathering) sets(op, end *history.Op) {
	if divides(op.F, op.Fault) {
		g.divisions = append(g.divisions, division{span: span{op.Time, never}})
	}
	if op.F == history.Inject {
		g.tried++
		if of := about(op, end); of != nil {
			g.injects[of.ID] = false
		}
	}
	intended := make([]history.Changes, 0, 2)
	for _, o := range [...]*history.Op{op, end} {
		if o != nil && o.Fault != nil {
			intended = append(intended, o.Fault.Changes)
		}
	}
	if slices.ContainsFunc(intended, func(c history.Changes) bool { return len(c.Clocks) > 0 }) {
		g.misled.since = min(g.misled.since, op.Time)
	}
	fails := end != nil && end.Type == history.Fail
	switch tells := slices.ContainsFunc(intended, func(c history.Changes) bool { return !c.Empty() }); {
	case tells:
		g.stated = true
	case op.F == history.Inject && !fails && g.hollow == nil:
		g.hollow = op.Fault
	}
	g.inherits(op, about(op, end), intended)
	g.reseat(op.Time, intended, fails)
	g.world.begin(op.Time, g.nodes, intended...)
	g.excuses(op.Time)
	if !fails {
		g.threaten(op.Time, intended)
		g.asks(op, intended)
	}
	g.fell(op.Time)
}

// excuses takes note of why processes may have ended by themselves at the very instant at which the nemesis set out to do something.
func (g *gathering) excuses(at time.Duration) {
	for k := len(g.exits) - 1; k >= 0 && g.exits[k].at == at; k-- {
		if x := &g.exits[k]; x.excuse == none {
			x.excuse = g.world.endedAs(x.node, at)
		}
	}
}

// about is the fault of an op that begins, and of its end, as far as either tells of it; nil if none does.
func about(op, end *history.Op) *history.Fault {
	if op.Fault == nil && end != nil {
		return end.Fault
	}
	return op.Fault
}

// did takes note of what came of that.
func (g *gathering) did(op *history.Op, begun *beginning) {
	told := op.Fault
	if told == nil || op.Type == history.OK && told.Empty() && begun.fault != nil { // it says nothing of what it came to
		told = begun.fault
	}
	known := told
	if told == nil {
		told = &history.Fault{}
	}
	g.hears(op, begun.number)
	g.reseatedBy(op, begun, told.Members())
	came := g.world.end(op.Time, g.nodes, op.Type, told.Changes)
	came.started.each(func(i int) { g.seen[i].sees(span{op.Time, op.Time}, op.Time+g.setup.Bounds.Elect) })
	came.known.each(func(i int) { g.seen[i].settles(op.Time) })
	came.renewed.each(func(i int) {
		g.ended(op, g.nodes[i], begun.at) // as who it was
		g.down[g.nodes[i]] = false
		g.restarts++
	})
	came.perhaps.each(func(i int) { g.down[g.nodes[i]] = true })
	if op.Type == history.Fail {
		g.stayed(op.Time)
	} else {
		g.actions = append(g.actions, action{begun.at, op.Time, op.Index, op.F, known, op.Fault != nil, op.Type == history.OK})
		g.restart(op, told.Procs, came.renewed, begun.at)
	}
	switch op.F {
	case history.Inject:
		if op.Type == history.OK {
			g.took++
		}
		if op.Type != history.OK && g.unfelt == "" && op.Error != "" {
			g.unfelt = fmt.Sprintf("%s, %s", told.Name, op.Error)
		}
		if op.Type == history.Fail && g.missed.fault == nil && len(told.Asked) > 0 && len(told.Nodes) == 0 {
			g.missed = missed{told, begun.at, op.Error}
		}
		if op.Type != history.Fail && !told.HandsOver() {
			g.faults = append(g.faults, told) // phases before see none of it: their faults end where these begin
		}
	case history.Heal:
		if told.Idle != "" && g.injected(told.ID) {
			if g.took--; g.unfelt == "" {
				g.unfelt = fmt.Sprintf("%s, %s", told.Name, told.Idle)
			}
			g.waited(told.ID)
		}
		if op.Type != history.Fail {
			g.faults = slices.DeleteFunc(slices.Clone(g.faults), func(o *history.Fault) bool { return o.ID == told.ID })
		}
	}
	if k := len(g.divisions) - 1; k >= 0 && g.divisions[k].to == never && divides(op.F, told) {
		g.divisions[k] = division{span{g.divisions[k].from, op.Time}, told.ID, g.faults}
	}
}

// waited takes note that a fault waited for what never came: nothing that was done to have it wait took effect.
func (g *gathering) waited(id int) {
	g.injects[id] = true
	for k := range g.actions {
		if a := &g.actions[k]; a.fault != nil && a.fault.ID == id {
			a.seen = false
		}
	}
}

// injected reports whether a fault that is healed was seen to be injected.
func (g *gathering) injected(id int) bool {
	for _, a := range slices.Backward(g.actions) {
		if a.f == history.Inject && a.fault != nil && a.fault.ID == id {
			return a.seen
		}
	}
	return false
}

// divides reports whether what the nemesis does begins another phase: a fault that moves stays the same, and to ask a node to hand
// over puts nothing at fault.
func divides(f history.F, told *history.Fault) bool {
	return f != history.Change && (told == nil || !told.HandsOver())
}

// ended takes note that a node's process ended between a time and an op: it led no more then, as if it had said so.
func (g *gathering) ended(op *history.Op, node string, since time.Duration) {
	g.down[node] = true
	n := g.node(node)
	if op.F != history.Exit && op.Type != history.OK {
		return // or it did not: nobody could see
	}
	g.stir(op.Time) // before this is told: leaderships know it by its number, which what is left out of the calm before must not change
	g.seen[n].dies(span{since, op.Time}, int32(len(g.answers)), op.F == history.Exit)
	a := answer{from: since, to: op.Time, op: op.Index, node: int16(n), polled: true, ended: true, lead: -1}
	g.lead(&a)
	g.answers = append(g.answers, a)
}

// restart takes note of processes that the nemesis, at work since a time, has started or ended with an op. Those that it started anew have
// ended, and run.
func (g *gathering) restart(op *history.Op, procs []history.Proc, renewed set, since time.Duration) {
	for _, p := range procs {
		if p.State == history.Up && g.down[p.Node] {
			g.restarts++
		}
		if p.State == history.Up {
			g.down[p.Node] = false
		} else if p.State.Ended() && !renewed.has(slices.Index(g.nodes, p.Node)) {
			g.ended(op, p.Node, since)
		}
	}
}

// division is what the nemesis did between one phase and the next.
type division struct {
	span                    // without an end it lasts for ever
	fault  int              // by its id
	faults []*history.Fault // under way after it
}

// divide tells the phases of the history. A fault that waited in vain is in none of them, and divides none.
func (g *gathering) divide() {
	idle := func(o *history.Fault) bool { return g.injects[o.ID] }
	var now phase
	ends := func(at time.Duration) {
		if now.to = at; now.length() > 0 {
			g.phases = append(g.phases, now)
		}
	}
	for _, d := range g.divisions {
		if !g.injects[d.fault] {
			ends(d.from)
			now = phase{span{from: d.to}, slices.DeleteFunc(slices.Clone(d.faults), idle)}
		}
	}
	ends(g.end)
}

// close ends the pass.
func (g *gathering) close() {
	for i := range g.resigned {
		g.resigned[i].to = min(g.resigned[i].to, g.end)
	}
	g.divide()
	g.wordless()
	for n := range g.seen {
		s := &g.seen[n]
		if s.up {
			g.silence(s, g.end)
			s.lapse(g.end)
		}
		s.sees(span{g.end, g.end}, g.end)
	}
	for _, all := range []*[]span{&g.stalls, &g.frozen} {
		slices.SortFunc(*all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	}
	g.frozen = merge(g.frozen)
	if g.serving == (set{}) {
		for _, r := range g.world.rolls {
			g.leaders = g.leaders.or(r.votes).or(r.may)
		}
	}
	g.offices()
	g.order()
}
