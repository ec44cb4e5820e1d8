package checkers

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers/linear"
)

// fits tries to give each silent write a number of its own: one that none of the others has, and that no other with a lower one, or a
// higher, surely comes after, or before.
func fits(writes []write, silent []silentWrite, taken map[uint64]bool) bool {
	if len(silent) == 0 {
		return true
	}
	s := silent[0]
	for n := uint64(1); n < writes[len(writes)-1].revision+uint64(len(silent))+8; n++ {
		may := !taken[n] && (s.seen == nil || n < s.seen.Revision)
		for _, w := range writes {
			may = may && n != w.revision && (n > w.revision || w.to.at >= s.op.Call) && (n < w.revision || w.from.at <= s.op.Return)
		}
		if may {
			taken[n] = true
			if fits(writes, silent[1:], taken) {
				return true
			}
			delete(taken, n)
		}
	}
	return false
}

// Silent writes are crowded exactly where numbers cannot be given to all of them, and those that are named have none among those others
// alone that are named, of which none can be left out.
func TestCrowdedAgainstAllNumbers(t *testing.T) {
	answers := map[bool]int{}
	for seed := range uint64(20000) {
		r := rand.New(rand.NewPCG(seed, 5))
		var writes []write
		revision := uint64(0)
		for range 1 + r.IntN(8) {
			revision += 1 + uint64(r.IntN(3))
			from := time.Duration(10*len(writes) + r.IntN(40))
			writes = append(writes, write{revision: revision, from: bound{at: from}, to: bound{at: from + time.Duration(1+r.IntN(40))}})
		}
		ordered := true
		for j := range writes {
			for i := range j {
				ordered = ordered && writes[j].to.at >= writes[i].from.at
			}
		}
		if !ordered {
			continue
		}
		var silent []silentWrite
		for range 1 + r.IntN(4) {
			call := time.Duration(r.IntN(30 + 10*len(writes)))
			s := silentWrite{op: &linear.Op{Call: call, Return: call + time.Duration(r.IntN(20))}}
			if r.IntN(4) == 0 {
				s.seen = &linear.Op{Revision: writes[r.IntN(len(writes))].revision}
			}
			silent = append(silent, s)
		}
		// One that is told of at a revision, and came after others that have higher ones, has none by itself: registers are in order.
		if slices.ContainsFunc(silent, func(s silentWrite) bool {
			return s.seen != nil && slices.ContainsFunc(writes, func(w write) bool { return w.revision >= s.seen.Revision && w.to.at < s.op.Call })
		}) {
			continue
		}
		c := crowded(writes, silent)
		answers[c != nil]++
		require.Equal(t, !fits(writes, silent, map[uint64]bool{}), c != nil, "seed %d", seed)
		if c == nil {
			continue
		}
		named := slices.Clone(writes[max(c.begin-1, 0) : c.end+1])
		if named = append(named, writes[c.earliest[c.end]]); c.begin > 0 {
			named = append(named, writes[c.latest[c.begin-1]])
		}
		slices.SortFunc(named, func(a, b write) int { return cmp.Compare(a.revision, b.revision) })
		require.False(t, fits(named, c.silent, map[uint64]bool{}), "seed %d", seed)
		for i := range c.silent {
			require.True(t, fits(named, slices.Delete(slices.Clone(c.silent), i, i+1), map[uint64]bool{}), "seed %d", seed)
		}
	}
	require.Greater(t, answers[true], 2000)
	require.Greater(t, answers[false], 2000)
}

// The sentence names the writes for which there is no room, between which others, and the evidence all that have a number.
func TestNoRoomForWrites(t *testing.T) {
	r := judged(t, "flags one-count\n1s-1.1s c1 put 1 key a\n2s-2.1s c2 put 2 revision 1 key b at n1\n3s-3.1s c3 get 2 revision 1 key b")
	require.Equal(t, Invalid, r.Verdict)
	require.Equal(t, "register b came to revision 1; before that 1 write of a revision that nobody told happened, with room for 0: "+
		"process 1 wrote 1 on register a", r.Why)
	require.Equal(t, []int{2, 4}, r.Ops)

	var b strings.Builder
	b.WriteString("flags one-count\n0.9s-1s c1 put 1 revision 2 key a\n")
	for i := range 10 {
		fmt.Fprintf(&b, "1.%d5s-1.%d6s c%d put %d key k%d\n", i, i, 3-i%2, i, i)
	}
	b.WriteString("5s-5.1s c2 put 7 revision 12 key b\n")
	r = judged(t, b.String())
	require.Equal(t, Invalid, r.Verdict)
	require.Equal(t, "register b came to revision 12; before that, and after register a had come to revision 2 by 1.000 s, "+
		"10 writes of a revision that nobody told happened, with room for 9: process 3 wrote 0 on register k0, process 2 wrote 1 on register k1, "+
		"process 3 wrote 2 on register k2, process 2 wrote 3 on register k3, process 3 wrote 4 on register k4, process 2 wrote 5 on register k5, "+
		"process 3 wrote 6 on register k6, process 2 wrote 7 on register k7 and 2 more", r.Why)
	require.Len(t, r.Ops, 12)
	require.True(t, slices.IsSorted(r.Ops))

	r = judged(t, "flags one-count\n"+strings.Join(strings.Split(b.String(), "\n")[2:10], "\n")+"\n5s-5.1s c2 put 7 revision 8 key b")
	require.Contains(t, r.Why, "8 writes of a revision that nobody told")
	require.NotContains(t, r.Why, "more")

	r = judged(t, strings.Replace(b.String(), "revision 12", "revision 13", 1))
	require.Equal(t, Unknown, r.Verdict, r.Why) // nobody reads

	for text, ops := range map[string][]int{ // all that have a number are named, and who tells that one was lower
		"0.5s-1.05s c1 put 1 key a at n1\n1s-1.1s c2 put 2 revision 1 key b\n2s-2.1s c2 put 3 revision 2 key c":                                      {3, 4, 6},
		"0.1s-0.2s c1 put 1 revision 1 key a at n1\n0.5s-0.6s c2 put 5 key b\n0.55s-2s c3 put 6 revision 2 key b\n3s-3.1s c1 get 6 revision 2 key b": {2, 5, 6, 8},
	} {
		r = judged(t, "flags one-count\n"+text)
		require.Equal(t, Invalid, r.Verdict, r.Why)
		require.Contains(t, r.Why, "a revision that nobody told")
		require.ElementsMatch(t, ops, r.Ops, r.Why)
		require.NotEqual(t, set{}, r.about)
	}
}

// Who wrote what is read at a revision, and told none itself, may be any that wrote it; and the lowest revision that came late counts.
func TestRevisionsOfOthersWrites(t *testing.T) {
	for text, want := range map[string]Verdict{
		"1s-2s c1 put 7 key a\n3s-4s c2 put 1 revision 5 key b\n5s-6s c1 put 7 key a\n7s-7.1s c2 get 7 revision 6 key a":       Valid,
		"1s-6s c1 put 7 key a\n2s-3s c3 put 7 key a\n4s-5s c2 put 1 revision 5 key b\n7s-7.1s c2 get 7 revision 6 key a":       Valid,
		"1s-2s c1 put 7 key a\n3s-4s c2 put 1 revision 5 key b\n7s-7.1s c2 get 7 revision 6 key a":                             Invalid,
		"1s-6s c2 put 2 revision 2 key b\n2s-3s c3 put 3 revision 3 key c\n5s-6s c1 put 1 revision 1 key a\n7s c4 get 1 key a": Invalid,
	} {
		require.Equal(t, want, judged(t, "flags one-count\n"+text).Verdict, text)
	}
}
