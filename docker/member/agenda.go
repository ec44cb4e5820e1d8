package member

import "time"

// agenda is what is to be done at which times.
type agenda []appointment

type appointment struct {
	at time.Duration
	f  func()
}

func (a *agenda) add(at time.Duration, f func()) { *a = append(*a, appointment{at, f}) }

// keep does what is due. What is added meanwhile waits for the next call.
func (a *agenda) keep(now time.Duration) {
	all := *a
	*a = nil
	for _, p := range all {
		if p.at > now {
			*a = append(*a, p)
			continue
		}
		p.f()
	}
}

// next returns the time of the first appointment, or the given one if none is before it.
func (a agenda) next(t time.Duration) time.Duration {
	for _, p := range a {
		t = min(t, p.at)
	}
	return t
}
