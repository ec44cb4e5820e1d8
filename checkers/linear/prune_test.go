package linear

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrune pins down what pruning leaves: that the verdict stays the same is shown elsewhere.
func TestPrune(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a rejection that a write explains": {"1s n1 write 2 20\n2s n1 write 1 10 rejected", "write 2"},
		"a rejection that a read explains": {
			"1s-9s n1 write 2 20\n2s client read 2 20\n3s n1 write 1 10 rejected", "write 2, read 2",
		},
		"a rejection that an earlier write explains": {
			"1s n1 write 2 20\n1.5s-9s n1 write 2 21\n2s-3s n1 write 1 10\n4s n1 write 1 11 rejected",
			"write 2, write 2, write 1",
		},
		"a rejection that a later write explains, which returned before the first": {
			"1s-9s n1 write 3 30\n2s n1 write 2 20\n3s n1 write 1 10 rejected", "write 3, write 2",
		},
		"unknown writes that the rejection of the lowest token needs for longest": {
			"1s-9s n1 write 1 10 rejected\n2s-3s n1 write 2 11 rejected\n4s n2 write 5 50 unknown\n4s n1 write 2 21 unknown",
			"rejected 1, rejected 2, maybe 5 until 9s, maybe 2 until 9s",
		},
		"an unknown write that only the later of two rejections needs": {
			"1s-3s n1 write 2 11 rejected\n2s-9s n1 write 1 10 rejected\n4s n2 write 2 21 unknown",
			"rejected 2, rejected 1, maybe 2 until 9s",
		},
		"a rejection after whose explanation another write returned": {
			"1s-3s n1 write 1 10\n1.5s-9s n1 write 1 11\n2s-3.5s n1 write 2 20\n4s n1 write 1 12 rejected",
			"write 1, write 1, write 2",
		},
		"an unknown write that only a rejection of a higher token lasted for": {
			"1s-3s n1 write 1 10 rejected\n1s-9s n1 write 3 30 rejected\n4s n2 write 2 21 unknown", "rejected 1, rejected 3",
		},
		"the same, the higher token first": {
			"1s-9s n1 write 3 30 rejected\n1s-3s n1 write 1 10 rejected\n4s n2 write 2 21 unknown", "rejected 3, rejected 1",
		},
		"an unknown write at the very beginning, and the rejection that needs it": {
			"0s n2 write 2 20 unknown\n0s n1 write 1 10 rejected", "maybe 2 until 0s, rejected 1",
		},
		"a rejection that came when its explanation did": {
			"1s-2s n1 write 2 20\n1s-2s n1 write 1 10 rejected", "write 2",
		},
		"a rejection that only may be explained": {
			"1s-9s n1 write 2 20\n2s-3s n1 write 1 10 rejected", "write 2, rejected 1",
		},
		"an unknown write that nobody read": {"1s n1 write 2 20\n2s n1 write 2 21 unknown", "write 2"},
		"an unknown write that was read": {
			"1s-2s n1 write 2 20 unknown\n3s-4s client read 2 20\n3s-5s client read 2 20", "write 2 until 4s, read 2, read 2",
		},
		"an unknown write that another may stand for": {
			"1s n1 write 2 20\n2s n1 write 2 20 unknown\n3s client read 2 20", "write 2, maybe 2, read 2",
		},
		"an unknown write of what was there first": {
			"1s n1 write 0 0 unknown\n3s client read 0 0", "maybe 0, read 0",
		},
		"an unknown write that a rejection needs": {
			"1s-2s n1 write 2 20 unknown\n3s-4s n1 write 1 10 rejected", "maybe 2 until 4s, rejected 1",
		},
		"an unknown write begun too late for it": {
			"1s-2s n1 write 1 10 rejected\n3s-4s n1 write 2 20 unknown", "rejected 1",
		},
		"an unknown write of too low a token for it": {
			"1s-2s n1 write 1 20 unknown\n3s-4s n1 write 1 10 rejected", "rejected 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := accesses(t, c.text)
			given := slices.Clone(all)
			got := ""
			for _, a := range prune(all) {
				if got != "" {
					got += ", "
				}
				got += [...]string{Accepted: "write ", Rejected: "rejected ", Read: "read ", Maybe: "maybe "}[a.Kind]
				got += string(rune('0' + a.Token))
				switch {
				case a.Kind == Maybe && a.use < Never:
					got += " until " + a.use.String()
				case a.Kind == Accepted && given[a.At].Kind == Maybe: // settled
					got += " until " + a.Return.String()
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestPieces cuts after a write that nothing overlaps, and nowhere else.
func TestPieces(t *testing.T) {
	sizes := func(text string, size int) (n []int) {
		for _, p := range pieces(prune(accesses(t, text)), size) {
			n = append(n, len(p))
		}
		return n
	}
	require.Equal(t, []int{1, 2, 2}, sizes("1s n1 write 1 1\n2s n1 write 1 2\n3s n1 write 1 3", 1))
	require.Equal(t, []int{2, 2}, sizes("1s n1 write 1 1\n2s n1 write 1 2\n3s n1 write 1 3", 2))
	require.Equal(t, []int{3}, sizes("1s n1 write 1 1\n2s n1 write 1 2\n3s n1 write 1 3", 3))
	require.Equal(t, []int{3}, sizes("1s-2s n1 write 1 1\n2s-3s n1 write 1 2\n3s n1 write 1 3", 1), "they touch")
	require.Equal(t, []int{3}, sizes("1s-2s n1 write 1 1\n2s-3s n1 write 1 2\n4s n1 write 1 3", 1), "the second touches the first")
	six := "1s n1 write 1 1\n2s n1 write 1 2\n3s n1 write 1 3\n4s n1 write 1 4\n5s n1 write 1 5\n6s n1 write 1 6"
	require.Equal(t, []int{3, 3, 2}, sizes(six, 3), "each begins with the end of the one before")
	require.Equal(t, []int{2}, sizes("1s client read 0 0\n2s client read 0 0", 1), "reads do not cut")
	require.Equal(t, []int{3, 2}, sizes(
		"1s-9s n1 write 5 5 unknown\n2s-3s n1 write 1 1 rejected\n4s n1 write 5 6\n5s n1 write 5 7", 1),
		"the unknown write is of use until 3s")
}

// TestPiecesOfLevels puts a level in the order of time again before it is cut.
func TestPiecesOfLevels(t *testing.T) {
	var b strings.Builder
	for i := range pieceSize + 3 {
		fmt.Fprintf(&b, "%ds n1 write 1 %d\n", i+1, 9-i%4)
	}
	var sizes []int
	for _, p := range newLevels(accesses(t, b.String()+"99s client read 1 7")).vague {
		sizes = append(sizes, len(p))
	}
	require.Equal(t, []int{pieceSize, 5}, sizes)
}

// TestWithout takes away what may owe its legality to what is taken away, and nothing else.
func TestWithout(t *testing.T) {
	all := accesses(t, `
		0s-1s  n1      write 1 1 rejected
		1s     n2      write 3 30
		2s     client  read 3 30
		2s-5s  n1      write 1 10 rejected
		3s-5s  n2      write 2 12 rejected
		3s     client  read 2 20
		4s-5s  n1      write 3 31 rejected
		6s     n2      write 2 20
		7s     client  read 0 0`)
	rest := func(from, to int) (values []int64) {
		for _, a := range without(all, from, to) {
			values = append(values, a.Value)
		}
		return values
	}
	require.Equal(t, []int64{1, 30, 30, 10, 12, 20, 31, 20, 0}, rest(0, 0))
	require.Equal(t, []int64{20, 31, 20, 0}, rest(0, 5), "all that a token of 3 may explain, and who read it")
	require.Equal(t, []int64{20, 31, 20, 0}, rest(1, 2), "the first rejection came when the write was begun")
	require.Equal(t, []int64{1, 30, 30, 10, 12, 31, 0}, rest(7, 8), "token 2 came too late for any rejection")
	require.Equal(t, []int64{1, 30, 30, 10, 12, 20, 31, 20}, rest(8, 9))

	all = accesses(t, "0.5s-1.2s n1 write 1 1 rejected\n1s n2 write 3 30\n1.4s n2 write 2 20")
	require.Empty(t, rest(1, 3), "the earlier of both explains it")
}

func TestAsOperations(t *testing.T) {
	ops := Operations([]Access{{Node: "n1"}, {Node: "n2"}, {Node: "n1"}, {}})
	var clients []int
	for _, op := range ops {
		clients = append(clients, op.ClientId)
	}
	require.Equal(t, []int{0, 1, 0, 2}, clients, "each node is a line of the picture")
}
