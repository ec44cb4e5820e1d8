//go:build linux

package agent

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"recount/history"
	"recount/internal/later"
)

// pacer decides when each packet may go on.
type pacer struct {
	verdict func(id uint32, pass bool)
	wake    chan struct{} // has an element when the first packet's time may have changed

	mu     sync.Mutex
	rand   *rand.Rand
	states states
	shut   map[source]bool      // whose packets do not get through at all
	free   map[source]time.Time // when a link of limited rate has sent all that it was given
	began  time.Time            // from which the times of what is held count
	held   later.Queue[packet]
}

// packet is one that waits.
type packet struct {
	id    uint32
	from  netip.Addr
	ports [2]uint16
}

func newPacer(r *rand.Rand, verdict func(id uint32, pass bool)) *pacer {
	return &pacer{verdict: verdict, wake: make(chan struct{}, 1), rand: r, began: time.Now(), free: map[source]time.Time{}}
}

// set changes what packets suffer that arrive from now on. Those that wait already go on waiting.
func (p *pacer) set(s states) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.states = s
	for src := range p.free {
		if s[src].Rate == 0 {
			delete(p.free, src)
		}
	}
}

// close has packets that a trap lets go come no further where nothing gets through by then: a trap holds them for longer than a network has
// any in flight.
func (p *pacer) close(s states) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = map[source]bool{}
	for src, state := range s {
		if state.Cut || state.Loss >= 1 {
			p.shut[src] = true
		}
	}
}

// resume gives a packet its time that a trap lets go.
func (p *pacer) resume(id uint32, head []byte, size int, now time.Time) {
	from, ports := origin(head)
	p.mu.Lock()
	shut := p.shut[source{from, 0}] || p.shut[source{from, ports[0]}] || p.shut[source{from, ports[1]}]
	p.mu.Unlock()
	if shut {
		p.verdict(id, false)
		return
	}
	p.take(id, head, size, now)
}

func (p *pacer) state(src source) history.LinkState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.states[src]
}

// take gives a packet its time.
func (p *pacer) take(id uint32, head []byte, size int, now time.Time) {
	from, ports := origin(head)
	p.mu.Lock()
	at, pass := p.due(from, ports, size, now)
	wait, first := pass && at.After(now), false
	if wait {
		next, some := p.held.Next()
		first = !some || at.Sub(p.began) < next
		p.held.Add(at.Sub(p.began), packet{id, from, ports})
	}
	p.mu.Unlock()
	if !wait {
		p.verdict(id, pass)
	}
	if first {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// due works out when a packet may go on, and whether it may at all.
func (p *pacer) due(from netip.Addr, ports [2]uint16, size int, now time.Time) (at time.Time, pass bool) {
	links := []source{{from, 0}, {from, ports[0]}, {from, ports[1]}}
	if ports[0] == ports[1] {
		links = links[:2]
	}
	if ports[0] == 0 {
		links = links[:1]
	}
	at = now
	for _, l := range links {
		rate := p.states[l].Rate
		if rate == 0 {
			continue
		}
		if free := p.free[l]; free.After(at) {
			at = free
		}
		if at.Sub(now) > history.Buffer {
			return at, false
		}
		at = at.Add(time.Duration(float64(8*size) / float64(rate) * float64(time.Second)))
		p.free[l] = at
	}
	var all history.LinkState
	for _, l := range links {
		all = all.And(p.states[l])
	}
	return at.Add(all.Late(p.rand)), true
}

// lose drops what waits of a source's packets.
func (p *pacer) lose(src source) {
	p.mu.Lock()
	var lost []uint32
	p.held.Remove(func(k packet) bool {
		hit := k.from == src.addr && (src.port == 0 || slices.Contains(k.ports[:], src.port))
		if hit {
			lost = append(lost, k.id)
		}
		return hit
	})
	p.mu.Unlock()
	for _, id := range lost {
		p.verdict(id, false)
	}
}

// run lets packets go on as they are due, until ctx ends.
func (p *pacer) run(ctx context.Context) {
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	for {
		ids, next := p.ready(time.Now())
		for _, id := range ids {
			p.verdict(id, true)
		}
		if len(ids) > 0 {
			continue
		}
		alarm.Reset(next)
		select {
		case <-alarm.C:
		case <-p.wake:
		case <-ctx.Done():
			return
		}
	}
}

// ready takes off what is due, and says how long there is to the next one.
func (p *pacer) ready(now time.Time) (ids []uint32, next time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	passed := now.Sub(p.began)
	for k, some := p.held.Take(passed); some; k, some = p.held.Take(passed) {
		ids = append(ids, k.id)
	}
	at, some := p.held.Next()
	if !some {
		return ids, time.Hour
	}
	return ids, at - passed
}
