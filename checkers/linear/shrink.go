package linear

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"recount/history"
)

// ShrinkFence returns a smallest set of the accesses that is still illegal, from their earliest violation: taking anything
// more away from it leaves nothing to object to. What cannot be decided in time is kept.
//
// Accesses are only ever taken away in a manner that leaves the legal legal, so what it returns convicts the whole.
func ShrinkFence(ctx context.Context, all []Access) []Access {
	convicts := func(part []Access) bool {
		return len(part) > 0 && ctx.Err() == nil && DecideFence(ctx, part).Answer == illegal
	}
	// The fewer of the last accesses are taken away, the more is illegal.
	n := sort.Search(len(all), func(n int) bool { return convicts(without(all, n, len(all))) })
	if n < len(all) {
		all = without(all, n, len(all))
	}
	for size := max(len(all)/2, 1); ; size /= 2 {
		for begin := 0; begin < len(all); {
			if less := without(all, begin, min(begin+size, len(all))); convicts(less) {
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
func without(all []Access, from, to int) []Access {
	written := map[history.Access]bool{}
	var gone []mark
	for i := from; i < to; i++ {
		if a := &all[i]; a.Kind == Accepted || a.Kind == Maybe {
			written[a.Access] = true
			gone = append(gone, mark{a.Token, a.Call})
		}
	}
	slices.SortFunc(gone, func(a, b mark) int { return cmp.Compare(a.token, b.token) })
	for i := len(gone) - 2; i >= 0; i-- {
		gone[i].at = min(gone[i].at, gone[i+1].at)
	}
	rest := make([]Access, 0, len(all)-(to-from))
	for i := range all {
		a := &all[i]
		if i >= from && i < to || a.Kind == Read && written[a.Access] {
			continue
		}
		if a.Kind == Rejected {
			k := sort.Search(len(gone), func(k int) bool { return gone[k].token > a.Token })
			if k < len(gone) && gone[k].at <= a.Return {
				continue
			}
		}
		rest = append(rest, *a)
	}
	return rest
}
