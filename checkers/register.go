package checkers

import (
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"recount/history"
)

// action is one use of a register or a lock.
type action struct {
	call, ret time.Duration // it took effect between them; one of unknown outcome never returns
	kind      actionKind
	value     int32 // read or written, by its number; 0 is nothing
	old       int32 // what a cas takes
	revision  uint64
	begin     int32 // where in the history its invoke is
	end       int32 // and its end; -1 if it has none
}

type actionKind uint8

const (
	get actionKind = iota
	put
	cas
	take // of a lock
	give
)

// like is what u does, whoever does it when.
func (u *action) like() action {
	return action{kind: u.kind, value: u.value, old: u.old, revision: u.revision}
}

// found is what u found in a register, -1 if it did not look.
func (u *action) found() int32 {
	switch u.kind {
	case get:
		return u.value
	case cas:
		return u.old
	}
	return -1
}

// sure reports whether u happened.
func (u *action) sure() bool { return u.ret < never }

// holding is the state of a register or a lock: what is in it.
type holding struct {
	value    int32 // a lock that is taken holds 1
	revision uint64
	loose    bool // the revision may be higher: that of the last write is not known
}

// object is a register or a lock with all that was done to it.
type object struct {
	key     string
	lock    bool
	counted bool // some use tells a revision
	uses    []action
	values  []string // by number
	clients map[history.Process]bool
	number  map[string]int32
	failed  int // uses that certainly did not happen
}

// step is what a use does to what is held, and whether it can be; if not, it changes nothing. Writes raise the revision,
// but nobody knows by how much: a store counts those of all of its registers.
func (o *object) step(h holding, u *action) (holding, bool) {
	switch u.kind {
	case get:
		switch {
		case h.value != u.value:
			return h, false
		case u.revision == 0:
			return h, true
		case u.revision < h.revision, u.revision > h.revision && !h.loose:
			return h, false
		}
		return holding{h.value, u.revision, false}, true
	case take:
		return holding{value: 1}, h.value == 0
	case give:
		return holding{}, h.value == 1
	case cas:
		if h.value != u.old {
			return h, false
		}
	}
	switch {
	case !o.counted:
		return holding{value: u.value}, true
	case u.revision == 0:
		return holding{u.value, h.revision + 1, true}, true
	case u.revision <= h.revision:
		return h, false
	}
	return holding{u.value, u.revision, false}, true
}

// objects returns all registers and locks in the order in which they were first used. What did not happen is left out, and
// so are reads that told nothing.
func objects(h *history.History) (all []*object) {
	type name struct {
		key  string
		lock bool
	}
	known := map[name]*object{}
	for i := range h.Ops {
		op := &h.Ops[i]
		kind, ok := actionKinds[op.F]
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
		n := name{told.Key, kind >= take}
		o := known[n]
		if o == nil {
			o = &object{
				key: n.key, lock: n.lock, values: []string{""}, number: map[string]int32{"": 0}, clients: map[history.Process]bool{},
			}
			known[n] = o
			all = append(all, o)
		}
		o.clients[op.Process] = true
		u := action{call: op.Time, ret: never, kind: kind, begin: int32(i), end: int32(end)}
		switch {
		case outcome == history.Fail:
			o.failed++
			continue
		case outcome == history.OK && (found || kind != get):
			u.ret, u.revision = h.Ops[end].Time, told.Revision
		case kind == get:
			continue // whatever was read, nobody knows
		}
		u.value, u.old = o.id(told.Value), o.id(told.Old)
		o.counted = o.counted || u.revision != 0
		o.uses = append(o.uses, u)
	}
	return all
}

var actionKinds = map[history.F]actionKind{
	history.Get: get, history.Put: put, history.CAS: cas, history.Acquire: take, history.Release: give,
}

func (o *object) id(value string) int32 {
	n, known := o.number[value]
	if !known {
		n = int32(len(o.values))
		o.number[value] = n
		o.values = append(o.values, value)
	}
	return n
}

// prune settles the uses of unknown outcome as far as can be: one that wrote what only it can have written happened if
// that was seen, before who saw it was done; one that wrote what nobody saw, and nobody can have taken, decides
// nothing. Both are exact for registers. (A lock has but two values: its uses are left alone.)
func (o *object) prune(uses []action) []action {
	if o.lock {
		return uses
	}
	writers := make([]int, len(o.values)) // of each value
	writers[0]++                          // what was there at first, nobody wrote
	for i := range uses {
		if u := &uses[i]; u.kind != get {
			writers[u.value]++
		}
	}
	for again := true; again; {
		again = false
		seen := make([]time.Duration, len(o.values)) // when the first use ended that surely found it there
		wanted := make([]bool, len(o.values))        // by somebody, perhaps
		for i := range seen {
			seen[i] = never
		}
		for i := range uses {
			if found := uses[i].found(); found >= 0 {
				wanted[found] = true
				seen[found] = min(seen[found], uses[i].ret)
			}
		}
		uses = slices.DeleteFunc(uses, func(u action) bool {
			idle := !u.sure() && !wanted[u.value]
			again = again || idle
			return idle
		})
		for i := range uses {
			if u := &uses[i]; !u.sure() && writers[u.value] == 1 && seen[u.value] < never {
				u.ret = max(u.call, seen[u.value])
				again = true
			}
		}
	}
	return uses
}

// model is the object for porcupine, when it holds something to begin with.
func (o *object) model(begin holding) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begin },
		Step: func(state, input, _ any) (bool, any) {
			u := input.(*action)
			next, ok := o.step(state.(holding), u)
			if !ok {
				return !u.sure(), state
			}
			return true, next
		},
		DescribeOperation: func(input, _ any) string { return o.tell(input.(*action)) },
		DescribeState:     func(state any) string { return o.show(state.(holding).value) },
	}
}

// operations makes uses porcupine's.
func operations(h *history.History, uses []action) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(uses))
	for i := range uses {
		u := &uses[i]
		ops[i] = porcupine.Operation{
			ClientId: int(max(h.Ops[u.begin].Process, 0)), Input: u, Call: int64(u.call), Return: int64(u.ret),
		}
	}
	return ops
}

// show writes a value.
func (o *object) show(value int32) string {
	switch {
	case o.lock && value == 0:
		return "free"
	case o.lock:
		return "taken"
	case value == 0:
		return "nothing"
	}
	return o.values[value]
}

// tell writes what a use did: "read 3", "wrote 4 (revision 9)".
func (o *object) tell(u *action) string {
	s := map[actionKind]string{get: "read ", put: "wrote ", cas: "set ", take: "took the lock", give: "released the lock"}[u.kind]
	switch u.kind {
	case get, put:
		s += o.show(u.value)
	case cas:
		s += o.show(u.old) + " to " + o.show(u.value)
	}
	if u.revision != 0 {
		s += fmt.Sprintf(" (revision %d)", u.revision)
	}
	if !u.sure() {
		s += " (outcome unknown)"
	}
	return s
}
