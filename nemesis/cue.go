package nemesis

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"recount/history"
	"recount/internal/hint"
)

// Cue is what a step may wait for: something that nodes do, not the nemesis.
type Cue string

// The cues there are.
const (
	Elected       Cue = "election"
	LeaderChanged Cue = "leader-change"
	Voted         Cue = "vote"
)

type cueWord struct {
	cue   Cue
	about string
}

var cues = []cueWord{
	{Elected, "a node begins to lead, or to lead in another term"},
	{LeaderChanged, "a node begins to lead that is not the one that led before"},
	{Voted, "a node gives another its vote"},
}

// Cues returns the words for what a step can wait for, and what each means.
func Cues() (list [][2]string) {
	for _, c := range cues {
		list = append(list, [2]string{string(c.cue), c.about})
	}
	return list
}

func (c Cue) check() error {
	var known []string
	for _, k := range cues {
		known = append(known, string(k.cue))
	}
	if c != "" && !slices.Contains(known, string(c)) {
		return hint.Unknown("cue", string(c), known)
	}
	return nil
}

// waiter is a step whose time has come and which waits for its cue, or for some time after it.
type waiter struct {
	step  Step
	since time.Duration
	cue   string // what was seen; "" for nothing yet
}

// cued lets the steps go on that waited for what has just been seen.
func (n *Nemesis) cued(seen []Cue, what string) {
	for _, w := range n.waiting {
		if w.cue != "" || !slices.Contains(seen, w.step.After) {
			continue
		}
		w.cue = what
		n.cluster.After(w.step.Wait, func() {
			n.waiting = slices.DeleteFunc(n.waiting, func(other *waiter) bool { return other == w })
			n.fire(w.step, what)
		})
	}
}

// miss records the steps that waited in vain: for a cue, for the end of their time after it, or for somebody whom their words mean. What
// is being done ends first.
func (n *Nemesis) miss() {
	var missed []func()
	miss := func(fault history.Fault, why error) {
		missed = append(missed, func() {
			n.fired++
			fault.ID = n.fired
			n.record(history.Invoke, history.Inject, fault, nil)
			n.record(history.Fail, history.Inject, fault, why)
		})
	}
	for _, w := range n.waiting {
		why := fmt.Errorf("no %s was seen from %v on", w.step.After, w.since.Round(time.Millisecond))
		if w.cue != "" {
			if !n.Written {
				continue
			}
			why = fmt.Errorf("the run ended within %v of the %s", w.step.Wait, w.cue)
		}
		f, err := Find(w.step.Fault)
		if err != nil {
			panic(err) // the schedule was checked
		}
		miss(history.Fault{Name: f.Name, Params: w.step.With, Asked: w.step.asked(f)}, why)
	}
	if n.Written {
		for _, a := range n.seeking {
			why := errors.New("the run ended before its turn came")
			if a.lacks != nil {
				why = fmt.Errorf("from %v of the schedule on, until the run ended, %w", (a.since - n.begun).Round(time.Millisecond), a.lacks)
			}
			miss(a.fault, why)
		}
	}
	n.waiting, n.seeking = nil, nil
	n.turn(func() {
		for _, record := range missed {
			record()
		}
		n.idle()
	})
}
