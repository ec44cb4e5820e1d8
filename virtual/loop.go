package virtual

import "time"

// loop is the run's one thread of control, in virtual time: events happen in order of time, and those of one time in the
// order in which they were added.
type loop struct {
	now   time.Duration
	due   []event // a heap
	added uint64
}

type event struct {
	at  time.Duration
	seq uint64
	f   func()
}

func (e event) before(o event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// Now is the time since the run began.
func (l *loop) Now() time.Duration { return l.now }

// After calls f once d has passed.
func (l *loop) After(d time.Duration, f func()) {
	l.added++
	e := event{l.now + max(d, 0), l.added, f}
	l.due = append(l.due, e)
	i := len(l.due) - 1
	for i > 0 && e.before(l.due[(i-1)/4]) {
		l.due[i] = l.due[(i-1)/4]
		i = (i - 1) / 4
	}
	l.due[i] = e
}

// pop takes the first event off the queue.
func (l *loop) pop() event {
	first, n := l.due[0], len(l.due)-1
	e := l.due[n]
	l.due[n] = event{}
	if l.due = l.due[:n]; n == 0 {
		return first
	}
	i := 0
	for {
		least := 4*i + 1
		if least >= n {
			break
		}
		for c := least + 1; c < min(4*i+5, n); c++ {
			if l.due[c].before(l.due[least]) {
				least = c
			}
		}
		if !l.due[least].before(e) {
			break
		}
		l.due[i] = l.due[least]
		i = least
	}
	l.due[i] = e
	return first
}
