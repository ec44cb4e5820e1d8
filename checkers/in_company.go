package checkers

// in company: when nodes surely had a majority with them, for what leaders owe to it.

// attended returns every longest part of s throughout which all of these nodes surely were well, connected with each other
// unless they elect through others, and with one majority, and what else there must be was there. Its members are that
// majority, and more that were connected with each of them.
func (f *facts) attended(s span, also func(e *epoch) bool, who ...int) (all []core) {
	w := &f.world
	epochs := w.during(s)
	reached := -1 // the last epoch of the part before
	for i := 0; reached < len(epochs)-1 && i < len(epochs); i++ {
		nodes, members := first(w.n), set{}
		j := i
		for ; j < len(epochs) && also(&epochs[j]); j++ {
			for _, k := range who {
				nodes = nodes.and(w.with(k, epochs[j:j+1], true))
			}
			now := w.serving(nodes, epochs[i:j+1])
			if !f.attends(now, who) {
				break
			}
			members = now
		}
		if last := j - 1; last >= i && last > reached {
			reached = last
			part := span{max(s.from, epochs[i].from), s.to}
			if j < len(epochs) {
				part.to = epochs[j].from
			}
			all = append(all, core{part, members})
		}
	}
	return all
}

// attends reports whether the nodes are a majority, with those in it that have to be.
func (f *facts) attends(nodes set, who []int) bool {
	for _, k := range who {
		if !f.service() && !nodes.has(k) {
			return false
		}
	}
	return f.majority(nodes)
}

// silentIn returns who of some nodes gave no answer in s for longer than it may.
func (f *facts) silentIn(nodes set, s span) (silent set) {
	nodes.each(func(i int) {
		if !f.answering(i, s) {
			silent.add(i)
		}
	})
	return silent
}

// witnessed reports whether enough of an attendance was heard of throughout s.
func (f *facts) witnessed(c core, s span, who ...int) bool {
	silent := f.silentIn(c.members, s)
	for _, k := range who {
		if !f.answering(k, s) {
			return false
		}
	}
	return f.attends(c.members.minus(silent), who)
}

// reigns returns the times, longer than an election may take, throughout which somebody surely led.
func (f *facts) reigns() (all []hold) {
	for _, h := range f.holds() {
		if h.node < f.world.n && h.given-h.taken > f.setup.Bounds.Elect {
			all = append(all, h)
		}
	}
	return all
}
