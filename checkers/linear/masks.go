package linear

import "math/bits"

// mask is a set of slots: places of operations under way, as many as the array has bits.
type mask interface {
	~[1]uint64 | ~[4]uint64 | ~[64]uint64
}

// mostAtOnce is how many operations of known outcome may be under way at once.
const mostAtOnce = 64 * 64

func set[M mask](m *M, i int32)      { (*m)[i/64] |= 1 << (i % 64) }
func unset[M mask](m *M, i int32)    { (*m)[i/64] &^= 1 << (i % 64) }
func has[M mask](m *M, i int32) bool { return (*m)[i/64]>>(i%64)&1 != 0 }

// each calls do with the slots that are in one set and not in another, from a slot on, until it returns false.
func each[M mask](in, out *M, from int32, do func(slot int32) bool) {
	for k := int(from / 64); k < len(*in); k++ {
		w := (*in)[k] &^ (*out)[k]
		if k == int(from/64) {
			w &= ^uint64(0) << (from % 64)
		}
		for ; w != 0; w &= w - 1 {
			if !do(int32(k*64 + bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}
