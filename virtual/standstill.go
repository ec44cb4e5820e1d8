package virtual

import (
	"errors"
	"fmt"
	"time"

	"recount/virtual/process"
)

// A node has as much of virtual time as it likes to do what it does, but for one that reads the clock in a loop, for which a microsecond
// passes now and then. So a node that waits in a loop for a time, or for another node, brings the run to a standstill. Nothing of that
// can be seen from outside: it is looked for here, told while it lasts, and ended.

// Standstill is the error of a run in which a node lets no time pass. It says nothing about the node's elections.
type Standstill struct {
	Node string
	At   time.Duration // of the run
	What string        // it does, without its subject
}

func (e *Standstill) Error() string {
	return fmt.Sprintf("%s lets no time pass, %v into the run: it %s", e.Node, e.At.Round(time.Millisecond), e.What)
}

const (
	crawls = 4                      // a node that has used so many times as much of a processor as time has passed lets none pass
	enough = 100 * time.Millisecond // of the run's time to judge by: a processor's is counted in hundredths of a second
)

// patience is what a node may use of a processor meanwhile until it is told of, and until it is ended; looks is how much real time passes
// between two looks.
type patience struct{ told, ended, looks time.Duration }

// watch is what was last seen of how time passes.
type watch struct {
	patience
	looked time.Time
	since  time.Duration // the run's time when it last passed as it should
	used   map[*proc]time.Duration
	tells  time.Duration // when it is told next
}

func newWatch() watch {
	p := patience{told: 3 * time.Second, ended: 30 * time.Second, looks: time.Second}
	return watch{patience: p, looked: time.Now(), tells: p.told}
}

// look looks, if it was not done just now, whether time passes, and ends the run if it does not.
func (c *Cluster) look() {
	w := &c.watch
	if time.Since(w.looked) < w.looks {
		return
	}
	w.looked = time.Now()
	var most *proc
	var used time.Duration
	for _, p := range c.procs {
		if u := p.life.Used() - w.used[p]; most == nil || u > used {
			most, used = p, u
		}
	}
	passed := c.now - w.since
	switch {
	case most == nil || passed >= enough && passed*crawls >= used:
		w.since, w.tells, w.used = c.now, w.told, map[*proc]time.Duration{}
		for _, p := range c.procs {
			w.used[p] = p.life.Used()
		}
	case used >= w.ended:
		why := most.life.GiveUp(fmt.Sprintf("has used %v of a processor while %v passed: it goes round in a loop, and waits for nothing there", used.Round(time.Second), passed.Round(time.Millisecond)))
		most.stuck(why)
	case used >= w.tells:
		w.tells *= 2
		c.tell(fmt.Sprintf("%s hardly lets time pass: it has used %v of a processor for %v of the run", most.node.name, used.Round(time.Second), passed.Round(time.Millisecond)))
	}
}

// waits is told of while a process does not come to rest at an instant.
func (p *proc) waits(d time.Duration) {
	p.node.c.tell(fmt.Sprintf("%s lets no time pass: it has not come to rest for %v, %v into the run", p.node.name, d.Round(time.Second), p.node.c.now.Round(time.Millisecond)))
}

func (c *Cluster) tell(line string) {
	if c.config.Tell != nil {
		c.config.Tell(line)
	}
}

// stuck ends a process that does not come to rest, and the run with it. What it wrote meanwhile and the stacks of its
// goroutines are kept with its log.
func (p *proc) stuck(why error) {
	var s *process.Stuck
	if n := p.node; errors.As(why, &s) {
		p.keep(s.Wrote)
		p.log.WriteString(s.Stacks)
		n.c.lose(&Standstill{n.name, n.c.now, s.What})
	} else {
		n.c.lose(fmt.Errorf("%s, %v into the run: %w", n.name, n.c.now, why))
	}
	p.end()
}
