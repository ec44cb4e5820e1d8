package nemesis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/history"
	"recount/internal/hint"
)

// Action is one thing that the nemesis of an earlier run did: when, counted from when the cluster had settled, and which
// states of which nodes it left behind. What a schedule leaves open is decided in it.
type Action struct {
	At    time.Duration `json:"at"`
	F     history.F     `json:"f"`
	Fault history.Fault `json:"fault"`
}

// ActionsOf returns what the nemesis did in a run, from its history. What is known not to have taken effect is left out, and what was
// only found.
func ActionsOf(h *history.History) ([]Action, error) {
	settled, told := h.Frame().Settled()
	var actions []Action
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Process != history.Nemesis || op.Type != history.Invoke || op.Fault == nil || op.Fault.Found {
			continue
		}
		if other := h.Other(i); other >= 0 && h.Ops[other].Type == history.Fail {
			continue
		}
		if !told || op.Time < settled {
			return nil, hint.Add(fmt.Errorf("op %d: %s before the history says that the cluster settled", op.Index, op.F),
				"the history was made by another version of Recount")
		}
		fault := *op.Fault
		fault.Spread = 0
		actions = append(actions, Action{op.Time - settled, op.F, fault})
	}
	return actions, nil
}

// CheckActions finds what is wrong with actions for a cluster of these nodes.
func CheckActions(actions []Action, nodes []string) error {
	for i, d := range actions {
		touched := slices.Clone(d.Fault.Nodes)
		for _, s := range d.Fault.States() {
			touched = append(touched, s.Key().Nodes()...)
		}
		for _, n := range touched {
			n, _, _ = strings.Cut(n, "/")
			if !slices.Contains(nodes, n) {
				return fmt.Errorf("recorded fault %d: %s: %w", i+1, d.Fault.Name, hint.Unknown("node", n, nodes))
			}
		}
	}
	return nil
}

// CheckBlindActions finds one whose fault only made sense where it was known what messages mean, as CheckBlind does in a schedule.
func CheckBlindActions(actions []Action) error {
	for i, d := range actions {
		for _, t := range d.Fault.Traps() {
			if err := t.Blind(); err != nil {
				return fmt.Errorf("recorded fault %d: %s: %w", i+1, d.Fault.Name, err)
			}
		}
	}
	return nil
}

// Repeat does again, from now on, what was done in an earlier run. Heal ends what that leaves under way.
func (n *Nemesis) Repeat(actions []Action) {
	for _, d := range actions {
		n.cluster.After(d.At, func() { n.turn(func() { n.redo(d) }) })
	}
}

func (n *Nemesis) redo(d Action) {
	i := slices.IndexFunc(n.active, func(a *active) bool { return a.fault.ID == d.Fault.ID })
	if n.stopped || (i < 0) != (d.F == history.Inject) { // it could not be injected here, or is healed
		n.idle()
		return
	}
	var a *active
	switch d.F {
	case history.Inject:
		a = &active{fault: d.Fault, recorded: true}
		n.active = append(n.active, a)
	case history.Heal:
		a = n.active[i]
		a.over = true
		n.active = slices.Delete(n.active, i, i+1)
	default:
		a = n.active[i]
	}
	want := n.holds.With(d.Fault.Changes)
	if d.F == history.Heal && len(n.active) == 0 {
		want = history.States{} // also what the recording knows nothing of: that a trap has sprung here that had not there
	}
	n.bring(d.F, a, want)
}
