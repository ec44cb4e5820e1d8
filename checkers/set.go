package checkers

import (
	"math/bits"

	"recount/history"
)

// maxNodes is how many nodes a set can hold: as many as an election may have.
const maxNodes = history.MaxNodes

// set is a set of nodes by their number. It is a value: comparing and copying it allocates nothing.
type set [maxNodes / 64]uint64

func (s *set) add(i int)     { s[i/64] |= 1 << (i % 64) }
func (s *set) remove(i int)  { s[i/64] &^= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

func (s set) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s set) and(o set) set {
	for i := range s {
		s[i] &= o[i]
	}
	return s
}

func (s set) minus(o set) set {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

func (s set) or(o set) set {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

// each calls f with every member, in order.
func (s set) each(f func(i int)) {
	for k, w := range s {
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
