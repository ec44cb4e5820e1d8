package checkers

import (
	"math/bits"

	"recount/history"
)

// maxNodes is how many nodes a set can hold: as many as an election may have.
const maxNodes = history.MaxNodes

// set is a set of nodes by their number. It is a value: comparing and copying it allocates nothing. The words are fields
// and not an array, which the compiler would not keep in registers.
type set struct{ a, b, c, d uint64 }

var _ = [1]struct{}{}[4*64-maxNodes] // there are as many bits as nodes

// word is the one that has a number's bit.
func (s *set) word(i int) *uint64 {
	switch uint(i) / 64 {
	case 0:
		return &s.a
	case 1:
		return &s.b
	case 2:
		return &s.c
	}
	return &s.d
}

func (s *set) add(i int)    { *s.word(i) |= 1 << (uint(i) % 64) }
func (s *set) remove(i int) { *s.word(i) &^= 1 << (uint(i) % 64) }

func (s set) has(i int) bool {
	w := s.a
	switch uint(i) / 64 {
	case 0:
	case 1:
		w = s.b
	case 2:
		w = s.c
	default:
		w = s.d
	}
	return w>>(uint(i)%64)&1 != 0
}

func (s set) count() int {
	return bits.OnesCount64(s.a) + bits.OnesCount64(s.b) + bits.OnesCount64(s.c) + bits.OnesCount64(s.d)
}

func (s set) and(o set) set   { return set{s.a & o.a, s.b & o.b, s.c & o.c, s.d & o.d} }
func (s set) minus(o set) set { return set{s.a &^ o.a, s.b &^ o.b, s.c &^ o.c, s.d &^ o.d} }
func (s set) or(o set) set    { return set{s.a | o.a, s.b | o.b, s.c | o.c, s.d | o.d} }

// each calls f with every member, in order.
func (s set) each(f func(i int)) {
	for k, w := range [...]uint64{s.a, s.b, s.c, s.d} {
		for ; w != 0; w &= w - 1 {
			f(k*64 + bits.TrailingZeros64(w))
		}
	}
}

// first is the set of the numbers below n.
func first(n int) (s set) {
	for i := range n {
		s.add(i)
	}
	return s
}
