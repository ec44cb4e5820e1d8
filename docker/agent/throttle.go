//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/history"
)

// A node that gets a share of its processor is held to it by the kernel's scheduler: a group of processes that has used up its
// quota of a period stands still until the next one begins. Groups are of one life of a container; its next life has another.

// noQuota is that of a group which may use what it wants.
const noQuota = time.Duration(-1)

// bandwidth is how much of a processor a group may use: its quota of each period.
type bandwidth struct{ quota, period time.Duration }

// shareOf is the bandwidth of a processor's state.
func shareOf(c history.CPU) bandwidth { return bandwidth{c.Quota(), history.CPUPeriod} }

func (b bandwidth) String() string {
	if b.quota == noQuota {
		return "none"
	}
	return fmt.Sprintf("%v in %v", b.quota, b.period)
}

// bandwidth reads what a group may use.
func (g group) bandwidth() (b bandwidth, err error) {
	var quota, period string
	if g.version == 2 {
		text, err := g.read("cpu.max") // "5000 100000", or "max 100000"
		if err != nil {
			return b, err
		}
		quota, period, _ = strings.Cut(text, " ")
	} else {
		if quota, err = g.read("cpu.cfs_quota_us"); err != nil {
			return b, err
		}
		if period, err = g.read("cpu.cfs_period_us"); err != nil {
			return b, err
		}
	}
	b.quota = noQuota
	if quota != "max" && quota != "-1" {
		if b.quota, err = micros(quota); err != nil {
			return b, err
		}
	}
	b.period, err = micros(period)
	return b, err
}

func micros(text string) (time.Duration, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(n) * time.Microsecond, err
}

// limit sets what a group may use.
func (g group) limit(b bandwidth) error {
	none := map[int]string{1: "-1", 2: "max"}[g.version]
	quota, period := none, fmt.Sprint(b.period.Microseconds())
	if b.quota != noQuota {
		quota = fmt.Sprint(b.quota.Microseconds())
	}
	if g.version == 2 {
		return g.write("cpu.max", quota+" "+period)
	}
	for _, step := range [][2]string{{"cpu.cfs_quota_us", none}, {"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", quota}} {
		if err := g.write(step[0], step[1]); err != nil { // each has to be right by itself
			return err
		}
	}
	return nil
}

// throttled is one container that is held to a share, and what it might use before.
type throttled struct {
	group
	accounts group // what it has used is told here, in version 1; the zero value where that is told nowhere
	was      bandwidth
}

// processor is what was done to a place's.
type processor struct {
	asked history.CPU
	held  []throttled // its containers, while they are held to a share
	freed time.Time   // when they last were held to it no more
}

// throttling finds what a process can be held to a share by.
func (c cgroups) throttling(pid int) (t throttled, err error) {
	if t.group, err = c.of(fmt.Sprint(pid), "cpu"); err != nil {
		return t, err
	}
	if t.was, err = t.bandwidth(); err != nil {
		return t, err
	}
	if t.version == 1 {
		t.accounts, _ = c.of(fmt.Sprint(pid), "cpuacct")
	}
	return t, nil
}

// throttle brings the processor of a node into a state: of those of its containers that run, and of its next lives. The caller holds
// the agent's lock.
func (p *place) throttle(c history.CPU) error {
	if p.processor.asked = c; c.Share == 0 {
		return p.unleash()
	}
	return p.restrain()
}

// restrain holds the node's containers to its share.
func (p *place) restrain() error {
	if p.processor.held == nil {
		var found []throttled // all of them, or none: what is found of them is not looked for again
		for _, f := range p.procs {
			t, err := p.groups.throttling(f.pid)
			switch {
			case !f.alive(): // and its number may be another's: what was found would be of a stranger
			case err != nil:
				return err
			default:
				found = append(found, t)
			}
		}
		p.processor.held = found
	}
	for _, t := range p.processor.held {
		if err := t.limit(shareOf(p.processor.asked)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// unleash lets the node's containers use what they might before.
func (p *place) unleash() error {
	var errs []error
	for _, t := range p.processor.held {
		if err := t.limit(t.was); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if p.processor.held != nil {
		p.processor.held, p.processor.freed = nil, time.Now()
	}
	return errors.Join(errs...)
}

// strained tells whether the node's threads may wait for a processor because of its share, or may have done so since the last look
// at them.
func (p *place) strained() bool {
	return p.processor.held != nil || time.Since(p.processor.freed) < 3*starvedTick
}

// canThrottle tells whether a node's processor can be shared out, by a look at its anchor.
func (p *place) canThrottle() error {
	t, err := p.groups.throttling(p.anchor.pid)
	if err != nil {
		return err
	}
	return t.limit(t.was) // as it is: only whether that is allowed
}

// cpuState is what the processor of a node is like. A node that does not run has what its next life is to have.
func (p *place) cpuState() (history.CPU, error) {
	c := p.processor.asked
	for _, t := range p.processor.held {
		switch b, err := t.bandwidth(); {
		case errors.Is(err, os.ErrNotExist): // the container has ended
		case err != nil:
			return c, err
		case b == t.was:
			c.Share = 0
		case b != shareOf(p.processor.asked):
			c.Share = float64(b.quota) / float64(b.period)
		}
	}
	return c, nil
}

const (
	// throttledWithin is for how long a throttled node is watched that does not want more than its share.
	throttledWithin = 3 * history.CPUPeriod
	// slice is what the kernel hands out of a quota at once, to each processor.
	slice = 5 * time.Millisecond
)

// held looks whether the kernel holds a container to a share: by the quota that it tells, and by what it counts. wrong is what is
// not as it should be.
func (t throttled) held(want bandwidth) (wrong string, err error) {
	b, err := t.bandwidth()
	if err != nil {
		return "", err
	}
	if b != want {
		return fmt.Sprintf("the kernel's quota is %v, and should be %v", b, want), nil
	}
	began, before, usedBefore := time.Now(), int64(0), time.Duration(0)
	if before, err = t.count("cpu.stat", "nr_throttled"); err == nil {
		usedBefore, err = t.used()
	}
	for err == nil {
		time.Sleep(lookEvery)
		var now int64
		if now, err = t.count("cpu.stat", "nr_throttled"); err != nil || now > before {
			return "", err
		}
		if time.Since(began) < throttledWithin {
			continue
		}
		used, err := t.used()
		if err != nil {
			return "", err
		}
		watched := time.Since(began)
		may := want.quota*(watched/want.period+2) + slice*time.Duration(runtime.NumCPU())
		if used -= usedBefore; used > may {
			wrong = fmt.Sprintf("it used %v of a processor in %v, where %v are its share", used.Round(time.Microsecond), watched.Round(time.Millisecond), may)
		}
		return wrong, nil
	}
	return "", err
}

// used is how long the group has run, in all and on all processors.
func (t throttled) used() (time.Duration, error) {
	if t.version == 2 {
		n, err := t.count("cpu.stat", "usage_usec")
		return time.Duration(n) * time.Microsecond, err
	}
	if t.accounts == (group{}) {
		return 0, nil
	}
	ns, err := t.accounts.number("cpuacct.usage")
	return time.Duration(ns), err
}

// cpus looks whether nodes are held to their shares: those whose processors are changed, and those that are started.
func (v *Verified) cpus(a *agent, places map[string]*place, want history.Changes) {
	nodes := started(want) // and whether its share is what was changed
	for _, c := range want.CPUs() {
		nodes[c.Node] = true
	}
	for node, changed := range nodes {
		p := places[node]
		if p == nil {
			continue
		}
		a.mu.Lock()
		cpu, held, runs := p.processor.asked, slices.Clone(p.processor.held), slices.ContainsFunc(p.procs, first.alive)
		a.mu.Unlock()
		if changed && cpu.Share > 0 && !runs {
			v.unsure(cpu.Key(), "%s: %s is down, and will be held back when it runs", cpu.Name(), node)
		}
		for _, t := range held {
			wrong, err := t.held(shareOf(cpu))
			v.looked(cpu, wrong, err)
		}
	}
}
