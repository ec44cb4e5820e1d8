package nemesis

import (
	"fmt"
	"slices"
	"time"

	"recount/history"
	"recount/internal/hint"
)

// Deed is one thing that the nemesis of an earlier run did: when, counted from when the cluster had settled, and which
// states of which nodes it left behind. What a schedule leaves open is decided in it.
type Deed struct {
	At    time.Duration `json:"at"`
	F     history.F     `json:"f"`
	Fault history.Fault `json:"fault"`
}

// Recorded returns what the nemesis did in a run, from its history. What is known not to have taken effect is left out.
func Recorded(h *history.History) ([]Deed, error) {
	settled := slices.IndexFunc(h.Ops, func(op history.Op) bool { return op.F == history.Settle })
	var deeds []Deed
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Process != history.Nemesis || op.Type != history.Invoke || op.Fault == nil {
			continue
		}
		if other := h.Other(i); other >= 0 && h.Ops[other].Type == history.Fail {
			continue
		}
		if settled < 0 || i < settled {
			return nil, hint.Add(fmt.Errorf("nemesis: op %d: %s before the history says that the cluster settled", op.Index, op.F),
				"the history was made by another version of Recount")
		}
		fault := *op.Fault
		fault.Spread = 0
		deeds = append(deeds, Deed{op.Time - h.Ops[settled].Time, op.F, fault})
	}
	return deeds, nil
}

// CheckDeeds finds what is wrong with deeds for a cluster of these nodes.
func CheckDeeds(deeds []Deed, nodes []string) error {
	for i, d := range deeds {
		touched := slices.Clone(d.Fault.Nodes)
		for _, l := range d.Fault.Links {
			touched = append(touched, l.From, l.To)
		}
		for _, p := range d.Fault.Procs {
			touched = append(touched, p.Node)
		}
		for _, k := range d.Fault.Clocks {
			touched = append(touched, k.Node)
		}
		for _, k := range d.Fault.Clients {
			touched = append(touched, k.Node)
		}
		for _, k := range d.Fault.Disks {
			touched = append(touched, k.Node)
		}
		for _, n := range touched {
			if !slices.Contains(nodes, n) {
				return fmt.Errorf("nemesis: recorded fault %d: %s: %w", i+1, d.Fault.Name, hint.Unknown("node", n, nodes))
			}
		}
	}
	return nil
}

// Repeat does again, from now on, what was done in an earlier run. Heal ends what that leaves under way.
func (n *Nemesis) Repeat(deeds []Deed) {
	for _, d := range deeds {
		n.cluster.After(d.At, func() { n.turn(func() { n.redo(d) }) })
	}
}

func (n *Nemesis) redo(d Deed) {
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
	n.bring(d.F, a, add([]history.Changes{overlaid(n.holds.changes(), d.Fault.Changes)}))
}

// overlaid returns the states of now with those of c in their place.
func overlaid(now, c history.Changes) history.Changes {
	return history.Changes{
		Links: replaced(now.Links, c.Links, func(l history.Link) history.Link {
			l.LinkState = history.LinkState{}
			return l
		}),
		Procs: replaced(now.Procs, c.Procs, func(p history.Proc) history.Proc {
			return history.Proc{Node: p.Node, State: history.Up}
		}),
		Clocks:  replaced(now.Clocks, c.Clocks, func(k history.Clock) history.Clock { return history.Clock{Node: k.Node} }),
		Clients: replaced(now.Clients, c.Clients, func(k history.Client) history.Client { return history.Client{Node: k.Node} }),
		Disks:   replaced(now.Disks, c.Disks, func(d history.Disk) history.Disk { return history.Disk{Node: d.Node} }),
	}
}

// replaced returns the states of now with those in by that are of the same thing in their place, without the healthy
// ones. healthy turns a state into the healthy one of the same thing.
func replaced[S comparable](now, by []S, healthy func(S) S) (all []S) {
	for _, s := range now {
		if !slices.ContainsFunc(by, func(b S) bool { return healthy(b) == healthy(s) }) {
			all = append(all, s)
		}
	}
	for _, s := range by {
		if s != healthy(s) {
			all = append(all, s)
		}
	}
	return all
}
