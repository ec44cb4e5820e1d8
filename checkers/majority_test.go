package checkers

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
		alive := set{rapid.Uint64Range(0, 1<<n-1).Draw(t, "alive")}
		quorum := rapid.IntRange(1, n).Draw(t, "quorum")
		found, ok := clique(friends, alive, atLeast(quorum))
		want := false
		for all := range uint64(1) << n {
			if s := (set{all}); s.count() >= quorum && together(s, friends, alive) {
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

// TestCliqueGivesUp looks for one where nobody can find it.
func TestCliqueGivesUp(t *testing.T) {
	const n = 160
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
	_, ok := clique(friends, first(n), atLeast(n/2+1))
	require.False(t, ok)
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
	require.Equal(t, "1 term", count(1, "term"))
	require.Equal(t, "0 terms", count(0, "term"))
	require.Equal(t, "n1", list([]string{"n1"}))
	require.Equal(t, "n1, n2 and n3", list([]string{"n1", "n2", "n3"}))
}

func atLeast(quorum int) func(set) bool { return func(s set) bool { return s.count() >= quorum } }
