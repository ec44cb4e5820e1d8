package tcp

import "time"

// alarm calls f when its time has come. Connections put their alarms off with every segment, so one that is set to a
// later time leaves the queued event where it is: when that comes too early, it queues itself again.
type alarm struct {
	net  Network
	f    func()
	at   time.Duration // when f is due; 0 is never
	due  time.Duration // when the queued event comes; 0 if there is none
	life int           // tells the queued event from those it replaced
}

func (a *alarm) set(at time.Duration) {
	a.at = at
	if a.due == 0 || at < a.due {
		a.queue(at)
	}
}

func (a *alarm) stop() { a.at = 0 }

func (a *alarm) queue(at time.Duration) {
	a.life++
	a.due = at
	life := a.life
	a.net.After(at-a.net.Now(), func() {
		if life != a.life {
			return
		}
		a.due = 0
		switch {
		case a.at == 0:
		case a.at > a.net.Now():
			a.queue(a.at)
		default:
			a.at = 0
			a.f()
		}
	})
}
