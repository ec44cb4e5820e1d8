package checkers

import (
	"fmt"
	"slices"

	"recount/history"
)

// mistaken is what showed that the cluster was not what the nemesis believed of it, or that nobody knows whether it was: what faults had
// done is not known then, nor since when. It is empty if nothing did.
type mistaken struct {
	why string
	way string // what would settle it
}

// compared takes note of what came of comparing the cluster with what the nemesis believed.
func (g *gathering) compared(op *history.Op) {
	if op.Type == history.OK || g.mistaken.why != "" {
		return
	}
	why := fmt.Sprintf("at %s the cluster was not known to be what the nemesis believed it to be", at(op.Time))
	if op.Error != "" {
		why += " (" + op.Error + ")"
	}
	g.mistaken = mistaken{why, "try again"}
}

// inherits takes note of it if a fault that nothing injected is healed, or changes, and what it makes right nothing had made wrong: the history
// begins with that at fault, and perhaps with more.
func (g *gathering) inherits(op *history.Op, of *history.Fault, intended []history.Changes) {
	if of == nil || g.mistaken.why != "" {
		return
	}
	if _, begun := g.injects[of.ID]; begun || !slices.ContainsFunc(intended, func(c history.Changes) bool { return g.world.wasFine(c, g.nodes) }) {
		return
	}
	g.mistaken = mistaken{fmt.Sprintf("at %s something was done about %s, of which no inject is told, so it may have been at fault from the beginning", at(op.Time), fault(of)),
		"begin the history where nothing is at fault"}
}

// wordless takes note of it if no op of the nemesis told what it does to anything, though one may have injected a fault: the faults may
// have done what they are called by.
func (g *gathering) wordless() {
	if g.mistaken.why == "" && g.hollow != nil && !g.stated && g.setup.Model == "" {
		g.mistaken = mistaken{fmt.Sprintf("%s tells of no link, process or anything else that it changed", fault(g.hollow)),
			"have each fault tell the links, procs and whatever else it changes"}
	}
}

// excuse has a result be unknown that rests on what the faults had done.
func (m mistaken) excuse(r *Result) {
	if m.why == "" || r.Verdict == Unknown {
		return
	}
	r.Verdict, r.Ops, r.From, r.To = Unknown, nil, 0, 0
	r.Why = fmt.Sprintf("%s, and nobody knows what was done: %s; but for that, %s", m.why, m.way, r.Why)
}
