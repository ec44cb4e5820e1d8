package linear

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Txn is a transaction: uses of several registers that happen at once.
type Txn struct {
	Call, Return time.Duration // it took effect between them; one of unknown outcome never returns
	Uses         []Use         // in the order in which it made them
	Client       int32         // who acts: a line of a picture
	Begin        int32         // where in the history its invoke is
	End          int32         // and its end; -1 if it has none
}

// Use is what a transaction does with one register.
type Use struct {
	Write      bool // or else read
	Key, Value int32
}

// Sure reports whether t happened.
func (t *Txn) Sure() bool { return t.Return < Never }

// Txns are registers that transactions use. They are in order if the transactions are strictly serializable: each of them
// is one operation on all registers together.
type Txns struct {
	Ops []Txn

	keys, values []string
	keyed        map[string]int32
	number       map[string]int32
	first        []int32 // the value that each register holds at first
}

// NewTxns returns registers that nobody has used.
func NewTxns() *Txns { return &Txns{keyed: map[string]int32{}, number: map[string]int32{}} }

// Key returns the number of a register, which holds a value at first.
func (t *Txns) Key(key, first string) int32 {
	n, known := t.keyed[key]
	if !known {
		n = int32(len(t.keys))
		t.keyed[key] = n
		t.keys, t.first = append(t.keys, key), append(t.first, t.Number(first))
	}
	return n
}

// Number returns the number that a value goes by.
func (t *Txns) Number(value string) int32 {
	n, known := t.number[value]
	if !known {
		n = int32(len(t.values))
		t.number[value] = n
		t.values = append(t.values, value)
	}
	return n
}

// Decide looks for an order of all transactions. Where there is none, core are the fewest that show it.
func (t *Txns) Decide(ctx context.Context) (found Found, core []Txn) {
	all := t.prune(t.Ops)
	found = ordered(0)
	for _, part := range t.parts(all) {
		switch answer, why := Ask(ctx, t.model(), t.operations(part)); {
		case answer == illegal:
			return Found{Answer: illegal, died: -1}, t.least(ctx, part)
		case answer == unknown && found.Answer == legal:
			found = undecided(0, why)
			found.Remedy = t.remedy(ctx, part)
		}
	}
	return found, nil
}

// remedy says what would help to decide transactions, in order of their calls.
func (t *Txns) remedy(ctx context.Context, part []Txn) string {
	if leastCost(len(part)) > memoryOf(ctx).bytes { // however few of them overlap
		return more(ctx)
	}
	maybe := 0
	var calls, returns []time.Duration // of those that certainly happened
	for i := range part {
		if x := &part[i]; x.Sure() {
			calls, returns = append(calls, x.Call), append(returns, x.Return)
		} else {
			maybe++
		}
	}
	return remedy(ctx, maybe, AtOnce(calls, returns))
}

// prune leaves out what nobody can have seen: transactions of unknown outcome none of whose writes was ever found.
func (t *Txns) prune(all []Txn) []Txn {
	found := map[Use]bool{}
	for i := range all {
		for _, u := range all[i].Uses {
			if !u.Write {
				found[Use{true, u.Key, u.Value}] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(x Txn) bool {
		return !x.Sure() && !slices.ContainsFunc(x.Uses, func(u Use) bool { return found[u] })
	})
}

// parts are the transactions that have to do with each other: over registers that some transaction uses together.
func (t *Txns) parts(all []Txn) [][]Txn {
	group := make([]int32, len(t.keys))
	for i := range group {
		group[i] = int32(i)
	}
	var find func(k int32) int32
	find = func(k int32) int32 {
		if group[k] != k {
			group[k] = find(group[k])
		}
		return group[k]
	}
	for i := range all {
		for _, u := range all[i].Uses {
			group[find(u.Key)] = find(all[i].Uses[0].Key)
		}
	}
	place := map[int32]int{}
	var parts [][]Txn
	for _, x := range all {
		if len(x.Uses) == 0 {
			continue
		}
		g := find(x.Uses[0].Key)
		at, known := place[g]
		if !known {
			at = len(parts)
			place[g] = at
			parts = append(parts, nil)
		}
		parts[at] = append(parts[at], x)
	}
	return parts
}

// model is all registers together. Its state is what they hold, four bytes each.
func (t *Txns) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any {
			var b []byte
			for _, v := range t.first {
				b = binary.LittleEndian.AppendUint32(b, uint32(v))
			}
			return string(b)
		},
		Step: func(state, input, _ any) (bool, any) {
			x := input.(*Txn)
			held := []byte(state.(string))
			for _, u := range x.Uses {
				at := held[4*u.Key:]
				switch {
				case u.Write:
					binary.LittleEndian.PutUint32(at, uint32(u.Value))
				case binary.LittleEndian.Uint32(at) != uint32(u.Value):
					return !x.Sure(), state // one of unknown outcome may have done nothing: a compare-and-set that did not find it
				}
			}
			return true, string(held)
		},
		DescribeOperation: func(input, _ any) string { return t.Tell(input.(*Txn)) },
	}
}

func (t *Txns) operations(all []Txn) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(all))
	for i := range all {
		x := &all[i]
		ops[i] = porcupine.Operation{ClientId: int(x.Client), Input: x, Call: int64(x.Call), Return: int64(x.Return)}
	}
	return ops
}

// Draw returns porcupine's picture of transactions; nil if it cannot be drawn.
func (t *Txns) Draw(ctx context.Context, all []Txn) []byte {
	return Draw(ctx, t.model(), t.operations(all))
}

// least takes transactions away as long as the others have no order even so. With each of them go all that found what it
// wrote, so that what is left of the legal is legal.
func (t *Txns) least(ctx context.Context, all []Txn) []Txn {
	for size := max(len(all)/2, 1); ; size /= 2 {
		for begin := 0; begin < len(all); {
			less := withoutTxns(all, begin, min(begin+size, len(all)))
			if answer, _ := ask(ctx, t.model(), t.operations(less), small); len(less) > 0 && answer == illegal {
				all = less
			} else {
				begin += size
			}
		}
		if size == 1 {
			return all
		}
	}
}

func withoutTxns(all []Txn, from, to int) []Txn {
	gone := map[Use]bool{}
	leave := func(x *Txn) {
		for _, u := range x.Uses {
			if u.Write {
				gone[Use{false, u.Key, u.Value}] = true
			}
		}
	}
	for i := from; i < to; i++ {
		leave(&all[i])
	}
	less := slices.Concat(all[:from], all[to:])
	for again := true; again; {
		again = false
		less = slices.DeleteFunc(less, func(x Txn) bool {
			sees := slices.ContainsFunc(x.Uses, func(u Use) bool { return gone[u] })
			if sees {
				leave(&x)
				again = true
			}
			return sees
		})
	}
	return less
}

// Tell writes what a transaction did: "read x 3, wrote y 4".
func (t *Txns) Tell(x *Txn) string {
	var parts []string
	for _, u := range x.Uses {
		did, value := "read", t.values[u.Value]
		if u.Write {
			did = "wrote"
		}
		if value == "" {
			value = "nothing"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", did, t.keys[u.Key], value))
	}
	s := strings.Join(parts, ", ")
	if !x.Sure() {
		s += " (outcome unknown)"
	}
	return s
}
