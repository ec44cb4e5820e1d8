package checkers

import (
	"recount/checkers/linear"
	"recount/history"
)

// object is a register or a lock that clients used.
type object struct {
	*linear.Object
	key     string
	clients map[history.Process]bool
	failed  int // operations that certainly did not happen
}

var objectOps = map[history.F]linear.Kind{
	history.Get: linear.Get, history.Put: linear.Put, history.CAS: linear.CAS, history.Acquire: linear.Take, history.Release: linear.Give,
}

// objects returns all registers and locks in the order in which they were first used. What did not happen is left out, and
// so are reads that told nothing.
func objects(h *history.History) (all []*object) {
	type name struct {
		key  string
		lock bool
	}
	known := map[name]*object{}
	initial := func(string) string { return "" }
	if setup := h.Setup(); setup != nil {
		initial = setup.Held
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		kind, ok := objectOps[op.F]
		if !ok || op.Type != history.Invoke {
			continue
		}
		told, end := op.Reg, h.Other(i)
		outcome, found := history.Info, false
		if end >= 0 {
			if outcome, found = h.Ops[end].Type, h.Ops[end].Reg != nil; found {
				told = h.Ops[end].Reg
			}
		}
		if told == nil {
			told = &history.Register{}
		}
		n := name{told.Key, kind >= linear.Take}
		o := known[n]
		if o == nil {
			o = &object{Object: linear.NewObject(n.lock), key: n.key, clients: map[history.Process]bool{}}
			known[n] = o
			if !n.lock {
				o.Begin(initial(n.key))
			}
			all = append(all, o)
		}
		o.clients[op.Process] = true
		u := linear.Op{
			Call: op.Time, Return: never, Kind: kind, Client: int32(max(op.Process, 0)), Begin: int32(i), End: int32(end),
		}
		switch {
		case outcome == history.Fail:
			o.failed++
			continue
		case outcome == history.OK && (found || kind != linear.Get):
			u.Return, u.Revision = h.Ops[end].Time, told.Revision
		case kind == linear.Get:
			continue // whatever was read, nobody knows
		}
		if u.Value = o.Number(told.Value); kind == linear.CAS {
			u.Old = o.Number(told.Old)
		}
		o.Add(u)
	}
	return all
}

// name is what an object is called.
func (o *object) name() string {
	what := "the register"
	if o.Lock {
		what = "the lock"
	}
	if o.key != "" {
		return what[len("the "):] + " " + o.key
	}
	return what
}
