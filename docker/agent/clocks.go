//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"recount/docker/agent/clock"
	"recount/history"
)

const (
	// patchWithin bounds how long a process may take to stop so that it can be patched. It takes a millisecond or two, but
	// the machine may be busy.
	patchWithin = 2 * time.Second
	// attendEvery is how often processes are looked for that have come into being, while clocks are skewed.
	attendEvery = 200 * time.Millisecond
	// gained is what a drift is given time to amount to before it is looked at, several times what a look is out by,
	// and gainWithin how long it is given for that.
	gained     = 200 * time.Microsecond
	gainWithin = 50 * time.Millisecond
	// kept is what a clock may be wrong by that is right again.
	kept = 10 * time.Microsecond
	// programs is how many programs a process may execute, one after the other, while its clocks are being set.
	programs = 10
)

// clocks are the clocks of one node: all its processes tell the same time.
type clocks struct {
	mu      sync.Mutex
	line    clock.Timeline // what a new process joins
	patches map[int]*clock.Patch
	again   int // so often may be tried again to patch a process that could not be as its node was started
	waits   waits
}

// tries is how often that is, at each reading of the clocks: it may have been busy.
const tries = 5

// attend patches the processes of a node that are not patched yet.
func (c *clocks) attend(procs []first) error {
	all, err := members(procs)
	if err != nil {
		return err
	}
	patches := make(map[int]*clock.Patch, len(all))
	var errs []error
	for _, pid := range all {
		p := c.patches[pid]
		if p != nil {
			_, err := p.Timeline()
			if errors.Is(err, clock.ErrLost) {
				p = nil
			} else if err != nil && !errors.Is(err, clock.ErrGone) {
				errs = append(errs, err)
			}
		}
		if p == nil {
			var err error
			p, err = c.join(pid)
			if errors.Is(err, clock.ErrGone) {
				continue
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
		}
		patches[pid] = p
	}
	c.patches = patches
	c.watchWaits()
	return errors.Join(errs...)
}

// join patches a process, whose clocks err from then on as those of its node do. One that executes another program
// meanwhile, as each process does that a program has just started, is begun with again.
func (c *clocks) join(pid int) (p *clock.Patch, err error) {
	for range programs {
		p, err = clock.Install(pid, c.line, patchWithin)
		if err == nil {
			_, err = p.Turn(c.line.Skew) // it may have been patched before
		}
		if !errors.Is(err, clock.ErrLost) {
			break
		}
	}
	return p, err
}

// watchWaits looks for waits that skewed clocks lead astray, while there are any.
func (c *clocks) watchWaits() {
	for pid, p := range c.patches {
		if line, err := p.Timeline(); err == nil {
			c.waits.look(pid, line)
		}
	}
}

// err reports whether clocks of the node err, or still give back what they have gained.
func (c *clocks) err() bool { return c.line.Skew != (clock.Skew{}) || c.line.Settled(clock.Now()) > 0 }

// turn has the clocks of a node err, and returns since when all its processes do, but for what they have yet to give back.
func (c *clocks) turn(s clock.Skew) (at time.Time, err error) {
	var lost []int // have executed another program since they were patched
	for pid, p := range c.patches {
		turned, turnErr := p.Turn(s)
		switch {
		case errors.Is(turnErr, clock.ErrGone):
		case errors.Is(turnErr, clock.ErrLost):
			lost = append(lost, pid)
		case turnErr != nil:
			err = errors.Join(err, turnErr)
		default:
			at = turned
		}
	}
	c.line = c.line.TurnNow(s)
	for _, pid := range lost {
		p, joinErr := c.join(pid)
		switch {
		case errors.Is(joinErr, clock.ErrGone):
		case joinErr != nil:
			err = errors.Join(err, joinErr)
		default:
			c.patches[pid], at = p, time.Now()
		}
	}
	return at, err
}

// settle returns how long it is until the clocks of a node have given back what they had gained by drifting.
func (c *clocks) settle() time.Duration {
	left := c.line.Settled(clock.Now())
	for _, p := range c.patches {
		if line, err := p.Timeline(); err == nil {
			left = max(left, line.Settled(clock.Now()))
		}
	}
	return left
}

// look has every process of a node read its clocks, and adds to v what is not as asked.
func (c *clocks) look(node string, v *Verified) {
	seen, of := 0, history.Clock{Node: node}.Key()
	for pid := range c.patches {
		line, s, err := c.measure(pid)
		switch {
		case errors.Is(err, clock.ErrGone):
			continue
		case errors.Is(err, clock.ErrLost):
			v.wrong(of, "%s: process %d: %v", node, pid, err)
		case err != nil:
			v.unsure(of, "%s: %v", node, err)
		case line.Skew != c.line.Skew:
			v.wrong(of, "%s: clocks of process %d err by %+v, not by %+v", node, pid, line.Skew, c.line.Skew)
		default:
			if err := s.Check(line); err != nil {
				v.wrong(of, "%s: process %d: %v", node, pid, err)
			}
			if d := line.Monotonic(clock.Now()); line.Skew.Drift == 0 && d.Abs() > kept {
				v.wrong(of, "%s: the monotonic clock of process %d stays wrong by %v: no more could be taken back within %v",
					node, pid, d.Round(time.Millisecond), clock.LongestSlew)
			}
		}
		seen++
	}
	if seen == 0 && c.line.Skew != (clock.Skew{}) {
		v.unsure(of, "%s: runs no process that could tell the time", node)
	}
}

// measure has a process read its clocks, and returns how they are to err. One that has executed another program since it was
// patched joins first.
func (c *clocks) measure(pid int) (line clock.Timeline, s clock.Sample, err error) {
	for range programs {
		p := c.patches[pid]
		if line, err = p.Timeline(); err == nil {
			s, err = p.Measure(patchWithin)
		}
		if !errors.Is(err, clock.ErrLost) {
			break
		}
		if p, err = c.join(pid); err != nil {
			break
		}
		c.patches[pid] = p
	}
	return line, s, err
}

// skew has clocks of nodes err, all nodes first, and then looks whether they do.
func (a *agent) skew(s Skew) (*Skewed, error) {
	type job struct {
		*place
		procs []first
		at    time.Time
	}
	var jobs []*job
	a.mu.Lock()
	for _, k := range s.Clocks {
		if p := a.places[k.Node]; p != nil {
			jobs = append(jobs, &job{place: p, procs: p.procs})
		}
	}
	a.mu.Unlock()
	if len(jobs) != len(s.Clocks) {
		return nil, fmt.Errorf("not all nodes of %+v are here", s.Clocks)
	}
	// Always in the same order, so that two requests cannot wait for each other.
	slices.SortFunc(s.Clocks, func(x, y history.Clock) int { return strings.Compare(x.Node, y.Node) })
	slices.SortFunc(jobs, func(x, y *job) int { return strings.Compare(x.name, y.name) })
	for i := range jobs[1:] {
		if jobs[i].place == jobs[i+1].place { // whose lock would be waited for twice
			return nil, fmt.Errorf("the clocks of %s are named twice", jobs[i].name)
		}
	}
	lock := func() {
		for _, j := range jobs {
			j.clocks.mu.Lock()
		}
	}
	unlock := func() {
		for _, j := range jobs {
			j.clocks.mu.Unlock()
		}
	}
	done := &Skewed{Ago: map[string]time.Duration{}}
	lock()
	for _, j := range jobs {
		if err := j.clocks.attend(j.procs); err != nil {
			done.wrong(history.Clock{Node: j.name}.Key(), "%s: %v", j.name, err)
		}
	}
	drift := 0.0
	for i, j := range jobs {
		var err error
		if j.at, err = j.clocks.turn(skewOf(s.Clocks[i])); err != nil {
			done.wrong(history.Clock{Node: j.name}.Key(), "%s: %v", j.name, err)
		}
		if d := math.Abs(s.Clocks[i].Drift); d > 0 && (drift == 0 || d < drift) {
			drift = d
		}
	}
	var settled time.Duration // when all have given back what they had gained
	for _, j := range jobs {
		settled = max(settled, j.clocks.settle())
	}
	unlock()
	if drift > 0 {
		time.Sleep(clock.Lead + min(gainWithin, time.Duration(float64(gained)/drift)))
	}
	if settled > 0 {
		time.Sleep(settled)
	}
	lock()
	defer unlock()
	for _, j := range jobs {
		j.clocks.look(j.name, &done.Verified)
	}
	now := time.Now()
	for _, j := range jobs {
		if !j.at.IsZero() {
			done.Ago[j.name] = now.Sub(j.at)
		}
	}
	return done, nil
}

// readings tell how wrong the clocks of the nodes are that run, as their processes have it: no process is stopped for it.
func (a *agent) readings() map[string]history.Reading {
	all := map[string]history.Reading{}
	a.each(func(p *place, procs []first) {
		for _, f := range procs {
			if !f.alive() {
				continue
			}
			if p.clocks.patches[f.pid] == nil && p.clocks.again > 0 {
				p.clocks.again--
				p.clocks.report(p.name, procs)
			}
			patch := p.clocks.patches[f.pid]
			if patch == nil {
				continue
			}
			line, err := patch.Timeline()
			if now := clock.Now(); err == nil {
				all[p.name] = history.Reading{Wall: line.Wall(now), Monotonic: line.Monotonic(now), Waits: p.clocks.waits.wrong()}
				return
			}
		}
	})
	return all
}

// each calls f for every place and its processes, with the lock on its clocks.
func (a *agent) each(f func(p *place, procs []first)) {
	a.mu.Lock()
	procs := make(map[*place][]first, len(a.places))
	for _, p := range a.places {
		procs[p] = p.procs
	}
	a.mu.Unlock()
	for p, procs := range procs {
		p.clocks.mu.Lock()
		f(p, procs)
		p.clocks.mu.Unlock()
	}
}

// watchClocks sees to it that processes that come into being while their node's clocks are skewed are skewed as well.
func (a *agent) watchClocks(ctx context.Context) {
	tick := time.NewTicker(attendEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		a.each(func(p *place, procs []first) {
			if p.clocks.err() {
				p.clocks.report(p.name, procs)
			}
		})
	}
}

// report attends to the processes of a node and says what went wrong: nobody waits for it.
func (c *clocks) report(node string, procs []first) {
	if err := c.attend(procs); err != nil {
		fmt.Fprintf(os.Stderr, "agent: %s: %v\n", node, err)
	}
}

// begin attends to the processes of a node that has just been started, with ahead set even though its clocks are right.
func (p *place) begin(procs []first, ahead bool) {
	p.clocks.mu.Lock()
	defer p.clocks.mu.Unlock()
	p.clocks.patches, p.clocks.again = nil, 0
	if ahead || p.clocks.err() {
		p.clocks.again = tries
		p.clocks.report(p.name, procs)
	}
}

// skews are the errors of the nodes' clocks, by what their processes hold, or where they have none by what they would.
func (a *agent) skews() (all []history.Clock) {
	a.each(func(p *place, _ []first) {
		skew := p.clocks.line.Skew
		for _, patch := range p.clocks.patches {
			if line, err := patch.Timeline(); err == nil && line.Skew != skew {
				skew = line.Skew
				break
			}
		}
		if skew != (clock.Skew{}) {
			all = append(all, history.Clock{Node: p.name, Offset: skew.Offset, Drift: skew.Drift})
		}
	})
	return all
}

// ask has a process of a node ask for the time.
func (a *agent) ask(node string) (*Told, error) {
	p, err := a.place(node)
	if err != nil {
		return nil, err
	}
	p.clocks.mu.Lock()
	defer p.clocks.mu.Unlock()
	for pid := range p.clocks.patches {
		_, s, err := p.clocks.measure(pid)
		if errors.Is(err, clock.ErrGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		wall, out := s.Wall.Wrong()
		monotonic, outToo := s.Monotonic.Wrong()
		return &Told{At: time.Duration(s.Monotonic.Before), Wall: wall, Monotonic: monotonic, Accuracy: max(out, outToo)}, nil
	}
	return nil, fmt.Errorf("no process of %s can be asked", node)
}
