package checkers

import "fmt"

// What there must be in a history before it can be judged.

// blind says why there is nothing to judge claims by, or "".
func (f *facts) blind() string {
	whole, torn := 0, 0
	var names []string
	for i := range f.seen {
		if f.servers.has(i) {
			continue
		}
		s := &f.seen[i]
		if s.whole > 0 {
			whole++
			names = append(names, f.nodes[i])
		} else if s.polls+s.announced > 0 {
			torn++
		}
	}
	switch {
	case whole >= 2:
		return ""
	case whole+torn == 0:
		return "no node gave an answer: observe at least two nodes"
	case whole == 0:
		return "every answer was put together from several readings: only undivided answers are evidence"
	}
	return fmt.Sprintf("only %s gave undivided answers: observe at least two nodes", list(names))
}

// unseen is why nobody can tell whether a change of leader was needed, where the faults did not make it necessary.
const unseen = "about then a node gave no answer, or the machine stood still"

// unnumbered is what may be judged of an election without terms instead.
const unnumbered = "exclusive-leadership is what may be asked of it"

// unjudgeable says why stability and liveness cannot be judged, or "".
func (f *facts) unjudgeable() string {
	if b := f.setup.Bounds; b.Silence <= 0 || b.Elect <= 0 {
		return "the history does not begin with its setup: who the members are, and the times to judge them by"
	}
	return f.blind()
}

// noEffect says that a run cannot be valid on the strength of its faults.
func (f *facts) noEffect() string {
	return count(f.tried, "fault") + " injected, none was seen to take effect: find out with recount doctor why not"
}
