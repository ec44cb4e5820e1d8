package virtual

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recount/sim/clock"
)

// clients is where those live who ask nodes for their views: drivers of real systems, ordinary code with goroutines,
// timers and connections, in the process of the run itself. They live in a bubble of testing/synctest, whose time stands
// still while they do anything, and which tells when they all wait. So they see virtual time, and what they
// do follows from what they are told: one thing at a time, and the next only when they have come to rest.
type clients struct {
	c       *Cluster
	in      chan func() // made outside of the bubble: who waits for it lets no time go by
	idle    chan struct{}
	over    chan struct{}
	stimuli []func() // what the clients are to be told at this instant
	busy    int      // questions under way
	open    map[*conn]bool
	ports   uint16

	mu      sync.Mutex
	crash   string // what was panicked with within, with its stack; enter hands it over
	said    []said
	wake    chan struct{} // made in the bubble, as those that follow
	gone    chan struct{} // closed when the run is over: nobody connects any more
	resting []chan func() // where goroutines wait for more to do
	closing bool
}

// said is something that a client did, for the loop to carry out. Those of one instant are ordered by the node that
// the client is of, and those of one client as it did them.
type said struct {
	node int
	f    func()
}

func newClients(c *Cluster) *clients {
	k := &clients{c: c, in: make(chan func()), idle: make(chan struct{}), over: make(chan struct{}), open: map[*conn]bool{}, ports: firstClientPort}
	go k.live()
	<-k.idle
	return k
}

// live is the bubble. The T is one of no test: the bubble is all that is wanted of it.
func (k *clients) live() {
	defer close(k.over)
	defer func() { // of clients that are left when the bubble ends, which wait for nothing that will come
		if p := recover(); p != nil && !strings.HasPrefix(fmt.Sprint(p), "deadlock:") {
			panic(p)
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		k.wake, k.gone = make(chan struct{}, 1), make(chan struct{})
		time.Sleep(time.Until(clock.Epoch))
		k.idle <- struct{}{}
		for f := range k.in {
			select {
			case <-k.wake: // by what was carried out since
			default:
			}
			k.call(f)
			synctest.Wait()
			k.idle <- struct{}{}
		}
	})
}

// call calls f. Where it panics it is not the bubble that does: package testing would follow with a panic of its own, of a T of no test.
func (k *clients) call(f func()) {
	defer func() {
		if p := recover(); p != nil {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.crash = cmp.Or(k.crash, fmt.Sprintf("%v, among the clients\n%s", p, debug.Stack()))
		}
	}()
	f()
}

// enter calls f in the bubble, and returns when all clients wait. Where f panics, or one that was hired, so does enter.
func (k *clients) enter(f func()) {
	k.in <- f
	<-k.idle
	k.mu.Lock()
	crash := k.crash
	k.crash = ""
	k.mu.Unlock()
	if crash != "" {
		panic(crash)
	}
}

// say has the loop call f once all clients wait. It is called in the bubble.
func (k *clients) say(node int, f func()) {
	k.mu.Lock()
	k.said = append(k.said, said{node, f})
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// advance lets the clients' time go on to at. If they do anything before, it stops there, carries that out and
// reports true.
func (k *clients) advance(at time.Duration) (acted bool) {
	if k.busy == 0 || at == forever {
		return false
	}
	var now time.Duration
	k.enter(func() {
		if d := at - time.Since(clock.Epoch); d > 0 {
			t := time.NewTimer(d)
			select {
			case <-t.C:
			case <-k.wake:
				t.Stop()
			}
		}
		now = time.Since(clock.Epoch)
	})
	k.c.now = max(k.c.now, now)
	return k.hear()
}

// stir tells the clients what they are to be told, each thing by itself.
func (k *clients) stir() {
	for len(k.stimuli) > 0 {
		all := k.stimuli
		k.stimuli = nil
		for _, f := range all {
			k.enter(func() {
				if d := k.c.now - time.Since(clock.Epoch); d > 0 {
					time.Sleep(d)
				}
				f()
			})
			k.hear()
		}
	}
}

// hear carries out what clients did, and reports whether they did anything.
func (k *clients) hear() bool {
	k.mu.Lock()
	all := k.said
	k.said = nil
	k.mu.Unlock()
	slices.SortStableFunc(all, func(a, b said) int { return cmp.Compare(a.node, b.node) })
	for _, s := range all {
		s.f()
	}
	return len(all) > 0
}

// Do calls f among the clients, on a goroutine of its own, and then what it returns on the loop, unless that is nil.
// It says which node f is about.
func (c *Cluster) Do(node string, f func() (then func())) {
	k, i := c.clients, c.named(node).index
	k.busy++
	k.stimuli = append(k.stimuli, func() {
		k.hire(func() {
			then := f()
			k.say(i, func() {
				if k.busy--; then != nil {
					then()
				}
			})
		})
	})
	c.After(0, func() {}) // the instant is not over
}

// hire has a goroutine do something: one that has done its work before, if there is any, for it has a stack that is large enough.
// It is called in the bubble.
func (k *clients) hire(f func()) {
	k.mu.Lock()
	n := len(k.resting)
	if n == 0 {
		k.mu.Unlock()
		go k.work(f)
		return
	}
	w := k.resting[n-1]
	k.resting = k.resting[:n-1]
	k.mu.Unlock()
	w <- f
}

// work does something, and then what else it is hired for.
func (k *clients) work(f func()) {
	w := make(chan func())
	for ; f != nil; f = <-w {
		k.call(f) // a panic out here would end the process, and leave those of the nodes behind
		k.mu.Lock()
		over := k.closing
		if !over {
			k.resting = append(k.resting, w)
		}
		k.mu.Unlock()
		if over {
			return
		}
	}
}

// Inside calls f among the clients, and returns when they all wait: to make or close what lives there.
func (c *Cluster) Inside(f func()) {
	c.clients.enter(f)
	c.clients.hear()
}

// close ends the clients.
func (k *clients) close() {
	select {
	case <-k.over:
		return
	default:
	}
	k.enter(func() {
		k.mu.Lock()
		k.closing = true
		resting := k.resting
		k.mu.Unlock()
		for _, w := range resting {
			close(w)
		}
		close(k.gone)
		for c := range k.open {
			c.fail(errClosed)
		}
	})
	close(k.in)
	<-k.over
}
