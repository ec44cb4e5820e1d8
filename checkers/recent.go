package checkers

import (
	"maps"
	"slices"
	"unsafe"
)

// recent is what was told under numbers that mostly rise: terms, tokens. Of a history that can be read once more the low ones
// are forgotten when there are many. What is told under one of those after that is late: it is left to a second pass.
type recent[V any] struct {
	*facts
	known  map[uint64]*V
	forgot bool
	floor  uint64         // whatever was told under a number up to it may have been forgotten
	late   map[uint64]int // the op with which each number was late first
	count  int            // numbers under which something was told, but for those that are late
}

// mostRecent is how many numbers are kept of a history that can be read once more. Tests make it few.
var mostRecent = 1 << 14

func newRecent[V any](f *facts) recent[V] {
	return recent[V]{facts: f, known: map[uint64]*V{}, late: map[uint64]int{}}
}

// of returns what was told under a number, zero at first; nil if the latest op, which tells something, is late.
func (r *recent[V]) of(n uint64) *V {
	if v := r.known[n]; v != nil {
		return v
	}
	if r.again != nil && len(r.known) >= mostRecent {
		all := slices.Sorted(maps.Keys(r.known))
		r.forgot, r.floor = true, max(r.floor, all[len(all)/2])
		kept := make(map[uint64]*V, mostRecent) // a map from which is deleted what comes later grows all the same
		for n, v := range r.known {
			if n > r.floor {
				kept[n] = v
			}
		}
		r.known = kept
	}
	if r.forgot && n <= r.floor {
		if _, known := r.late[n]; !known {
			r.late[n] = r.newest()
		}
		return nil
	}
	r.count++
	v := new(V)
	r.known[n] = v
	return v
}

// replay is the second pass over what was told under numbers that were late.
type replay[V any] struct {
	of   *recent[V]
	told map[uint64]*V
}

func (r *recent[V]) replay() replay[V] { return replay[V]{r, map[uint64]*V{}} }

// at returns what was told before an op under a number, and whether that op was late; nil if the number never was. Of what was
// not late everything is known but what is returned here.
func (r *replay[V]) at(n uint64, op int) (v *V, late bool) {
	since, ever := r.of.late[n]
	if !ever {
		return nil, false
	}
	late = op >= since
	if v = r.told[n]; v == nil {
		v = new(V)
		if r.told[n] = v; late {
			r.of.count++
		}
	}
	return v, late
}

// size is about how many bytes that takes, with so many for what is in each.
func (r *recent[V]) size(each int) int {
	return len(r.known)*(int(unsafe.Sizeof(*new(V)))+each+32) + len(r.late)*32
}
