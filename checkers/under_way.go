package checkers

import (
	"maps"
	"time"

	"recount/history"
)

// underWay is what links hold up, each by its cell. One that is healed still delivers what it held up before, as late as that had been
// to come: until then it is not whole.
type underWay struct {
	most  map[int]time.Duration // for how long at most a link may have held up what was sent since it was last healed
	until map[int]time.Duration // of those that were healed, when the last of that has come
	next  time.Duration         // the first of these times comes no earlier
}

// held takes note that a link is to hold packets up, for so long at most.
func (u *underWay) held(link int, late time.Duration) {
	if u.most == nil {
		u.most = map[int]time.Duration{}
	}
	u.most[link] = max(u.most[link], late)
}

// releases takes note that a link, or a port of one, holds up nothing more. What was sent before had perhaps suffered all that the link and
// its ports did, one after the other.
func (w *world) releases(link int, at time.Duration) {
	u := &w.underWay
	if u.most[link] == 0 {
		return
	}
	whole := link
	for p, cell := range w.ports {
		if cell == link {
			whole = p.link
		}
	}
	late := u.most[whole]
	for p, cell := range w.ports {
		if p.link == whole {
			late = history.Sum(late, u.most[cell])
		}
	}
	delete(u.most, link)
	if u.until == nil {
		u.until = map[int]time.Duration{}
	}
	u.until[link] = max(u.until[link], history.Sum(at, late))
	u.next = min(u.next, u.until[link])
}

// first is the first of the times until which something is under way.
func (u *underWay) first() time.Duration {
	first := never
	for _, until := range u.until {
		first = min(first, until)
	}
	return first
}

// has reports whether something may still come of what a link had held up.
func (u *underWay) has(link int) bool {
	_, has := u.until[link]
	return has
}

// arrive begins an epoch at each time by then at which the last of what some links had held up has come. It must be called before
// anything that happens then, or later, is taken note of.
func (w *world) arrive(by time.Duration) {
	for u := &w.underWay; len(u.until) > 0 && u.next <= by; {
		if u.next = u.first(); u.next > by {
			return
		}
		at := u.next
		maps.DeleteFunc(u.until, func(_ int, until time.Duration) bool { return until <= at })
		w.links = true
		w.mark(at)
	}
}
