package checkers

import (
	"slices"
	"time"

	"recount/history"
)

// world is what the faults made of the cluster, over time: which links, processes, clocks, disks, processors and memory were
// surely fine, and which ways of clients to nodes, which surely were not, and which nobody can tell.
//
// While the nemesis is at work on something, its old state may hold or the new one; a change that nobody could see to
// take effect leaves things unsure until a later one is seen. A link that loses or delays packets, or only those of one
// port, is neither connected nor cut. A process counts as up from its first answer after it was started, not from its start.
type world struct {
	n int
	// servers are those that the others elect through; they serve as far as they are connected with each other.
	servers  set
	learners set          // who did not vote at first, and can be made a voter
	cells    []cond       // of links by from*n+to, then of nodes by kind, then of single ports of links and of parts of nodes
	ports    map[port]int // where in cells
	underWay underWay
	tended   map[tended]int  // where in cells, parts of nodes that were touched
	awake    []time.Duration // of each process, since when questions tell of it: since it was started, or just after it ended or was stopped
	ailing   set             // whose disk, processor, memory or part is not healthy, or may not be
	ailed    set             // whose was not, before
	healed   []time.Duration // until when it was not, of who ailed
	doubts   doubts
	touch    []touched // by the change under way
	links    bool      // whether a link was touched since the last epoch began
	epochs   []epoch
	rolls    []roll          // who voted, each time that it was otherwise
	since    []time.Duration // when each of them began
	moments  []epoch         // that lasted no time, and in which somebody may have done or heard something who could not before
}

// cond is the condition of a link, a process, a clock, a disk, a processor, memory or a membership.
type cond uint8

const (
	fine   cond = iota // delivers; is up; is right; votes
	ill                // mistreats packets; is wrong; is full, slow or failing; is kept from the node; is too little; is a learner's
	dead               // is cut; is down or paused; is no member's
	unsure             // one of these
	waking             // started, and not heard of since
	gone               // ended by itself, though nothing was wrong with its clock, disk, processor and memory
	quit               // ended by itself, and is excused
)

// kind is what of a node a cell tells of.
type kind int

const (
	processes kind = iota
	clocks
	disks
	ways // of clients to it
	processors
	memories
	memberships
	kinds
)

// cell is the cell of a node.
func (w *world) cell(of kind, i int) int { return w.n*w.n + int(of)*w.n + i }

// is is what it says.
func (w *world) is(of kind, i int) cond { return w.cells[w.cell(of, i)] }

// whose is the node whose cell of a kind it is; less than 0 if it is another one.
func (w *world) whose(of kind, cell int) int {
	if i := cell - w.cell(of, 0); i < w.n {
		return i
	}
	return -1
}

// port is one port of a link.
type port struct{ link, number int }

// tended is a part of a node: some of its processes, by what they are called, or a fault of the target's own, as "own/NAME".
type tended struct {
	node int
	name string
}

// touched is a cell that is being changed, and what it was before.
type touched struct {
	cell int
	was  cond
	to   cond // what it is to be, where that is known
}

// newWorld returns a world in which nobody was heard of yet. It uses the memory of epochs.
func newWorld(n int, servers, learners set, epochs []epoch) world {
	w := world{
		n: n, servers: servers, learners: learners, epochs: epochs[:0], cells: make([]cond, n*n+int(kinds)*n),
		awake: make([]time.Duration, n), healed: make([]time.Duration, n), links: true,
	}
	for i := range n {
		if w.cells[w.cell(processes, i)] = waking; learners.has(i) {
			w.cells[w.cell(memberships, i)] = ill
		}
	}
	w.mark(0)
	return w
}

// begin takes note that the nemesis sets out to make these changes.
func (w *world) begin(at time.Duration, nodes []string, intended ...history.Changes) {
	var rising set
	for i := range w.n {
		if w.starting(i) {
			rising.add(i)
		}
	}
	w.doubts.rising, w.doubts.bidden = rising, set{}
	w.touch = w.touch[:0]
	for _, c := range intended {
		w.visit(c, nodes, func(cell int, to cond) {
			now := w.cells[cell]
			if i := w.whose(processes, cell); i >= 0 {
				if w.doubts.trapped.remove(i); to == fine {
					w.doubts.bidden.add(i)
				}
			}
			if now == to || now == waking && to == fine {
				return
			}
			if now.ended() && to == dead { // nor would it run from here on if it had not ended
				w.touch = append(w.touch, touched{cell: cell, was: now, to: to})
				w.cells[cell] = quit
				return
			}
			w.doubt(cell, to)
			if i := w.whose(memberships, cell); i >= 0 && to != dead { // it is started anew
				w.doubts.trapped.remove(i)
				w.doubt(w.cell(processes, i), unsure)
			}
		})
	}
	w.mark(at)
}

// doubt takes note that a cell is being changed.
func (w *world) doubt(cell int, to cond) {
	w.touch = append(w.touch, touched{cell: cell, was: w.cells[cell], to: to})
	w.cells[cell] = unsure
	if i := w.whose(processes, cell); i >= 0 {
		w.doubts.owed.remove(i)
	}
}

// ended reports whether a process ended by itself, and was not heard of since.
func (process cond) ended() bool { return process == gone || process == quit }

// came is what came of a change that ended.
type came struct {
	renewed set // who was started anew, as another member
	perhaps set // who may have been, since the change did not fail
	started set // whose process was started
	known   set // of whose process it tells what became
}

// end takes note of what became of the changes begun last.
func (w *world) end(at time.Duration, nodes []string, outcome history.Type, c history.Changes) (of came) {
	switch outcome {
	case history.Fail: // nothing changed
		w.links = true
		for _, t := range slices.Backward(w.touch) {
			w.cells[t.cell] = t.was
		}
	case history.OK:
		w.visit(c, nodes, func(cell int, to cond) { w.becomes(cell, to, at, &of) })
	}
	w.mark(at)
	if outcome != history.Fail {
		w.renews(&of)
	}
	w.doubts.owed.each(func(i int) {
		if is := w.is(processes, i); is != unsure && is != waking {
			w.doubts.owed.remove(i)
		}
	})
	if outcome == history.Fail { // nor will anything
		w.touch, w.doubts.bidden = w.touch[:0], set{}
		return of
	}
	w.lasts(of.known)
	return of
}

// renews takes note of who was, or may have been, started anew by a change of memberships that did not fail.
func (w *world) renews(of *came) {
	for _, t := range w.touch {
		switch i := w.whose(memberships, t.cell); {
		case i < 0 || t.to == dead:
		case w.cells[t.cell] != unsure && w.cells[t.cell] != dead && w.before(t.cell) != unsure: // it is known
			of.renewed.add(i)
		default:
			of.perhaps.add(i)
		}
	}
}

// lasts takes note of what a change that did not fail leaves open. Whose process it tells of is known.
func (w *world) lasts(known set) {
	for k := range w.touch {
		t := &w.touch[k]
		i := w.whose(processes, t.cell)
		switch {
		case i < 0:
			continue
		case known.has(i):
			t.to = fine // a trap may have ended it before or after it was started: no more is done to it
		case t.to == dead:
			w.doubts.pending.add(i)
		case t.to != fine:
			w.doubts.remade.add(i)
		}
		if t.to != dead && w.cells[t.cell] == unsure {
			w.doubts.coming.add(i)
		}
	}
	w.doubts.coming, w.doubts.bidden = w.doubts.coming.or(w.doubts.bidden), set{}
	w.touch = slices.DeleteFunc(w.touch, func(t touched) bool { return w.cells[t.cell] != unsure }) // the rest may happen yet
}

// becomes takes note that a cell surely is so from a time on, by a change that ended ok. A process that is started is waking at first, and
// who knows what it is if a trap ended it meanwhile; one that is promoted or added is started anew.
func (w *world) becomes(cell int, to cond, at time.Duration, of *came) {
	now := w.cells[cell]
	if to == fine {
		w.releases(cell, at)
	}
	if i := w.whose(processes, cell); i >= 0 {
		w.tells(i, of)
		w.doubts.bidden.remove(i)
		switch {
		case to == fine && w.doubts.trapped.has(i):
			to = unsure
		case to == fine && now != fine:
			if now != waking {
				w.starts(i, at, of)
			}
			to = waking
		case to == dead && now != dead:
			w.awake[i] = at + 1
		}
	}
	// Who may have been so before was perhaps not started: what may end it yet may do so still.
	if i := w.whose(memberships, cell); i >= 0 && to != dead && now == unsure && (w.before(cell) != unsure || !w.doubts.pending.has(i)) {
		if w.tells(i, of); !w.doubts.trapped.has(i) {
			w.cells[w.cell(processes, i)] = waking
			w.starts(i, at, of)
		}
	}
	w.cells[cell] = to
}

// before is what a cell was before the change under way, which touches it.
func (w *world) before(cell int) cond {
	k := slices.IndexFunc(w.touch, func(t touched) bool { return t.cell == cell })
	if k < 0 {
		return w.cells[cell]
	}
	return w.touch[k].was
}

// tells takes note that a change that ended ok tells what became of node i's process.
func (w *world) tells(i int, of *came) {
	w.doubts.settled(i)
	of.known.add(i)
}

// starts takes note that node i's process was started at a time. If it had ended at that very instant, what is true then may be so of before.
func (w *world) starts(i int, at time.Duration, of *came) {
	w.awake[i] = max(w.awake[i], at)
	of.started.add(i)
}

// visit calls f with every cell that c names and what it is to be.
func (w *world) visit(c history.Changes, nodes []string, f func(cell int, to cond)) {
	node := func(name string) (int, bool) {
		i := history.Place(nodes, name)
		return i, i >= 0 && i < w.n
	}
	for _, l := range c.Links {
		from, ok1 := node(l.From)
		to, ok2 := node(l.To)
		if !ok1 || !ok2 {
			continue
		}
		w.links = true
		cell := from*w.n + to
		if l.Port != 0 {
			cell = cellOf(w, &w.ports, port{cell, l.Port})
		}
		if late := l.Keeps(); late > 0 {
			w.underWay.held(cell, late)
		}
		switch {
		case l.Cut:
			f(cell, dead)
		case l.LinkState != history.LinkState{}:
			f(cell, ill)
		default:
			f(cell, fine)
		}
	}
	of := func(name string, of kind, to cond) {
		if i, ok := node(name); ok {
			f(w.cell(of, i), to)
		}
	}
	for _, p := range c.Procs {
		of(p.Node, processes, unless(p.State == history.Up, dead))
	}
	for _, p := range c.Parts() { // if one stands still, the others go on; nobody asks for those of strangers
		f(cellOf(w, &w.tended, tended{history.Place(nodes, p.Node), p.Process}), unless(p.State == history.Up, ill))
	}
	for _, o := range c.Owns() { // what that makes of the node nobody knows
		f(cellOf(w, &w.tended, tended{history.Place(nodes, o.Node), "own/" + o.Fault}), unless(!o.On, ill))
	}
	for _, k := range c.Clocks {
		of(k.Node, clocks, unless(k.Offset == 0 && k.Drift == 0, ill))
	}
	for _, d := range c.Disks {
		of(d.Node, disks, unless(d.DiskState == d.Left(), ill))
	}
	for _, k := range c.Clients {
		of(k.Node, ways, unless(!k.Cut, dead))
	}
	for _, p := range c.CPUs() {
		of(p.Node, processors, unless(p.Share == 0, ill))
	}
	for _, m := range c.Memories() {
		of(m.Node, memories, unless(!m.Fails(), ill))
	}
	for _, m := range c.Members() {
		of(m.Node, memberships, map[history.Membership]cond{history.Voter: fine, history.Learner: ill, history.Removed: dead}[m.As])
	}
}

// wasFine reports whether c makes anything right that was surely so, but for processes, which something else may have ended, and memberships.
func (w *world) wasFine(c history.Changes, nodes []string) (was bool) {
	w.visit(c, nodes, func(cell int, to cond) {
		if w.whose(processes, cell) < 0 && w.whose(memberships, cell) < 0 {
			was = was || to == fine && w.cells[cell] == fine
		}
	})
	return was
}

// unless is what a thing is that is not well.
func unless(well bool, is cond) cond {
	if well {
		return fine
	}
	return is
}

// cellOf returns the cell of what cells count, fine when it is first asked for.
func cellOf[K comparable](w *world, cells *map[K]int, of K) int {
	cell, known := (*cells)[of]
	if !known {
		if *cells == nil {
			*cells = map[K]int{}
		}
		cell = len(w.cells)
		(*cells)[of] = cell
		w.cells = append(w.cells, fine)
	}
	return cell
}

// limps reports whether a part of node i stands still, or it has a fault of the target's own, or stands still itself for most of the time, or lacks memory, or may.
func (w *world) limps(i int) bool {
	if w.is(processors, i) != fine || w.is(memories, i) != fine {
		return true
	}
	for p, cell := range w.tended {
		if p.node == i && w.cells[cell] != fine {
			return true
		}
	}
	return false
}

// belongs reports whether node i surely votes, or does not and did not at first.
func (w *world) belongs(i int) bool {
	as := w.is(memberships, i)
	return as == fine || as == ill && w.learners.has(i)
}

// ail takes note of whether what node i works with is unhealthy, or may be, from a time on.
func (w *world) ail(i int, does bool, at time.Duration) {
	switch {
	case does:
		w.ailing.add(i)
	case w.ailing.has(i):
		w.ailing.remove(i)
		w.ailed.add(i)
		w.healed[i] = at
	}
}

// still reports whether node i surely stands still as of the latest change.
func (w *world) still(i int) bool { return w.epochs[len(w.epochs)-1].still.has(i) }

// out reports whether node i surely is no member, or no voter any more, as of the latest change.
func (w *world) out(i int) bool { return w.epochs[len(w.epochs)-1].roll.out.has(i) }

// pends reports whether nobody knows whether node i runs, for what is done to its process, or may be yet.
func (w *world) pends(i int) bool {
	return w.threatened(i) || i < w.n && w.is(processes, i) == unsure && (w.doubts.coming.has(i) || w.touching(i, func(touched) bool { return true }))
}

// threatened reports whether more is being done to node i's process than to start it, or may be yet.
func (w *world) threatened(i int) bool {
	return i < w.n && (w.doubts.befalls(i) || w.touching(i, func(t touched) bool { return t.to != fine }))
}

// touching reports whether the change under way is such a one of node i's process.
func (w *world) touching(i int, such func(touched) bool) bool {
	cell := w.cell(processes, i)
	return slices.ContainsFunc(w.touch, func(t touched) bool { return t.cell == cell && such(t) })
}

// up reports whether node i is surely up as of the latest change.
func (w *world) up(i int) bool { return i < w.n && w.is(processes, i) == fine }
