package checkers

import (
	"fmt"

	"recount/history"
)

// mistaken is what showed that the cluster was not what the nemesis believed of it, or that nobody knows whether it was: what faults had
// done is not known then, nor since when. It is empty if nothing did.
type mistaken string

// compared takes note of what came of comparing the cluster with what the nemesis believed.
func (g *gathering) compared(op *history.Op) {
	if op.Type == history.OK || g.mistaken != "" {
		return
	}
	why := fmt.Sprintf("at %s the cluster was not known to be what the nemesis believed it to be", at(op.Time))
	if op.Error != "" {
		why += " (" + op.Error + ")"
	}
	g.mistaken = mistaken(why)
}

// excuse has a result be unknown that rests on what the faults had done.
func (m mistaken) excuse(r *Result) {
	if m == "" || r.Verdict == Unknown {
		return
	}
	r.Verdict, r.Ops, r.From, r.To = Unknown, nil, 0, 0
	r.Why = fmt.Sprintf("%s, and nobody knows what was done to it: try again; but for that, %s", m, r.Why)
}
