package linear

import (
	"cmp"
	"slices"
	"time"
)

// A register whose writes can be told apart is decided by zones (Gibbons and Korach, "Testing shared memories", SIAM
// J. Comput. 26, 1997): O(n log n), however many clients overlap.

// cluster is the time of one value in a register: its write and the reads that show it.
type cluster struct {
	value  int64
	write  time.Duration // when the write was begun
	finish time.Duration // the earliest that an access of it had returned
	start  time.Duration // the latest that one was begun
}

// before reports whether c must come before o: one of c's accesses had returned when one of o's was begun.
func (c *cluster) before(o *cluster) bool { return c.finish < o.start }

// torn returns two clusters of which each must come before the other, nil if there are none. If no two are
// like that there is an order of all: in a longer circle, that of the earliest finish and the one that must come before
// it are such a pair.
//
// Of two like that one at least has a zone in which it surely was the register's value: from its finish to its start.
// Zones must not overlap, and no cluster without a zone may lie within one.
func torn(all []cluster) (a, b *cluster) {
	slices.SortFunc(all, func(a, b cluster) int { return cmp.Compare(a.finish, b.finish) })
	var zones []*cluster
	for i := range all {
		c := &all[i]
		if c.finish >= c.start {
			continue
		}
		if n := len(zones); n > 0 && c.before(zones[n-1]) {
			return zones[n-1], c
		}
		zones = append(zones, c)
	}
	for i := range all {
		c := &all[i]
		if c.finish < c.start {
			continue
		}
		// The last zone that begins before c does is the one that reaches furthest.
		k, _ := slices.BinarySearchFunc(zones, c.start, func(z *cluster, t time.Duration) int { return cmp.Compare(z.finish, t) })
		if k > 0 && c.before(zones[k-1]) {
			return zones[k-1], c
		}
	}
	return nil, nil
}

// opening returns when the first write in an order of clusters was begun, at the earliest, which are in the order of their
// finish: first may come one that none must come before.
func opening(all []cluster) time.Duration {
	earliest := Never
	for i := range all {
		other := 0 // the earliest finish of another
		if i == 0 {
			other = 1
		}
		if other == len(all) || all[other].finish >= all[i].start {
			earliest = min(earliest, all[i].write)
		}
	}
	return earliest
}
