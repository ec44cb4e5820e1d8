package nemesis

import (
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

// waiter is a step whose time has come and which waits for its cue.
type waiter struct {
	step  Step
	since time.Duration
}

// cued lets the steps go on that waited for what has just been seen.
func (n *Nemesis) cued(seen []Cue, what string) {
	n.waiting = slices.DeleteFunc(n.waiting, func(w *waiter) bool {
		if !slices.Contains(seen, w.step.After) {
			return false
		}
		n.cluster.After(w.step.Wait, func() { n.fire(w.step, what) })
		return true
	})
}

// miss records the steps that waited in vain.
func (n *Nemesis) miss() {
	for _, w := range n.waiting {
		f, err := Find(w.step.Fault)
		if err != nil {
			panic(err) // the schedule was checked
		}
		n.fired++
		fault := history.Fault{ID: n.fired, Name: f.Name, Params: w.step.With, Asked: w.step.asked(f)}
		n.record(history.Invoke, history.Inject, fault, nil)
		n.record(history.Fail, history.Inject, fault, fmt.Errorf("no %s was seen from %v on", w.step.After, w.since.Round(time.Millisecond)))
	}
	n.waiting = nil
}
