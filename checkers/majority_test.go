package checkers

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "recount/internal/testseed" // the same cases each time
)

// TestClique compares the search with trying all sets of nodes.
func TestClique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "nodes")
		friends := make([]set, n)
		for i := range n {
			for j := range i {
				if rapid.IntRange(0, 3).Draw(t, "strangers") != 1 {
					friends[i].add(j)
					friends[j].add(i)
				}
			}
		}
		alive := set{a: rapid.Uint64Range(0, 1<<n-1).Draw(t, "alive")}
		quorum := rapid.IntRange(1, n).Draw(t, "quorum")
		found, ok := clique(friends, alive, atLeast(quorum))
		want := false
		for all := range uint64(1) << n {
			if s := (set{a: all}); s.count() >= quorum && together(s, friends, alive) {
				want = true
			}
		}
		if ok != want {
			t.Fatalf("found %v: %v; want %v", found, ok, want)
		}
		if ok && (found.count() < quorum || !together(found, friends, alive)) {
			t.Fatalf("%v is no clique of %d", found, quorum)
		}
	})
}

// TestCliqueOfMany makes sure that clusters as large as may be are searched, and that a search without hope ends.
func TestCliqueOfMany(t *testing.T) {
	const n = 101
	friends := make([]set, n)
	for i := range n {
		friends[i] = first(n)
		friends[i].remove(i)
	}
	for i := 0; i < 50; i++ { // half of the nodes, less one, have lost a neighbour
		friends[i].remove(i + 50)
		friends[i+50].remove(i)
	}
	found, ok := clique(friends, first(n), atLeast(n/2+1))
	require.True(t, ok)
	require.Equal(t, n/2+1, found.count())

	for i := range n { // a ring of triangles
		friends[i] = set{}
		for d := 1; d <= 30; d++ {
			friends[i].add((i + d) % n)
			friends[i].add((i + n - d) % n)
		}
	}
	_, ok = clique(friends, first(n), atLeast(n/2+1))
	require.False(t, ok)
}

// TestCliqueOfLast has the only clique need the node that most others are strangers to.
func TestCliqueOfLast(t *testing.T) {
	friends := make([]set, 9)
	join := func(i, j int) {
		friends[i].add(j)
		friends[j].add(i)
	}
	join(0, 1)
	join(0, 2)
	join(1, 2)
	for i := 3; i < 6; i++ {
		for j := 6; j < 9; j++ {
			join(i, j)
		}
	}
	found, ok := clique(friends, first(9), atLeast(3))
	require.True(t, ok)
	require.Equal(t, first(3), found)
}

// TestCliqueGivesUp looks for one that takes more steps to find out that there is none than a search may take.
func TestCliqueGivesUp(t *testing.T) {
	const n = 64
	r := rand.New(rand.NewPCG(1, 2))
	friends := make([]set, n)
	for i := range n {
		for j := range i {
			if r.IntN(10) > 0 {
				friends[i].add(j)
				friends[j].add(i)
			}
		}
	}
	steps := 0
	_, ok := clique(friends, first(n), func(s set) bool {
		steps++
		return s.count() > n/2
	})
	require.False(t, ok)
	require.Equal(t, effort, steps)
}

// TestCores has members that stay as long as they can, though others would do as well, and no stretch that is a part of
// another one.
func TestCores(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3 n4 n5 n6 n7
		bounds silence=1s elect=4s poll=100ms
		0s..6s/100ms  n1 n2 n3 n4 n5 n6 n7  follower 1
		1s            nemesis inject cut-link n4 n5: cut n4-n5
		2s            nemesis inject cut-link n6 n7: cut n6-n7
		3s            nemesis inject cut-link n5 n6: cut n5-n6
		6s            nemesis inject kill n1 n2 n3 n4: kill n1, kill n2, kill n3, kill n4
		7s            nemesis heal kill n1 n2 n3 n4: start n1, start n2, start n3, start n4
		7s..9s/100ms  n1 n2 n3 n4 n5 n6 n7  follower 1
		9s            end`)
	require.NoError(t, err)
	of := func(nodes ...int) (s set) {
		for _, n := range nodes {
			s.add(n - 1)
		}
		return s
	}
	at := func(s time.Duration) time.Duration { return s * time.Second }
	require.Equal(t, []core{
		{span{0, at(6)}, of(1, 2, 3, 5, 7)},
		{span{at(7), at(9)}, of(1, 2, 3, 4, 7)},
	}, gather(h).cores())
}

// TestCoresOfNewMembers has a core that cannot stay, and one of others that takes its place at that moment. What begins within the
// first, and ends with it, is no stretch of its own.
func TestCoresOfNewMembers(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3
		bounds silence=1s elect=4s poll=100ms
		0s..9s/100ms  n1 n2 n3  follower 1
		1s            nemesis inject clock-drift n3: skew n3
		4s            nemesis heal clock-drift n3: right n3
		4s            nemesis inject isolate n1: cut n1-n2, cut n1-n3
		9s            end`)
	require.NoError(t, err)
	at := func(s time.Duration) time.Duration { return s * time.Second }
	require.Equal(t, []core{
		{span{0, at(4)}, set{a: 0b011}},
		{span{at(4), at(9)}, set{a: 0b110}},
	}, gather(h).cores())
}

// TestMended has links of a leader cut for a while: one from the beginning on, one later; and something else that changes before
// they are healed, and after.
func TestMended(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3
		bounds silence=1s elect=4s poll=100ms
		0s  nemesis inject cut-link n1 n2: cut n1-n2
		1s  nemesis inject cut-link n1 n3: cut n1-n3
		2s  nemesis heal cut-link n1 n2: join n1-n2
		3s  nemesis heal cut-link n1 n3: join n1-n3
		9s  nemesis inject cut-link n2 n3: cut n2-n3
		20s end`)
	require.NoError(t, err)
	w := &gather(h).world
	const ms = time.Millisecond
	for _, c := range []struct {
		leader int
		by     time.Duration
		want   set
	}{
		{0, 0, set{a: 0b111}}, // until a link is healed it does not count
		{0, 1999 * ms, set{a: 0b111}},
		{0, 2000 * ms, set{a: 0b101}}, // cut for two seconds, whole since just now
		{0, 3999 * ms, set{a: 0b001}},
		{0, 4000 * ms, set{a: 0b011}}, // as long again has passed
		{0, 4999 * ms, set{a: 0b011}},
		{0, 5000 * ms, set{a: 0b111}},
		{0, 10000 * ms, set{a: 0b111}}, // what changed since is no link of it
		{1, 10000 * ms, set{a: 0b111}},
		{1, 3000 * ms, set{a: 0b110}},
		{3, 3000 * ms, set{}}, // no member
	} {
		require.Equal(t, c.want, w.mended(c.leader, c.by), "%d by %v", c.leader, c.by)
	}
}

// TestRollsOf tells who voted in some epochs: at no time nobody else than at first.
func TestRollsOf(t *testing.T) {
	h, err := parseHistory("nodes n1 n2 n3\n1s nemesis inject remove-member n3: remove n3\n9s end")
	require.NoError(t, err)
	w := &gather(h).world
	require.Len(t, w.rolls, 2)
	require.Equal(t, w.rolls[:1], w.rollsOf(nil))
	require.Equal(t, w.rolls, w.rollsOf(w.epochs))
	require.Equal(t, w.rolls[1:], w.rollsOf(w.epochs[1:]))
}

func TestSpans(t *testing.T) {
	all := merge([]span{{1, 3}, {2, 4}, {4, 5}, {7, 9}, {8, 8}, {12, 13}})
	require.Equal(t, []span{{1, 5}, {7, 9}, {12, 13}}, all)
	require.Equal(t, time.Duration(7), total(all))
	require.Equal(t, []span{{0, 1}, {5, 7}, {9, 10}}, outside(all, span{0, 10}))
	require.Equal(t, []span{{5, 7}}, outside(all, span{2, 8}))
	require.Equal(t, []span{{10, 11}}, outside(all, span{10, 11}))
	require.Empty(t, outside(all, span{7, 9}))
	require.Empty(t, outside(all, span{8, 9}))
	require.Equal(t, []span{{0, 10}}, outside(nil, span{0, 10}))
	require.Equal(t, []span{{0, 1}, {9, 10}}, outside([]span{{1, 5}, {2, 3}, {4, 9}, {5, 9}}, span{0, 10}), "they may overlap")
}

func TestLasted(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                         "0 s",
		61_400 * time.Nanosecond:  "0.1 ms",
		9_900 * time.Microsecond:  "9.9 ms",
		10 * time.Millisecond:     "10 ms",
		60_600 * time.Microsecond: "61 ms",
		time.Second:               "1 s",
		24_140 * time.Millisecond: "24.1 s",
		10 * time.Minute:          "600 s",
	} {
		require.Equal(t, want, lasted(d))
	}
	require.Equal(t, "12.304 s", at(12_304*time.Millisecond))
	require.Equal(t, "n1", list([]string{"n1"}))
	require.Equal(t, "n1, n2 and n3", list([]string{"n1", "n2", "n3"}))
}

func atLeast(quorum int) func(set) bool { return func(s set) bool { return s.count() >= quorum } }
