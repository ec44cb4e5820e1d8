package hunt

import (
	"strings"

	"recount/history"
)

// Aimed is one fault of a run and what it was aimed at.
type Aimed struct {
	Fault string
	At    string // the words for its nodes, as "leader, follower"; "" where a fault takes none
	Took  bool   // it was seen to take effect; of one that waits for something, that this has happened
}

// aimed returns the faults of a run in their order.
func aimed(h *history.Frame) (all []Aimed) {
	caught := sprung(h)
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.F == history.Inject && op.Type != history.Invoke && op.Fault != nil {
			all = append(all, Aimed{op.Fault.Name, strings.Join(op.Fault.Asked, ", "), op.Type == history.OK && (caught[op.Fault.ID] || !waits(op.Fault.Name))})
		}
	}
	return all
}
