package checkers

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// TestCrashWhileGathering has no verdict by what was gathered halfway: nothing is added any more, and what crashed is told.
func TestCrashWhileGathering(t *testing.T) {
	h, err := parseHistory("nodes n1 n2\n1s n1 leader 1\n2s n2 follower 1\n3s end")
	require.NoError(t, err)
	says := func(j *Judging, what string) {
		t.Helper()
		for _, r := range j.End(t.Context()) {
			require.Equal(t, Unknown, r.Verdict)
			require.Contains(t, r.Why, what)
			require.NotEmpty(t, r.Stack)
		}
	}
	j := Begin()
	j.Add(&h.Ops[0])
	epochs := j.world.epochs
	j.world.epochs = nil // whatever it is that goes wrong
	j.Add(&h.Ops[1])
	said := j.crashed.Why
	j.seen = nil // and something else would
	j.Add(&h.Ops[1])
	require.Equal(t, said, j.crashed.Why)
	j.world.epochs = epochs
	j.world.n++
	says(j, said)

	j = Begin()
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	j.world.n++
	says(j, "crashed")

	j = Begin()
	j.Add(&history.Op{}) // of no kind
	require.Nil(t, j.crashed)
}

// TestSideBySide judges by all checkers at once, as long histories are.
func TestSideBySide(t *testing.T) {
	defer func(was int) { worthSharing = was }(worthSharing)
	for _, file := range files(t, "cases") {
		h := given(t, file)
		worthSharing = 1 << 15
		want := CheckAll(context.Background(), h)
		worthSharing = 0
		got := CheckAll(context.Background(), h)
		for i := range got {
			require.Equal(t, want[i].Why, got[i].Why)
			require.Equal(t, want[i].Property, got[i].Property)
		}
	}
}

// TestReread goes through what was added, and not through what a file has got since.
func TestReread(t *testing.T) {
	ops := make([]history.Op, 5)
	j := Begin()
	j.Reread(func(each func(op *history.Op)) error {
		for i := range ops {
			each(&ops[i])
		}
		return nil
	})
	for range 3 {
		j.Add(&history.Op{F: history.Stall, Type: history.Info})
	}
	var numbers []int
	require.NoError(t, j.again(func(_ *history.Op, number int) { numbers = append(numbers, number) }))
	require.Equal(t, []int{0, 1, 2}, numbers)
}

// TestAtOnceAfterItsBeginning has the end of a fault tell of more than its beginning: that was being done all the while, also if
// nothing else happened meanwhile.
func TestAtOnceAfterItsBeginning(t *testing.T) {
	for _, between := range []string{"", "1.05s n1 follower 1\n"} {
		h, err := parseHistory("nodes n1 n2 n3\n0s n1 n2 n3 follower 1\n1s-1.1s nemesis inject cut-link n1 n2: cut n1-n2; only cut n1-n3\n" + between + "9s end")
		require.NoError(t, err)
		w := &gather(h).world
		e := w.during(span{1_020_000_000, 1_020_000_000})[0]
		require.Equal(t, []set{{}, {a: 0b100}, {a: 0b010}}, e.mutual, strings.TrimSpace(between))
	}
}
