package linear

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A fenced resource goes through levels, one for each token that it accepted, from the lowest to the highest. So
//
//   - no access of a higher level may have returned before one of a lower level was begun;
//   - what happens within a level is a register of its own;
//   - a rejection comes after the first write of a higher level, and before whatever was begun after it had returned.
//
// An order of all exists if and only if this holds: orders of the levels, one behind the other, contradict no time that is
// not looked at here, and rejections change nothing, so each goes in just before what was begun after it.

// DecideFence decides whether accesses, in the order of their calls, have an order that a fenced register allows. It is
// exact. Without tokens (all of them 0) it decides on a plain register that holds 0 at first.
//
// It takes O(n log n) where it can be told which write each read shows. Other levels are searched.
func DecideFence(ctx context.Context, all []Access) Found {
	found, parts := byLevels(all)
	if len(parts) == 0 {
		return found
	}
	return allOf(ctx, parts)
}

// byLevels decides as far as levels tell. It is legal if these parts are besides.
func byLevels(all []Access) (found Found, parts [][]Access) {
	all = prune(slices.Clone(all))
	l := newLevels(all)
	switch {
	case !l.legal, len(l.vague) == 0 && !l.explains(l.rejected):
		return Found{Answer: illegal, died: -1}, nil
	case len(l.vague) == 0:
		return ordered(0), nil
	}
	if len(l.rejected) > 0 && (l.doubtful || !l.explains(l.rejected)) {
		return ordered(0), pieces(all, pieceSize) // how a vague level begins bears on the others
	}
	return ordered(0), l.vague
}

// levels are what accesses come to, level by level.
type levels struct {
	legal    bool       // as far as it could be told without the rejections
	rejected []Access   // what the levels have to explain
	starts   []mark     // from when on lower tokens may have been rejected, as each level can have begun; in the order of tokens
	vague    [][]Access // levels of which it cannot be told which write a read shows, in pieces
	doubtful bool       // some of these writes are of unknown outcome
}

// mark is a token and a time that goes with it.
type mark struct {
	token uint64
	at    time.Duration
}

func newLevels(all []Access) *levels {
	l := &levels{legal: true}
	uses := make([]Access, 0, len(all))
	for i := range all {
		if all[i].Kind == Rejected {
			l.rejected = append(l.rejected, all[i])
		} else {
			uses = append(uses, all[i])
		}
	}
	slices.SortStableFunc(uses, func(a, b Access) int {
		return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Value, b.Value))
	})
	var each []level
	for len(uses) > 0 {
		n := 1
		for n < len(uses) && uses[n].Token == uses[0].Token {
			n++
		}
		each = append(each, newLevel(uses[:n]))
		uses = uses[n:]
	}
	latest := time.Duration(-1) // call of a lower level
	for i := range each {
		v := &each[i]
		v.lower = latest
		l.legal = l.legal && v.legal && v.finish >= latest
		latest = max(latest, v.start)
	}
	earliest := Never // return on a higher level
	for i := len(each) - 1; i >= 0; i-- {
		v := &each[i]
		v.higher = earliest
		earliest = min(earliest, v.finish)
	}
	for i := range each {
		l.add(&each[i])
	}
	return l
}

// add takes note of how a level can have begun, and of what remains to be decided of it.
func (l *levels) add(v *level) {
	if v.vague {
		part := slices.DeleteFunc(v.all, func(a Access) bool {
			return a.Kind == Maybe && (!v.read(a.Value) || a.Call > v.higher)
		})
		slices.SortStableFunc(part, func(a, b Access) int { return cmp.Compare(a.Call, b.Call) })
		l.doubtful = l.doubtful || slices.ContainsFunc(part, func(a Access) bool { return a.Kind == Maybe })
		l.vague = append(l.vague, pieces(part, pieceSize)...)
		return
	}
	l.starts = append(l.starts, mark{v.token, max(v.lower, opening(v.clusters))})
}

// explains reports whether each rejection came after a higher level can have begun. A write of unknown outcome may have
// begun one, unless what is certain had the level, or a higher one, begin before it; but then that explains the rejection. Nor
// do rejections bear on each other: a write that one of them needs explains all others that it could be in the way of.
func (l *levels) explains(all []Access) bool {
	slices.SortFunc(all, func(a, b Access) int { return cmp.Compare(b.Token, a.Token) })
	k, earliest := len(l.starts), Never
	for i := range all {
		for k > 0 && l.starts[k-1].token > all[i].Token {
			k--
			earliest = min(earliest, l.starts[k].at)
		}
		if earliest > all[i].Return {
			return false
		}
	}
	return true
}

// level is what happened under one token.
type level struct {
	token         uint64
	all           []Access
	legal         bool          // it is a register, as far as it could be told
	vague         bool          // it cannot be told which write a read shows
	clusters      []cluster     // unless it is vague; a write of unknown outcome that nobody read is one that never ends
	reads         []int64       // the values read, in order
	finish, start time.Duration // the earliest return and the latest call of what certainly happened
	lower, higher time.Duration // the latest call on a lower level, the earliest return on a higher one
}

// newLevel reads accesses of one token, in the order of their values.
func newLevel(all []Access) level {
	v := level{token: all[0].Token, all: all, legal: true, finish: Never, start: -1}
	v.clusters = make([]cluster, 0, len(all))
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Value == all[0].Value {
			n++
		}
		v.value(all[:n])
		all = all[n:]
	}
	if v.legal && !v.vague {
		a, _ := torn(v.clusters)
		v.legal = a == nil
	}
	return v
}

// read reports whether some op read a value.
func (v *level) read(value int64) bool {
	_, ok := slices.BinarySearch(v.reads, value)
	return ok
}

// value takes note of the accesses of one value.
func (v *level) value(all []Access) {
	c := cluster{value: all[0].Value, finish: Never, start: -1}
	writes, reads := 0, 0
	returned := Never // the first read
	if v.token == 0 && all[0].Value == 0 {
		writes, c.write, c.finish = 1, -1, -1 // the resource begins with it
	}
	for i := range all {
		a := &all[i]
		switch a.Kind {
		case Read:
			reads++
			returned = min(returned, a.Return)
		case Maybe:
			writes++
			continue
		default:
			writes++
			c.write = a.Call
		}
		c.finish, c.start = min(c.finish, a.Return), max(c.start, a.Call)
		v.finish, v.start = min(v.finish, a.Return), max(v.start, a.Call)
	}
	switch {
	case reads == 0:
		for i := range all {
			v.clusters = append(v.clusters, cluster{all[i].Value, all[i].Call, all[i].Return, all[i].Call})
		}
		return
	case writes == 0 || writes == 1 && returned < c.write:
		v.legal = false
	case writes > 1:
		v.vague = true
	}
	v.reads = append(v.reads, all[0].Value)
	v.clusters = append(v.clusters, c)
}
