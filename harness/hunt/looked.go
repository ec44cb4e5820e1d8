package hunt

import (
	"maps"
	"slices"

	"recount/harness/estimate"
	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// Looked is how much a hunt has looked at: what it is worth that it found nothing.
type Looked struct {
	Runs  int              `json:"runs"`
	Keys  int              `json:"keys"`  // different things that they reached: see Progress.Coverage
	Curve []estimate.Point `json:"curve"` // keys over runs
	// Chance is how likely one more run is to reach something that none has. The hunt prefers what led to something new, so it
	// tells how fast the hunt still learns.
	Chance estimate.Rate `json:"chance"`
	// Idle are the faults that were drawn and never took effect, and Unaimed the kinds of messages that nodes sent and no fault was
	// aimed at by their names.
	Idle    []string `json:"idle"`
	Unaimed []string `json:"unaimed"`
	Planted Planted  `json:"planted"`
}

// looking counts what a hunt looks at. Runs are counted in their order.
type looking struct {
	unseen      estimate.Unseen[feature]
	drawn, took map[string]bool // faults
	met, aimed  map[string]bool // kinds of messages
}

func newLooking() looking {
	return looking{drawn: map[string]bool{}, took: map[string]bool{}, met: map[string]bool{}, aimed: map[string]bool{}}
}

// note counts a run.
func (l *looking) note(p record.Plan, t *trial) {
	l.unseen.Add(maps.Keys(t.reached))
	for _, a := range t.aimed {
		l.drawn[a.Fault] = true
		l.took[a.Fault] = l.took[a.Fault] || a.Took
	}
	for _, kind := range t.kinds {
		l.met[kind] = true
	}
	for _, st := range p.Schedule {
		if kind := st.With["kind"]; kind != "" {
			l.aimed[kind] = true
		}
	}
}

// so is what has been looked at so far.
func (l *looking) so() Looked {
	return Looked{
		Runs: l.unseen.Runs(), Keys: l.unseen.Keys(), Curve: l.unseen.Curve(), Chance: l.unseen.Chance(),
		Idle: without(l.drawn, l.took), Unaimed: without(l.met, l.aimed), Planted: PlantedIn(l.unseen.Runs()),
	}
}

// without returns what is in a and not in b, in order.
func without(a, b map[string]bool) []string {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(name string) bool { return b[name] })
	if all == nil {
		all = []string{}
	}
	return all
}

// sprung returns the numbers of the faults of a run whose traps have sprung.
func sprung(h *history.Frame) map[int]bool {
	ids := map[int]bool{}
	for i := range h.Ops {
		if op := &h.Ops[i]; op.F == history.Change && op.Fault != nil && op.Fault.After != "" {
			ids[op.Fault.ID] = true
		}
	}
	return ids
}

// waits reports whether a fault takes effect only when something happens.
func waits(name string) bool {
	f, err := nemesis.Find(name)
	return err == nil && f.Events
}
