package checkers

// doubts are what is known of processes beside their cells: what may befall them yet, and of whom one is to hear what became of it.
//
// The cell of a process that ended by itself is gone, or quit if that is excused: it stands still then, but not for sure while it is
// astir. If the nemesis was at it, to start it among other things, nobody knows what became of it: its cell is unsure, and if it would be
// gone it is owed, which counts as gone until it is heard of or done to again. When it answers, gone and quit become fine, but unsure while
// more than a start may befall it: by what is under way, or by what came to an end that nobody knows and keeps it pending, until an op that
// ends ok names its process.
type doubts struct {
	// by what ended before, of which nobody knows what came
	pending set // whose process may be ended or stopped yet
	remade  set // whose process a change of its membership may start anew yet
	coming  set // whose process may be started yet

	// by the change under way
	bidden set // whose process is to run, be it that it does already
	rising set // whose process surely stood still before a start of which nobody knows what came, before that change

	// by what happened to the process itself
	over    set // who ended by itself, and has given no answer since
	owed    set // who did so, though nothing was wrong, while it was to be started, and was not heard of since
	astir   set // who announced something since it ended by itself: something else had started it, and it may run or not
	trapped set // who was ended by a trap while it was being changed, and has not answered since, nor was to be changed: nobody knows whether it was started again
}

// settled takes note that what became of node i's process is known: nothing that was done to it before may come yet.
func (d *doubts) settled(i int) {
	d.pending.remove(i)
	d.remade.remove(i)
	d.coming.remove(i)
	d.rising.remove(i)
}

// heard takes note that node i answered: whatever became of its process.
func (d *doubts) heard(i int) {
	d.over.remove(i)
	d.owed.remove(i)
	d.trapped.remove(i)
}

// ended takes note that node i's process ended by itself.
func (d *doubts) ended(i int) {
	d.over.add(i)
	d.owed.remove(i)
	d.astir.remove(i)
}

// befalls reports whether something else than a start may befall node i's process yet, by what ended before.
func (d *doubts) befalls(i int) bool { return d.pending.has(i) || d.remade.has(i) }
