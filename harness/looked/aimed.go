package looked

import (
	"strings"

	"recount/history"
	"recount/nemesis"
)

// Aimed is one fault of a run and what it was aimed at.
type Aimed struct {
	Fault string
	At    string // the words for its nodes, as "leader, follower"; "" where a fault takes none
	Took  bool   // it was seen to take effect; of one that waits for something, that this has happened
	Why   string // why it did not, as the nemesis was told; "" where nobody knows, or it did
}

// aimed returns the faults of a run in their order, and the kinds of messages that they named.
func aimed(h *history.Frame) (all []Aimed, kinds []string) {
	caught := sprung(h)
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.F == history.Inject && op.Type != history.Invoke && op.Fault != nil {
			if kind := op.Fault.Params["kind"]; kind != "" {
				kinds = append(kinds, kind)
			}
			a := Aimed{Fault: op.Fault.Name, At: strings.Join(op.Fault.Asked, ", ")}
			switch {
			case op.Type != history.OK:
				a.Why = op.Error
			case waits(op.Fault.Name) && !caught[op.Fault.ID]:
				a.Why = "what it waited for did not happen"
			default:
				a.Took = true
			}
			all = append(all, a)
		}
	}
	return all, kinds
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
