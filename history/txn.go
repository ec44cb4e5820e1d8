package history

import (
	"fmt"

	"recount/internal/hint"
)

// Txns is of a client: use several registers at once; ok carries what was read.
const Txns F = "txn"

// Txn is several uses of registers that happen at once, in this order.
type Txn struct {
	Uses []Use `json:"uses"`
}

// Use is one of them.
type Use struct {
	F     F      `json:"f"` // Get or Put
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
}

// Txn returns what a Txns carries, or nil.
func (op *Op) Txn() *Txn {
	t, _ := op.Value.(*Txn)
	return t
}

func init() {
	register(kind{name: Txns, value: valued[Txn](), when: mayThenMust, fits: func(op *Op) error {
		if t := op.Txn(); t != nil {
			for _, u := range t.Uses {
				if u.F != Get && u.F != Put {
					return hint.Add(fmt.Errorf("a transaction uses a register by %q", u.F), "f of a use is get or put")
				}
			}
		}
		return nil
	}})
}
