package checkers

import (
	"recount/checkers/linear"
	"recount/history"
)

// object is a register or a lock that clients used.
type object struct {
	*linear.Object
	key     string
	clients map[history.Process]bool // whose operations count
	failed  int                      // operations that certainly did not happen
	unnamed bool                     // some of them do not tell who takes the lock, or gives it back
}

var objectOps = map[history.F]linear.Kind{
	history.Get: linear.Get, history.Put: linear.Put, history.CAS: linear.CAS, history.Acquire: linear.Take, history.Release: linear.Give,
}

// objects returns all registers and locks in the order in which they were first used. What did not happen is left out, and
// so are reads that told nothing.
func (u *uses) objects() (all []*object) {
	type name struct {
		key  string
		lock bool
	}
	known := map[name]*object{}
	for i := range u.all {
		x := &u.all[i]
		kind, is := objectOps[x.f]
		if !is {
			continue
		}
		told, found := x.register()
		n := name{told.Key, kind >= linear.Take}
		o := known[n]
		if o == nil {
			o = &object{Object: linear.NewObject(n.lock), key: n.key, clients: map[history.Process]bool{}}
			known[n] = o
			if !n.lock {
				o.Begin(u.held(n.key))
			}
			all = append(all, o)
		}
		op := linear.Op{
			Call: x.at[0], Return: never, Kind: kind, Client: int32(max(x.process, 0)), Begin: int32(x.number), End: int32(x.ended),
		}
		switch {
		case x.outcome == history.Fail:
			o.failed++
			continue
		case x.outcome == history.OK && (found || kind != linear.Get):
			op.Return, op.Revision = x.at[1], told.Revision
		case kind == linear.Get:
			continue // whatever was read, nobody knows
		}
		o.unnamed = o.unnamed || told.Value == ""
		if op.Value = o.Number(told.Value); kind == linear.CAS {
			op.Old = o.Number(told.Old)
		}
		o.clients[x.process] = true
		o.Add(op)
	}
	for _, o := range all {
		if o.Lock && o.unnamed { // then anybody may give it back
			for i := range o.Ops {
				o.Ops[i].Value = 0
			}
		}
	}
	return all
}

// held is what the register of a key held at first.
func (u *uses) held(key string) string {
	if u.given == nil {
		return ""
	}
	return u.given.Held(key)
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
