package checkers

import (
	"slices"
	"time"

	"recount/history"
)

// Lapse is a time in which a property is not promised: what the promise rests on was not so. Both ends are included.
type Lapse struct{ From, To time.Duration }

// Meets reports whether something that lasted from one time to another was in it, at least in part.
func (l Lapse) Meets(from, to time.Duration) bool { return l.From <= to && from <= l.To }

// Suspend says when each property is not promised: lapses returns those times in order, none overlapping another. Of a property that
// broke several times, the result then tells of the first time outside of its lapses, if there is one; what must not last too long is
// judged by how long it lasted outside of them. That is so of sticky-leader, no-ping-pong, no-alarm, elects, learns-leader, quorum, agreement,
// bounded-terms and exclusive-leadership; of other properties the first violation is told. Of sticky-leader a doubt is told in the same way. lapses is called only for
// properties that broke, or may have, perhaps from several goroutines at once.
func (j *Judging) Suspend(lapses func(property string) []Lapse) { j.lapses = lapses }

// lapsed returns when a property is not promised.
func (f *facts) lapsed(property string) []Lapse {
	if f.lapses == nil {
		return nil
	}
	return f.lapses(property)
}

// unpromised returns the times outside of which a property is promised.
func (f *facts) unpromised(property string) (all []span) {
	for _, l := range f.lapsed(property) {
		all = append(all, span{l.From - 1, history.Sum(l.To, 1)})
	}
	return all
}

// promised returns the parts of a time in which a property is promised.
func (f *facts) promised(property string, s span) []span {
	return outside(f.unpromised(property), s)
}

// found is the violation that a result tells of: the first that is outside of all lapses; if none is, the first.
type found[T any] struct {
	it       T
	any, out bool
}

// take takes note of a violation of a property that lasted for a time.
func (k *found[T]) take(it T, s span, f *facts, property string) {
	if k.out {
		return
	}
	out := !slices.ContainsFunc(f.lapsed(property), func(l Lapse) bool { return l.Meets(s.from, s.to) })
	if !k.any || out {
		k.it, k.any, k.out = it, true, out
	}
}
