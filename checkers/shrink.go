package checkers

import (
	"context"
	"slices"
	"sort"

	"github.com/anishathalye/porcupine"
)

// shrink returns a smallest set of the accesses that is still illegal, from their earliest violation: taking anything
// more away from it leaves nothing to object to. porcupine is the judge; what it cannot decide in time is kept.
//
// Accesses are only ever taken away in a manner that leaves the legal legal, so what shrink returns convicts the whole.
func shrink(ctx context.Context, all []access) []access {
	illegal := func(part []access) bool {
		if len(part) == 0 {
			return false
		}
		answer, _ := ask(ctx, fenceModel, asOperations(part))
		return answer == porcupine.Illegal
	}
	// The fewer of the last accesses are taken away, the more is illegal.
	n := sort.Search(len(all), func(n int) bool { return illegal(without(all, n, len(all))) })
	if n < len(all) {
		all = without(all, n, len(all))
	}
	for size := max(len(all)/2, 1); ; size /= 2 {
		for begin := 0; begin < len(all); {
			if less := without(all, begin, min(begin+size, len(all))); illegal(less) {
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

// without takes away all[from:to], and with it whatever may owe its legality to a write among them: its reads, and the
// rejections that it can explain. If all is legal the rest is: in the same order, without what nothing depends on.
func without(all []access, from, to int) []access {
	gone := all[from:to]
	return slices.DeleteFunc(slices.Concat(all[:from], all[to:]), func(a access) bool {
		return slices.ContainsFunc(gone, func(w access) bool {
			if w.kind != accepted && w.kind != maybe {
				return false
			}
			return a.kind == read && a.Access == w.Access || a.kind == rejected && a.Token < w.Token && a.ret >= w.call
		})
	})
}
