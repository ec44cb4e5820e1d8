package linear

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// TestSince wants the evidence about a lock to begin where it surely was free, and to leave out nothing that was open then.
func TestSince(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"what came before it was free": {
			"1s c1 acquire\n2s c1 release\n3s c1 acquire\n4s c2 acquire", "took the lock, took the lock",
		},
		"a release that may have come at any time": {
			"1s c1 acquire\n1s c3 release unknown\n2s c1 release\n3s c1 acquire\n4s c2 acquire\n5s c3 acquire",
			"released the lock (outcome unknown), took the lock, took the lock, took the lock",
		},
		"one that was waiting": {
			"1s c1 acquire\n1.5s-9s c2 acquire\n2s c1 release\n3s c1 acquire\n4s c3 acquire",
			"took the lock (outcome unknown), took the lock, took the lock",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := oneObject(t, c.text)
			w := newWide[[1]uint64](newTimeline(o, o.Ops, State{}), limits{bytes: small, over: func() bool { return false }}, false)
			found := w.run()
			require.Equal(t, porcupine.Illegal, found.Answer)
			var parts []string
			for _, u := range w.since(found.died) {
				parts = append(parts, o.Tell(&u))
			}
			require.Equal(t, c.want, strings.Join(parts, ", "))
		})
	}
}

// TestSearchLimits goes to the limits of a search, and one step beyond.
func TestSearchLimits(t *testing.T) {
	o := oneObject(t, "1s client cas 1 2 unknown\n1s client put 1 unknown\n2s client put 1\n3s client get 2\n4s client get 1\n5s client get 2")
	timeline := newTimeline(o, o.Ops, State{})
	run := func(endless bool, l limits) Found {
		return timeline.wide(context.Background(), l, endless)
	}
	steps := run(true, limits{bytes: small}).Steps
	require.Equal(t, porcupine.Ok, run(true, limits{steps: steps, bytes: small}).Answer)
	require.Equal(t, "it takes more than a first look", run(true, limits{steps: steps - 1, bytes: small}).Why)
	require.Equal(t, porcupine.Illegal, run(false, limits{bytes: small}).Answer, "without an end of writes only")

	// One configuration that holds before the write and is met on the way to what holds after it.
	o = oneObject(t, "1s c1 put 1")
	timeline = newTimeline(o, o.Ops, State{})
	require.Equal(t, porcupine.Ok, run(false, limits{bytes: 2 * 9 * 32}).Answer)
	require.Equal(t, "the search for an order of 1 operation grew beyond 1 MiB", run(false, limits{bytes: 2*9*32 - 1}).Why)
}

// TestCrowds has as many operations under way as there is room for in sets of each size, and one more.
func TestCrowds(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{1, 63, 64, 65, 256, 257, mostAtOnce, mostAtOnce + 1} {
		o := oneObject(t, strings.Repeat("1s-9s client put 1\n", n)+"10s client get 1")
		timeline := newTimeline(o, o.Ops, State{})
		require.Equal(t, n, timeline.slots)
		want := porcupine.Ok
		if n > mostAtOnce {
			want = porcupine.Unknown
		}
		require.Equal(t, want, timeline.deep(ctx, limits{bytes: 1 << 30}).Answer, "%d", n)
		require.Equal(t, want, timeline.wide(ctx, limits{bytes: 1 << 30}, false).Answer, "%d", n)
		require.Equal(t, porcupine.Ok, o.Decide(WithMemory(ctx, 1<<30)).Answer, "%d: porcupine has no such limit", n)
	}
}

// TestManyAlike has operations of unknown outcome that do the same: there is no end to how many can be told to have happened.
func TestManyAlike(t *testing.T) {
	flips := func(n, unknown int) *Object {
		text := strings.Repeat("1s client cas 1 2 unknown\n", unknown)
		return oneObject(t, text+flipping(n))
	}
	ctx := context.Background()
	require.Equal(t, porcupine.Ok, flips(300, 300).Decide(ctx).Answer)
	require.Equal(t, porcupine.Illegal, flips(300, 299).Decide(ctx).Answer)
}

// flipping writes 1 and reads 2, so many times.
func flipping(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%dms client put 1\n%dms client get 2\n", 2000+2*i, 2001+2*i)
	}
	return b.String()
}

func TestAtOnce(t *testing.T) {
	for _, c := range []struct {
		calls, returns []time.Duration
		want           int
	}{
		{nil, nil, 0},
		{[]time.Duration{1, 2, 3}, []time.Duration{1, 2, 3}, 1},
		{[]time.Duration{1, 2, 3}, []time.Duration{2, 3, 3}, 2}, // one that returns as another is called is under way with it
		{[]time.Duration{1, 1, 5, 6}, []time.Duration{9, 4, 9, 9}, 3},
	} {
		require.Equal(t, c.want, AtOnce(c.calls, c.returns))
	}
}

// TestRevisionsRise has a write come to a higher revision than the one before it, told or not.
func TestRevisionsRise(t *testing.T) {
	for text, want := range map[string]porcupine.CheckResult{
		"1s c1 put 1 revision 4\n2s c1 put 2 revision 5":              legal,
		"1s c1 put 1 revision 4\n2s c1 put 2 revision 4":              illegal,
		"1s c1 put 1 revision 4\n2s c1 put 2\n3s c2 get 2 revision 5": legal,
		"1s c1 put 1 revision 4\n2s c1 put 2\n3s c2 get 2 revision 4": illegal,
	} {
		require.Equal(t, want, oneObject(t, text).Decide(context.Background()).Answer, text)
	}
}
