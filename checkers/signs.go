package checkers

import "time"

// Signs of life and of death: what answers, announcements and exits tell of a node's process, beside what is done to it.

// answered takes note that node i answered at a time, what it was asked at another. One whose process is being changed was up
// before that, or is again: it is up if the change fails. One that had ended by itself is up whoever started it, unless more is done
// to it than to start it, and so is one that surely stood still before it was to be started. Of one that a change had left so nobody knows
// what became of it, nor when.
func (w *world) answered(i int, asked, at time.Duration) {
	if i >= w.n || asked < w.awake[i] {
		return
	}
	cell := w.cell(processes, i)
	is := w.cells[cell]
	back, only := w.doubts.over.has(i) || w.starting(i), !w.doubts.befalls(i) // it is up again; nothing is done to it but to start it
	for k := range w.touch {
		t := &w.touch[k]
		if t.cell != cell {
			continue
		}
		only = only && t.to == fine
		if t.was == waking || t.was.ended() {
			if t.was = fine; w.doubts.befalls(i) {
				t.was = unsure
			}
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
	w.doubts.heard(i)
	w.mark(at)
}

// announced takes note that node i announced something. A log is read to its end before it is told that its process ended.
func (w *world) announced(i int) {
	if i < w.n && w.is(processes, i).ended() && !w.doubts.astir.has(i) {
		w.revived(i)
		w.doubts.astir.add(i)
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

// exited takes note that node i's process ended by itself, whatever the nemesis was about to do to it. It is
// excused if the nemesis was at its process, and not to start it, at its processor, its memory or its membership, or its disk was failing;
// or one of these was within a lull before, and what that did to it may show only now. One that was trapped was ended by the nemesis, and
// one that is doomed may have been: they are excused. It returns why.
func (w *world) exited(i int, at, lull time.Duration, trapped, doomed bool) (why excuse) {
	if i >= w.n { // nobody can tell whether it is a member, nor what befell it
		return noMember
	}
	cell := w.cell(processes, i)
	ran := w.cells[cell] == fine || w.cells[cell] == waking || w.starting(i) || w.doubts.owed.has(i)
	switch why = w.fails(i); {
	case why != none:
	case trapped, doomed:
		why = itsEnd
	case w.ailed.has(i) && at-w.healed[i] <= lull:
		why = itsPast
	}
	ailed := why != none
	if !ailed && !ran {
		why = itsEnd
	}
	if w.cells[cell] == dead {
		return why
	}
	now, comes := quit, w.doubts.coming.has(i)                               // what it is by that; whether what is done to it may have started it again, or may yet
	if !ailed && (ran || w.cells[cell] == gone) && w.is(clocks, i) == fine { // who ends again and again should be up all the same
		now = gone
	}
	if w.cells[cell].ended() {
		w.revived(i)
	}
	for k := range w.touch {
		if t := &w.touch[k]; t.cell == cell {
			t.was = now
			comes = comes || t.to != dead
		}
	}
	if w.doubts.bidden.has(i) && !comes { // it ran when that began, and may have been started again
		w.touch = append(w.touch, touched{cell: cell, was: now, to: fine})
		comes = true
	}
	w.doubts.ended(i)
	if w.cells[cell] = now; comes {
		if w.cells[cell] = unsure; now == gone {
			w.doubts.owed.add(i)
		}
		if w.doubts.trapped.remove(i); trapped {
			w.doubts.trapped.add(i)
		}
	}
	w.awake[i] = at + 1
	w.mark(at)
	return why
}

// fails is what of a node, besides its process, is not as it should be, so that it may end; none if all is.
func (w *world) fails(i int) excuse {
	switch {
	case w.is(disks, i) != fine:
		return itsDisk
	case w.limps(i):
		return itsPower
	case !w.belongs(i):
		return itsPlace
	}
	return none
}

// endedAs takes note that a change began at the very instant at which node i's process had ended by itself, unexcused: it may have come
// first. It returns why that may have ended it; none if it cannot have.
func (w *world) endedAs(i int, at time.Duration) (why excuse) {
	if why = w.fails(i); why == none && w.touching(i, func(t touched) bool { return t.to != fine }) {
		why = itsEnd
	}
	if why == none {
		return none
	}
	cell := w.cell(processes, i)
	for k := range w.touch {
		if t := &w.touch[k]; t.cell == cell && t.was == gone {
			t.was = quit
		}
	}
	if w.doubts.owed.remove(i); w.cells[cell] == gone {
		w.cells[cell] = quit
	}
	w.mark(at)
	return why
}

// starting reports whether a process that surely stood still is being started, or may be yet, and no more is done to it, nor may be: what
// ends then is what was started. What else the nemesis did since, to others, does not matter.
func (w *world) starting(i int) bool {
	cell := w.cell(processes, i)
	if w.cells[cell] != unsure || w.doubts.befalls(i) {
		return false
	}
	still := w.doubts.rising.has(i)
	for _, t := range w.touch { // by what was intended, and by what became of it
		switch {
		case t.cell != cell:
		case t.to != fine:
			return false
		case t.was == dead || t.was.ended():
			still = true
		}
	}
	return still
}
