package checkers

import (
	"iter"
	"slices"
	"sort"
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
	learners set             // who did not vote at first, and can be made a voter
	cells    []cond          // links by from*n+to, then processes, clocks, disks, ways of clients, processors, memory, memberships, single ports of links and parts of nodes
	ports    map[port]int    // where in cells
	tended   map[tended]int  // where in cells, parts of nodes that were touched
	awake    []time.Duration // of each process, since when questions tell of it: since it was started, or just after it ended or was stopped
	ailing   set             // whose disk, processor, memory or part is not healthy, or may not be
	ailed    set             // whose was not, before
	healed   []time.Duration // until when it was not, of who ailed
	// What is known of a process that ended by itself is its cell and three sets. The cell is gone, or quit if that is excused: it stands
	// still then, but not for sure while it is astir. If the nemesis was at it, to start it among other things, nobody knows what became of
	// it: its cell is unsure, and if it would be gone it is owed, which counts as gone until it is heard of or done to again. When it
	// answers, gone and quit become fine, but unsure while more than a start may befall it: by what is under way, or by what came to an
	// end that nobody knows and keeps it pending, until an op that ends ok names its process.
	owed    set       // who ended by itself, though nothing was wrong, while it was to be started, and was not heard of since
	astir   set       // who announced something since it ended by itself: something else had started it, and it may run or not
	pending set       // whose process something else than a start may befall yet: nobody knows what came of it
	started set       // by the change that ended last
	trapped set       // who was ended by a trap while it was being changed: nobody knows whether the change has started it again
	touch   []touched // by the change under way
	links   bool      // whether a link was touched since the last epoch began
	epochs  []epoch
	rolls   []roll          // who voted, each time that it was otherwise
	since   []time.Duration // when each of them began
	moments []epoch         // that lasted no time, and in which somebody may have done or heard something who could not before
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

// port is one port of a link.
type port struct{ link, number int }

// tended is a part of a node: some of its processes, by what they are called.
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

// epoch is a stretch of time in which nothing changed. It lasts until the next one begins.
type epoch struct {
	roll   roll // who votes
	from   time.Duration
	mutual []set // with whom each node is surely connected, both ways
	deaf   []set // whose packets surely do not reach each node
	up     set   // surely up
	well   set   // surely up, and in good health: with a right clock, a healthy disk, and all of its processor and memory
	able   set   // surely up, and in good health for all but its disk, of which nothing is said
	waking set   // started, in good health, but not heard of since
	still  set   // surely down or paused
	asked  set   // surely reached by clients
	gone   set   // who ended by itself in good health, and was not heard of since: it should be up
	office set   // who may have led, for all that is known of majorities; worked out when the history has ended
}

// newWorld returns a world in which nobody was heard of yet. It uses the memory of epochs.
func newWorld(n int, servers, learners set, epochs []epoch) world {
	w := world{
		n: n, servers: servers, learners: learners, epochs: epochs[:0], cells: make([]cond, n*n+7*n),
		awake: make([]time.Duration, n), healed: make([]time.Duration, n), links: true,
	}
	for i := range n {
		if w.cells[n*n+i] = waking; learners.has(i) {
			w.cells[n*n+6*n+i] = ill
		}
	}
	w.mark(0)
	return w
}

// begin takes note that the nemesis sets out to make these changes.
func (w *world) begin(at time.Duration, nodes []string, intended ...history.Changes) {
	w.touch, w.trapped = w.touch[:0], set{}
	for _, c := range intended {
		w.visit(c, nodes, func(cell int, to cond) {
			now := w.cells[cell]
			if now == to || now == waking && to == fine || now.ended() && to == dead {
				return
			}
			w.doubt(cell, to)
			if i := w.member(cell); i >= 0 && to != dead { // it is started anew
				w.doubt(w.n*w.n+i, unsure)
			}
		})
	}
	w.mark(at)
}

// doubt takes note that a cell is being changed.
func (w *world) doubt(cell int, to cond) {
	w.touch = append(w.touch, touched{cell: cell, was: w.cells[cell], to: to})
	w.cells[cell] = unsure
	if i := cell - w.n*w.n; i >= 0 && i < w.n {
		w.owed.remove(i)
	}
}

// ended reports whether a process ended by itself, and was not heard of since.
func (process cond) ended() bool { return process == gone || process == quit }

// member is whose membership a cell is; less than 0 for nobody's.
func (w *world) member(cell int) int {
	if i := cell - w.n*w.n - 6*w.n; i < w.n {
		return i
	}
	return -1
}

// end takes note of what became of the changes begun last. It returns the nodes that were started anew, as other members, or may
// have been.
func (w *world) end(at time.Duration, nodes []string, outcome history.Type, c history.Changes) (renewed set) {
	w.started = set{}
	switch outcome {
	case history.Fail: // nothing changed
		w.links = true
		for _, t := range slices.Backward(w.touch) {
			w.cells[t.cell] = t.was
		}
	case history.OK:
		w.visit(c, nodes, func(cell int, to cond) {
			now := w.cells[cell]
			if i := cell - w.n*w.n; i >= 0 && i < w.n {
				w.pending.remove(i)
			}
			if i := cell - w.n*w.n; to == fine && i >= 0 && i < w.n && w.trapped.has(i) {
				to = unsure
			} else if to == fine && i >= 0 && i < w.n && now != fine {
				if now != waking {
					w.awake[i] = at
					w.started.add(i)
				}
				to = waking
			} else if to == dead && i >= 0 && i < w.n && now != dead {
				w.awake[i] = at + 1
			}
			if i := w.member(cell); i >= 0 && to != dead && w.cells[cell] == unsure {
				if w.pending.remove(i); !w.trapped.has(i) {
					w.cells[w.n*w.n+i], w.awake[i] = waking, at
					w.started.add(i)
				}
			}
			w.cells[cell] = to
		})
	}
	w.mark(at)
	if outcome != history.Fail {
		for _, t := range w.touch {
			if i := w.member(t.cell); i >= 0 && t.to != dead {
				renewed.add(i)
			}
		}
	}
	w.owed.each(func(i int) {
		if is := w.cells[w.n*w.n+i]; is != unsure && is != waking {
			w.owed.remove(i)
		}
	})
	for _, t := range w.touch {
		if i := t.cell - w.n*w.n; i >= 0 && i < w.n && t.to != fine && (outcome == history.Info || outcome == history.OK && w.cells[t.cell] == unsure) {
			w.pending.add(i)
		}
	}
	if outcome != history.Info { // or else it may happen yet
		w.touch = slices.DeleteFunc(w.touch, func(t touched) bool { return w.cells[t.cell] != unsure })
	}
	return renewed
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
		switch {
		case l.Cut:
			f(cell, dead)
		case l.LinkState != history.LinkState{}:
			f(cell, ill)
		default:
			f(cell, fine)
		}
	}
	for _, p := range c.Procs {
		if i, ok := node(p.Node); ok {
			to := dead
			if p.State == history.Up {
				to = fine
			}
			f(w.n*w.n+i, to)
		}
	}
	for _, p := range c.Parts() {
		if i, ok := node(p.Node); ok {
			to := ill // the others go on
			if p.State == history.Up {
				to = fine
			}
			f(cellOf(w, &w.tended, tended{i, p.Process}), to)
		}
	}
	for _, k := range c.Clocks {
		if i, ok := node(k.Node); ok {
			to := ill
			if k.Offset == 0 && k.Drift == 0 {
				to = fine
			}
			f(w.n*w.n+w.n+i, to)
		}
	}
	for _, d := range c.Disks {
		if i, ok := node(d.Node); ok {
			to := ill
			if d.DiskState == (history.DiskState{}) {
				to = fine
			}
			f(w.n*w.n+2*w.n+i, to)
		}
	}
	for _, k := range c.Clients {
		if i, ok := node(k.Node); ok {
			to := fine
			if k.Cut {
				to = dead
			}
			f(w.n*w.n+3*w.n+i, to)
		}
	}
	for _, p := range c.CPUs() {
		if i, ok := node(p.Node); ok {
			to := ill
			if p.Share == 0 {
				to = fine
			}
			f(w.n*w.n+4*w.n+i, to)
		}
	}
	for _, m := range c.Memories() {
		if i, ok := node(m.Node); ok {
			to := fine
			if m.Fails() {
				to = ill
			}
			f(w.n*w.n+5*w.n+i, to)
		}
	}
	for _, m := range c.Members() {
		if i, ok := node(m.Node); ok {
			f(w.n*w.n+6*w.n+i, map[history.Membership]cond{history.Voter: fine, history.Learner: ill, history.Removed: dead}[m.As])
		}
	}
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

// limps reports whether a part of node i stands still, or the node itself for most of the time, or lacks memory, or may.
func (w *world) limps(i int) bool {
	if w.cells[w.n*w.n+4*w.n+i] != fine || w.cells[w.n*w.n+5*w.n+i] != fine {
		return true
	}
	for p, cell := range w.tended {
		if p.node == i && w.cells[cell] != fine {
			return true
		}
	}
	return false
}

// answered takes note that node i answered at a time, what it was asked at another. One whose process is being changed was up
// before that, or is again: it is up if the change fails. One that had ended by itself is up whoever started it, unless more is done
// to it than to start it. Of one that a change had left down or standing still nobody knows what became of it, nor when.
func (w *world) answered(i int, asked, at time.Duration) {
	if i >= w.n || asked < w.awake[i] {
		return
	}
	cell := w.n*w.n + i
	is := w.cells[cell]
	back, only := is.ended(), !w.pending.has(i) // it is up again; nothing is done to it but to start it
	for k := range w.touch {
		t := &w.touch[k]
		if t.cell != cell {
			continue
		}
		if only = only && t.to == fine; t.was.ended() {
			back = true
		}
		if t.was == waking || t.was.ended() {
			t.was = fine
		}
	}
	if is.ended() || is == dead {
		w.revived(i)
	}
	switch {
	case back && !only, is == dead:
		w.cells[cell] = unsure
	case back || is == waking:
		w.cells[cell] = fine
	default:
		return
	}
	w.owed.remove(i)
	w.mark(at)
}

// announced takes note that node i announced something. A log is read to its end before it is told that its process ended.
func (w *world) announced(i int, at time.Duration) {
	if i < w.n && w.cells[w.n*w.n+i].ended() && !w.astir.has(i) {
		w.revived(i)
		w.astir.add(i)
		w.mark(at)
	}
}

// revived takes note that node i, which had ended by itself or been stopped, was started by something else, nobody knows when: since
// then it may have run.
func (w *world) revived(i int) {
	for _, all := range [...][]epoch{w.epochs, w.moments} {
		for k := len(all) - 1; k >= 0 && all[k].from >= w.awake[i]-1; k-- {
			all[k].still.remove(i)
		}
	}
}

// belongs reports whether node i surely votes, or does not and did not at first.
func (w *world) belongs(i int) bool {
	as := w.cells[w.n*w.n+6*w.n+i]
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

// exited takes note that node i's process ended by itself, whatever the nemesis was about to do to it. It reports whether it
// is excused: the nemesis was at its process, and not to start it, at its processor, its memory or its membership, or its disk was failing;
// or one of these was within a lull before, and what that did to it may show only now. One that was trapped was ended by the nemesis: it
// is excused.
func (w *world) exited(i int, at, lull time.Duration, trapped bool) (excused bool) {
	if i >= w.n { // nobody can tell whether it is a member, nor what befell it
		return true
	}
	cell, clock, disk := w.n*w.n+i, w.n*w.n+w.n+i, w.n*w.n+2*w.n+i
	ran := w.cells[cell] == fine || w.cells[cell] == waking || w.starts(cell) || w.owed.has(i)
	excused = trapped || !ran || w.cells[disk] != fine || w.limps(i) || !w.belongs(i) || w.ailed.has(i) && at-w.healed[i] <= lull
	if w.cells[cell] == dead {
		return excused
	}
	if w.cells[cell].ended() {
		w.revived(i)
	}
	now, comes := quit, false // what it is by that; whether what is done to it may have started it again
	if !excused && w.cells[clock] == fine {
		now = gone
	}
	for k := range w.touch {
		if t := &w.touch[k]; t.cell == cell {
			t.was = now
			comes = comes || t.to != dead
		}
	}
	w.owed.remove(i)
	w.astir.remove(i)
	if w.cells[cell] = now; comes {
		if w.cells[cell] = unsure; now == gone {
			w.owed.add(i)
		}
		if trapped {
			w.trapped.add(i)
		}
	}
	w.awake[i] = at + 1
	w.mark(at)
	return excused
}

// starts reports whether a process that surely stood still is being started, and no more is done to it: what ends then is what was
// started.
func (w *world) starts(cell int) bool {
	still := false
	for _, t := range w.touch { // by what was intended, and by what became of it
		switch {
		case t.cell != cell:
		case t.to != fine:
			return false
		case t.was == dead || t.was.ended():
			still = true
		}
	}
	return still && w.cells[cell] == unsure
}

// still reports whether node i surely stands still as of the latest change.
func (w *world) still(i int) bool { return w.epochs[len(w.epochs)-1].still.has(i) }

// up reports whether node i is surely up as of the latest change.
func (w *world) up(i int) bool { return i < w.n && w.cells[w.n*w.n+i] == fine }

// mark begins an epoch with the cells as they are now.
func (w *world) mark(at time.Duration) {
	e := epoch{from: at}
	if last := len(w.epochs) - 1; last >= 0 {
		e.mutual, e.deaf = w.epochs[last].mutual, w.epochs[last].deaf
		if w.epochs[last].from == at { // it lasted no time
			if last == 0 || w.epochs[last].frees(&w.epochs[last-1]) {
				w.moments = append(w.moments, w.epochs[last])
			}
			w.epochs = w.epochs[:last]
		}
	}
	if w.links {
		w.links = false
		rows := make([]set, 2*w.n)
		e.mutual, e.deaf = rows[:w.n], rows[w.n:]
		for i := range w.n {
			for j := range w.n {
				there, back := w.cells[i*w.n+j], w.cells[j*w.n+i]
				if i != j && there == fine && back == fine {
					e.mutual[i].add(j)
				}
				if i != j && back == dead {
					e.deaf[i].add(j)
				}
			}
		}
		for p, cell := range w.ports {
			if w.cells[cell] != fine {
				i, j := p.link/w.n, p.link%w.n
				e.mutual[i].remove(j)
				e.mutual[j].remove(i)
			}
		}
	}
	for i := range w.n {
		limps, disk := w.limps(i), w.cells[w.n*w.n+2*w.n+i]
		w.ail(i, limps || disk != fine, at)
		able := w.cells[w.n*w.n+w.n+i] == fine && !limps
		right := able && disk == fine
		if w.cells[w.n*w.n+3*w.n+i] == fine {
			e.asked.add(i)
		}
		switch as := w.cells[w.n*w.n+6*w.n+i]; {
		case as == fine:
			e.roll.votes.add(i)
		case as == unsure:
			e.roll.may.add(i)
		case !w.belongs(i):
			e.roll.out.add(i)
		}
		if right && w.owed.has(i) {
			e.gone.add(i)
		}
		switch w.cells[w.n*w.n+i] {
		case fine:
			e.up.add(i)
			if able {
				e.able.add(i)
			}
			if right {
				e.well.add(i)
			}
		case waking:
			if right {
				e.waking.add(i)
			}
		case gone, quit:
			if w.cells[w.n*w.n+i] == gone && right {
				e.gone.add(i)
			}
			if !w.astir.has(i) {
				e.still.add(i)
			}
		case dead:
			e.still.add(i)
		}
	}
	w.enlist(at, e.roll)
	w.epochs = append(w.epochs, e)
}

// frees reports whether somebody does not stand still, or can be heard, who did and could not in the epoch before. In virtual time a
// process that goes on does all that it has to at once: it may be ended at the same instant, and have voted.
func (e *epoch) frees(before *epoch) bool {
	if before.still.minus(e.still) != (set{}) {
		return true
	}
	for i := range e.deaf {
		if before.deaf[i].minus(e.deaf[i]) != (set{}) {
			return true
		}
	}
	return false
}

// during returns the epochs that share an instant with the closed stretch of time.
func (w *world) during(s span) []epoch {
	i := sort.Search(len(w.epochs), func(i int) bool { return w.epochs[i].from > s.from })
	j := sort.Search(len(w.epochs), func(j int) bool { return w.epochs[j].from > s.to })
	return w.epochs[max(i-1, 0):j]
}

// parts cuts s where epochs begin. Its ends may be parts of no length.
func (w *world) parts(s span) iter.Seq2[span, *epoch] {
	return func(yield func(span, *epoch) bool) {
		epochs := w.during(s)
		for k := range epochs {
			part := span{max(s.from, epochs[k].from), s.to}
			if k+1 < len(epochs) {
				part.to = epochs[k+1].from
			}
			if !yield(part, &epochs[k]) {
				return
			}
		}
	}
}

// until returns when epoch k ends.
func (w *world) until(k int, end time.Duration) time.Duration {
	if k+1 < len(w.epochs) {
		return w.epochs[k+1].from
	}
	return end
}
