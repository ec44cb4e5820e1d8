//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"recount/history"
)

// verify looks whether links, processes, disks, processors and memory are as they should be, all at the same time.
func (a *agent) verify(v Verify) (*Verified, error) {
	a.mu.Lock()
	places := make(map[string]*place, len(a.places))
	procs := make(map[string][]first, len(a.places))
	volumes := make(map[string]*volume, len(a.places))
	held := make(map[string]func(pid int) bool, len(a.places))
	for name, p := range a.places {
		places[name], procs[name], volumes[name] = p, p.procs, p.volume
		held[name] = p.heldParts()
	}
	var looks []*look
	for _, l := range v.Links {
		from, to := places[l.From], places[l.To]
		if from == nil || to == nil {
			a.mu.Unlock()
			return nil, fmt.Errorf("no link %s→%s here", l.From, l.To)
		}
		k := &look{Link: l, from: from, to: to, suffers: l.LinkState}
		if l.Port != 0 {
			k.suffers = k.suffers.And(to.links[inbound{l.From, 0}])
		}
		looks = append(looks, k)
	}
	a.mu.Unlock()
	links, processes, disks, cpus, memories := &Verified{}, &Verified{}, &Verified{}, &Verified{}, &Verified{}
	var all sync.WaitGroup
	all.Go(func() { cpus.cpus(a, places, v.Changes) })
	all.Go(func() { links.links(looks, v.Within) })
	all.Go(func() { disks.disks(volumes, procs, v.Changes) })
	processes.procs(procs, held, v.Procs, v.Within)
	processes.parts(a, procs, held, v.Parts(), v.Within)
	memories.memories(a, places, v.Changes)
	all.Wait()
	found := &Verified{}
	for _, some := range []*Verified{links, processes, disks, cpus, memories} {
		found.Add(some)
	}
	return found, nil
}

// started are the nodes that are to run, each with false.
func started(want history.Changes) map[string]bool {
	nodes := map[string]bool{}
	for _, p := range want.Procs {
		if p.State == history.Up {
			nodes[p.Node] = false
		}
	}
	return nodes
}

// looked adds what came of a look at a container's group of processes: what is wrong with it, or why that could not be seen.
func (v *Verified) looked(at history.State, wrong string, err error) {
	switch {
	case errors.Is(err, os.ErrNotExist): // the container has ended since
	case err != nil:
		v.unsure(at.Key(), "%s: %v", at.Name(), err)
	case wrong != "":
		v.wrong(at.Key(), "%s: %s", at.Name(), wrong)
	}
}

// look is a link that is looked at.
type look struct {
	history.Link
	from, to *place
	suffers  history.LinkState // what packets of it suffer in all
	bad      bool              // it is known not to be as it should
}

func (k *look) String() string {
	if k.Port != 0 {
		return fmt.Sprintf("%s→%s port %d", k.From, k.To, k.Port)
	}
	return k.From + "→" + k.To
}

func (v *Verified) wrongLink(k *look, why string) {
	k.bad = true
	v.wrong(k.Key(), "%v %s", k, why)
}

func (v *Verified) unsureLink(k *look, why string) { v.unsure(k.Key(), "%v: %s", k, why) }

// links believes neither what the kernel says about its rules nor what becomes of packets, but both together.
func (v *Verified) links(looks []*look, within time.Duration) {
	rules := map[*place]states{} // nil where they cannot be read
	for _, k := range looks {
		if _, done := rules[k.to]; done {
			continue
		}
		var err error
		if rules[k.to], err = k.to.filter.read(); err != nil {
			v.Unsure = append(v.Unsure, fmt.Sprintf("links into %s: %v", k.To, err))
		}
	}
	for _, k := range looks {
		if rules[k.to] == nil {
			v.Missed = append(v.Missed, k.Key())
		}
	}
	var probes, bursts []probe
	var of, ofBursts []*look // which link each is for
	for _, k := range looks {
		for i, addr := range k.from.addrs {
			if into := rules[k.to]; into != nil && into[source{addr, uint16(k.Port)}] != k.to.filter.exact(k.LinkState) {
				v.wrongLink(k, "is not what the kernel's rules are for")
			}
			all, err := probesFor(k.suffers, within)
			if err != nil {
				v.unsureLink(k, err.Error())
				continue
			}
			for n, p := range all {
				p.from, p.to, p.family, p.port = k.from, k.to, i, uint16(k.Port)
				if n == 0 {
					probes, of = append(probes, p), append(of, k)
				} else {
					bursts, ofBursts = append(bursts, p), append(ofBursts, k)
				}
			}
		}
	}
	v.sniffers(looks)
	v.probe(probes, of)
	v.probe(bursts, ofBursts)
	v.connections(looks)
}

// probeTries is how often a link may do what it should not before that is held against it. A machine that stood still for
// a moment makes packets late and has them lost, but hardly as often; and no machine lets them through a cut.
const probeTries = 3

func (v *Verified) probe(probes []probe, of []*look) {
	for try := 1; len(probes) > 0; try++ {
		samples, err := send(probes)
		if err != nil {
			v.Unsure = append(v.Unsure, err.Error())
			for _, k := range of {
				v.Missed = append(v.Missed, k.Key())
			}
			return
		}
		var again []probe
		var ofAgain []*look
		for i, s := range samples {
			switch why := judge(of[i].suffers, probes[i], s); {
			case why == "":
			case try < probeTries && !of[i].bad && !of[i].suffers.Cut && of[i].suffers.Loss < 1 && !probes[i].first:
				again, ofAgain = append(again, probes[i]), append(ofAgain, of[i])
			default:
				v.wrongLink(of[i], why)
			}
		}
		probes, of = again, ofAgain
	}
}

// connections looks whether links that reset connections do.
func (v *Verified) connections(looks []*look) {
	looks = slices.DeleteFunc(slices.Clone(looks), func(k *look) bool { return !k.Reset || k.suffers.Cut || k.suffers.Loss >= 1 })
	errs := make([]error, len(looks))
	var all sync.WaitGroup
	for i, k := range looks {
		all.Go(func() {
			for family := range k.from.addrs {
				errs[i] = errors.Join(errs[i], refused(k.from, k.to, family, uint16(k.Port)))
			}
		})
	}
	all.Wait()
	for i, k := range looks {
		switch {
		case errs[i] == nil:
		case errors.Is(errs[i], errConnects):
			v.wrongLink(k, errConnects.Error())
		default:
			v.unsureLink(k, errs[i].Error())
		}
	}
}

const lookEvery = time.Millisecond

func (v *Verified) procs(procs map[string][]first, held map[string]func(pid int) bool, want []history.Proc, within time.Duration) {
	deadline := time.Now().Add(within)
	for _, p := range want {
		for {
			state, why, err := observe(procs[p.Node], held[p.Node])
			if err == nil && state == looksLike(p.State) {
				break
			}
			if err == nil && p.State == history.Paused && state != history.Down {
				err = halt(procs[p.Node])
			}
			if err != nil {
				v.unsure(p.Key(), "%s: %v", p.Node, err)
				break
			}
			if state == history.Down || time.Now().After(deadline) { // the dead do not rise here
				if state != "" {
					why = "is " + string(state)
				}
				v.wrong(p.Key(), "%s: is to be %s, but %s", p.Node, p.State, why)
				break
			}
			time.Sleep(lookEvery)
		}
	}
}

// looksLike is what can be seen of a state: the dead do not tell how they died.
func looksLike(s history.ProcState) history.ProcState {
	if s == history.Crashed || s == history.Stopped {
		return history.Down
	}
	return s
}
