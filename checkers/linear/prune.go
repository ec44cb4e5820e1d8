package linear

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"recount/history"
)

// Most of what happens to a fenced resource cannot decide whether the whole is legal, and the rest falls into pieces
// that can be decided one by one. Both steps are exact: the history is legal if and only if all pieces are.

// prune settles what is known after all and leaves out what decides nothing. It may change the accesses it is given.
func prune(all []Access) []Access {
	settleRead(all)
	all = dropExplained(all)
	return dropUnused(all)
}

// settleRead makes a write of unknown outcome an accepted one if it was read and no other write can be what was read.
// It took effect before the first of its readers returned.
func settleRead(all []Access) {
	type writes struct{ only, count int }
	by := map[history.Access]writes{}
	for i := range all {
		if all[i].Kind == Maybe {
			by[all[i].Access] = writes{only: i}
		}
	}
	if len(by) == 0 {
		return
	}
	by[history.Access{}] = writes{count: 2} // what the resource begins with was written by nobody
	for i := range all {
		a := &all[i]
		if w, ok := by[a.Access]; ok && (a.Kind == Maybe || a.Kind == Accepted) {
			w.count++
			by[a.Access] = w
		}
	}
	for i := range all {
		if w := by[all[i].Access]; all[i].Kind == Read && w.count == 1 {
			a := &all[w.only]
			a.Kind, a.Return = Accepted, min(a.Return, max(a.Call, all[i].Return))
		}
	}
}

// dropExplained leaves out rejections that can always be placed: a write or a read with a higher token had returned
// when the rejection did, so whatever the order is, there is room for the rejection behind it.
func dropExplained(all []Access) []Access {
	if !slices.ContainsFunc(all, func(a Access) bool { return a.Kind == Rejected }) {
		return all
	}
	type reach struct {
		at    time.Duration
		token uint64 // the highest that had certainly been accepted by then
	}
	var reached []reach
	for i := range all {
		if a := &all[i]; a.Kind == Accepted || a.Kind == Read {
			reached = append(reached, reach{a.Return, a.Token})
		}
	}
	slices.SortFunc(reached, func(a, b reach) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(reached); i++ {
		reached[i].token = max(reached[i].token, reached[i-1].token)
	}
	return slices.DeleteFunc(all, func(a Access) bool {
		k := sort.Search(len(reached), func(k int) bool { return reached[k].at > a.Return })
		return a.Kind == Rejected && k > 0 && reached[k-1].token > a.Token
	})
}

// dropUnused leaves out writes of unknown outcome that nothing needs. One that nobody read can only explain
// rejections of lower tokens that had not returned when it was begun: later than the last of them, or where there are
// none, it may as well take effect at the very end.
func dropUnused(all []Access) []Access {
	var open []mark // what is to be explained: below which token, and until when
	reads, doubtful := map[history.Access]bool{}, false
	for i := range all {
		switch all[i].Kind {
		case Rejected:
			open = append(open, mark{all[i].Token, all[i].Return})
		case Read:
			reads[all[i].Access] = true
		case Maybe:
			doubtful = true
		}
	}
	if !doubtful {
		return all
	}
	slices.SortFunc(open, func(a, b mark) int { return cmp.Compare(a.token, b.token) })
	for i := 1; i < len(open); i++ {
		open[i].at = max(open[i].at, open[i-1].at)
	}
	kept := all[:0]
	for _, a := range all {
		if a.Kind == Maybe {
			if a.use = -1; reads[a.Access] {
				a.use = Never
			}
			k := sort.Search(len(open), func(k int) bool { return open[k].token >= a.Token })
			if k > 0 && open[k-1].at >= a.Call {
				a.use = max(a.use, open[k-1].at)
			}
			if a.use < 0 {
				continue
			}
		}
		kept = append(kept, a)
	}
	return kept
}

// pieceSize is how many accesses a piece should have at least: asking porcupine costs as much as deciding on that many.
const pieceSize = 32

// pieces cuts accesses where their order is certain: at an accepted write that overlaps no other access. Whatever
// came before, the resource then holds that write, so it ends one piece and begins the next. Pieces have at least the
// given size, but for the last.
func pieces(all []Access, size int) [][]Access {
	var cut [][]Access
	begin, busy := 0, time.Duration(-1) // busy: until then some access was under way
	for i := range all {
		a := &all[i]
		if a.Kind == Accepted && busy < a.Call && i+1-begin >= size && i+1 < len(all) && a.Return < all[i+1].Call {
			cut = append(cut, all[begin:i+1])
			begin = i
		}
		until := a.Return
		if a.Kind == Maybe {
			until = a.use
		}
		busy = max(busy, until)
	}
	return append(cut, all[begin:])
}
