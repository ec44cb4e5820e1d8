package linear

import (
	"cmp"
	"slices"
	"time"
)

// timeline is what a search goes along: the returns of operations, and what has been called by each of them. An operation
// under way has a slot until it returns. Operations of unknown outcome never do: those that do the same are one kind, of
// which so many may be had.
type timeline struct {
	o       *Object
	uses    []Op // in order of their calls
	begin   State
	returns []int32 // operations of known outcome, in the order in which they returned
	called  []int32 // by each return, how many of uses had been called
	slot    []int32 // of each operation; of one of unknown outcome, its kind
	twin    []int32 // of each, the one that does the same and returned last before it; -1 if there is none
	kinds   []int32 // an operation of each kind
	slots   int     // how many there are
}

func newTimeline(o *Object, uses []Op, begin State) *timeline {
	t := &timeline{
		o: o, uses: uses, begin: begin,
		slot: make([]int32, len(uses)), twin: make([]int32, len(uses)), returns: make([]int32, 0, len(uses)),
	}
	for i := range uses {
		if uses[i].Sure() {
			t.returns = append(t.returns, int32(i))
		}
	}
	slices.SortStableFunc(t.returns, func(a, b int32) int { return cmp.Compare(uses[a].Return, uses[b].Return) })
	t.called = make([]int32, len(t.returns))
	kindOf, last := map[Op]int32{}, map[Op]int32{}
	var free []int32
	next := int32(0)
	for k, i := range t.returns {
		for ; int(next) < len(uses) && uses[next].Call <= uses[i].Return; next++ {
			u := &uses[next]
			if !u.Sure() {
				kind, known := kindOf[u.like()]
				if !known {
					kind = int32(len(t.kinds))
					kindOf[u.like()] = kind
					t.kinds = append(t.kinds, next)
				}
				t.slot[next] = kind
				continue
			}
			if n := len(free); n > 0 {
				t.slot[next], free = free[n-1], free[:n-1]
			} else {
				t.slot[next] = int32(t.slots)
				t.slots++
			}
		}
		t.called[k] = next
		free = append(free, t.slot[i])
		t.twin[i] = -1
		if before, known := last[uses[i].like()]; known {
			t.twin[i] = before
		}
		last[uses[i].like()] = i
	}
	return t
}

// spare reports whether there is no need to try an operation that is under way, because one that does the same and must do so
// sooner has not taken effect yet either.
func spare[M mask](t *timeline, i int32, slotted []int32, busy, done *M) bool {
	before := t.twin[i]
	if before < 0 {
		return false
	}
	slot := t.slot[before]
	return slotted[slot] == before && has(busy, slot) && !has(done, slot)
}

// AtOnce is how many operations were under way at once at most, told when they were called, in order, and when each of them
// returned. It changes the order of the returns.
func AtOnce(calls, returns []time.Duration) (most int) {
	slices.Sort(returns)
	over := 0 // how many had returned before the one that is called
	for i, call := range calls {
		for over < len(returns) && returns[over] < call {
			over++
		}
		most = max(most, i+1-over)
	}
	return most
}
