package history

import (
	"fmt"
	"strings"
)

// asked is what a client asked for: the value of the beginning of its operation.
type asked struct {
	f      F
	reg    *Register
	access Access
	txn    *Txn
}

func askedBy(op *Op) asked { return asked{op.F, op.Reg, op.Access, op.Txn()} }

// met reports whether an end tells of what was asked for, as far as both tell of it. What was found, and the revision, only the end knows.
func (a asked) met(end *Op) bool {
	switch got := askedBy(end); {
	case a.f == Write:
		return got.access == a.access
	case a.txn != nil && got.txn != nil:
		return a.txn.asks(got.txn)
	case a.reg != nil && got.reg != nil:
		return got.reg.Key == a.reg.Key && (a.f == Get || got.reg.Value == a.reg.Value && got.reg.Old == a.reg.Old)
	}
	return true
}

// asks reports whether another has the same uses, whatever was read.
func (t *Txn) asks(other *Txn) bool {
	if len(t.Uses) != len(other.Uses) {
		return false
	}
	for i, u := range t.Uses {
		if o := other.Uses[i]; o.F != u.F || o.Key != u.Key || u.F == Put && o.Value != u.Value {
			return false
		}
	}
	return true
}

// String is what stands in an error.
func (a asked) String() string {
	switch {
	case a.f == Write:
		return fmt.Sprintf("%d with token %d", a.access.Value, a.access.Token)
	case a.txn != nil:
		var uses []string
		for _, u := range a.txn.Uses {
			uses = append(uses, strings.TrimSpace(fmt.Sprintf("%s %s %s", u.F, u.Key, u.Value)))
		}
		return strings.Join(uses, ", ")
	}
	s := fmt.Sprintf("%q", a.reg.Value)
	if a.f == CAS {
		s = fmt.Sprintf("%q to %q", a.reg.Old, a.reg.Value)
	}
	if a.f == Get {
		return fmt.Sprintf("of key %q", a.reg.Key)
	}
	if a.reg.Key != "" {
		s += fmt.Sprintf(" of key %q", a.reg.Key)
	}
	return s
}
