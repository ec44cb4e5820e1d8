package linear

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Never is later than anything in a history.
const Never = time.Duration(math.MaxInt64)

// Op is one operation on a register or a lock.
type Op struct {
	Call, Return time.Duration // it took effect between them; one of unknown outcome never returns
	Kind         Kind
	Value        int32 // read or written, by its number; 0 is what a register held at first. Of a lock with owners: who acts
	Old          int32 // what a cas takes
	Revision     uint64
	Client       int32 // who acts: a line of a picture
	Begin        int32 // where in the history its invoke is
	End          int32 // and its end; -1 if it has none
}

// Kind is what an operation does.
type Kind uint8

// The kinds of operations.
const (
	Get Kind = iota
	Put
	CAS
	Take // of a lock
	Give
	accept // a write with a fencing token; accept, reject and look are of a fenced resource
	reject // the same, refused
	look   // a read that shows the token, too
)

// like is what u does, whoever does it when.
func (u *Op) like() Op {
	return Op{Kind: u.Kind, Value: u.Value, Old: u.Old, Revision: u.Revision}
}

// found is what u found in a register, -1 if it did not look.
func (u *Op) found() int32 {
	switch u.Kind {
	case Get:
		return u.Value
	case CAS:
		return u.Old
	}
	return -1
}

// Found returns what u must have found for it to happen, and whether it had to find anything.
func (u *Op) Found() (value int32, looked bool) {
	switch u.Kind {
	case Get, CAS:
		return u.found(), true
	case Take:
		return 0, true
	case Give:
		return u.owner(), true
	}
	return 0, false
}

// Brings reports whether u can be who first wrote a value: not if it reads, nor if it is to find what it writes.
func (u *Op) Brings() bool { return u.Kind == Put || u.Kind == CAS && u.Old != u.Value }

// leaves is what u leaves a lock as: taken by whom, or free.
func (u *Op) leaves() int32 {
	if u.Kind == Give {
		return 0
	}
	return u.owner()
}

// owner is who takes a lock by u, or gives it back; 1 where nobody is told from another.
func (u *Op) owner() int32 { return max(u.Value, 1) }

// reads reports whether u changes nothing that is held. (A read may tell a revision.)
func (u *Op) reads() bool { return u.Kind == Get || u.Kind == reject || u.Kind == look }

// Sure reports whether u happened.
func (u *Op) Sure() bool { return u.Return < Never }

// State is what a register or a lock holds.
type State struct {
	Value    int32 // a lock that is taken holds its owner, or 1 if it has none
	Revision uint64
	Loose    bool // the revision may be higher: that of the last write is not known
}

// Object is a register or a lock with all that was done to it. Deciding does not change it.
type Object struct {
	Lock bool
	Ops  []Op // in order of their calls

	counted bool // some operation tells a revision
	fenced  bool
	values  []string
	number  map[string]int32
}

// NewObject returns a register that holds nothing, or a lock that is free.
func NewObject(lock bool) *Object {
	return &Object{Lock: lock, values: []string{""}, number: map[string]int32{"": 0}}
}

// Begin says what a register holds at first. It comes before all else.
func (o *Object) Begin(value string) {
	o.values, o.number = []string{value}, map[string]int32{value: 0}
}

// Number returns the number that a value goes by in operations. What a register holds at first is 0: the empty value,
// which is nothing, unless Begin has said otherwise.
func (o *Object) Number(value string) int32 {
	n, known := o.number[value]
	if !known {
		n = int32(len(o.values))
		o.number[value] = n
		o.values = append(o.values, value)
	}
	return n
}

// Add adds an operation, called no sooner than those before it.
func (o *Object) Add(u Op) {
	o.counted = o.counted || u.Revision != 0
	o.Ops = append(o.Ops, u)
}

// step is what a use does to what is held, and whether it can be; if not, it changes nothing. Writes raise the revision,
// but nobody knows by how much: a store counts those of all of its registers.
func (o *Object) step(h State, u *Op) (State, bool) {
	switch u.Kind {
	case accept:
		return State{Value: u.Value, Revision: u.Revision}, u.Revision >= h.Revision
	case reject:
		return h, u.Revision < h.Revision
	case look:
		return h, h.Value == u.Value && h.Revision == u.Revision
	case Get:
		switch {
		case h.Value != u.Value:
			return h, false
		case u.Revision == 0:
			return h, true
		case u.Revision < h.Revision, u.Revision > h.Revision && !h.Loose:
			return h, false
		}
		return State{h.Value, u.Revision, false}, true
	case Take:
		return State{Value: u.leaves()}, h.Value == 0
	case Give:
		return State{}, h.Value == u.owner()
	case CAS:
		if h.Value != u.Old {
			return h, false
		}
	}
	switch {
	case !o.counted:
		return State{Value: u.Value}, true
	case u.Revision == 0:
		return State{u.Value, h.Revision + 1, true}, true
	case u.Revision <= h.Revision:
		return h, false
	}
	return State{u.Value, u.Revision, false}, true
}

// Settled returns the uses, in the order of their calls, of which those of unknown outcome are settled as far as can be: one that surely
// happened is so, and one that decides nothing is left out.
func (o *Object) Settled() []Op { return o.prune(slices.Clone(o.Ops)) }

// prune settles the uses of unknown outcome as far as can be: one that wrote what only it can have written happened if
// that was seen, before who saw it was done; one that wrote what nobody saw, or can have taken, once it had begun decides
// nothing. Both are exact for registers. (A lock has but two values: its uses are left alone.)
func (o *Object) prune(uses []Op) []Op {
	if o.Lock {
		return uses
	}
	writers := make([]int, len(o.values)) // of each value
	writers[0]++                          // what was there at first, nobody wrote
	for i := range uses {
		if u := &uses[i]; u.Brings() {
			writers[u.Value]++
		}
	}
	for again := true; again; {
		again = false
		seen := make([]time.Duration, len(o.values))   // when the first use ended that surely found it there
		wanted := make([]time.Duration, len(o.values)) // until then by somebody, perhaps
		for i := range seen {
			seen[i], wanted[i] = Never, -1
		}
		for i := range uses {
			if found := uses[i].found(); found >= 0 {
				wanted[found] = max(wanted[found], uses[i].Return)
				seen[found] = min(seen[found], uses[i].Return)
			}
		}
		uses = slices.DeleteFunc(uses, func(u Op) bool {
			idle := !u.Sure() && wanted[u.Value] < u.Call
			if idle && u.Brings() {
				writers[u.Value]--
			}
			again = again || idle
			return idle
		})
		for i := range uses {
			if u := &uses[i]; !u.Sure() && u.Brings() && writers[u.Value] == 1 && seen[u.Value] < Never {
				u.Return = max(u.Call, seen[u.Value])
				again = true
			}
		}
	}
	return uses
}

// model is the object for porcupine, when it holds something to begin with.
func (o *Object) model(begin State) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begin },
		Step: func(state, input, _ any) (bool, any) {
			u := input.(*Op)
			next, ok := o.step(state.(State), u)
			if !ok {
				return !u.Sure(), state
			}
			return true, next
		},
		DescribeOperation: func(input, _ any) string { return o.Tell(input.(*Op)) },
		DescribeState:     func(state any) string { return o.Show(state.(State).Value) },
	}
}

// operations makes uses porcupine's.
func operations(uses []Op) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(uses))
	for i := range uses {
		u := &uses[i]
		ops[i] = porcupine.Operation{ClientId: int(u.Client), Input: u, Call: int64(u.Call), Return: int64(u.Return)}
	}
	return ops
}

// Draw returns porcupine's picture of operations on the object; nil if it cannot be drawn.
func (o *Object) Draw(ctx context.Context, uses []Op) []byte {
	return Draw(ctx, o.model(State{}), operations(uses))
}

// DrawEvidence is Draw of evidence, with a note where the last order died.
func (o *Object) DrawEvidence(ctx context.Context, e Evidence, note string) []byte {
	var notes []porcupine.Annotation
	if e.Died != nil {
		notes = append(notes, ending(e.Died.Return, note))
	}
	return Draw(ctx, o.model(State{}), operations(e.Ops), notes...)
}

// Show writes a value.
func (o *Object) Show(value int32) string {
	switch {
	case o.Lock && value == 0:
		return "free"
	case o.Lock && int(value) < len(o.values):
		return "taken by " + o.values[value]
	case o.Lock:
		return "taken"
	case o.values[value] == "":
		return "nothing"
	}
	return o.values[value]
}

// Tell writes what a use did: "read 3", "wrote 4 (revision 9)".
func (o *Object) Tell(u *Op) string {
	s := map[Kind]string{Get: "read ", Put: "wrote ", CAS: "set ", Take: "took the lock", Give: "released the lock"}[u.Kind]
	switch u.Kind {
	case Get, Put:
		s += o.Show(u.Value)
	case CAS:
		s += o.Show(u.Old) + " to " + o.Show(u.Value)
	}
	if u.Revision != 0 {
		s += fmt.Sprintf(" (revision %d)", u.Revision)
	}
	if !u.Sure() {
		s += " (outcome unknown)"
	}
	return s
}
