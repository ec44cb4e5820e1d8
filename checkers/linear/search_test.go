package linear

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSince wants a violation to begin where the last thing is known for sure, and what it takes to be all of it.
func TestSince(t *testing.T) {
	for name, c := range map[string]struct{ text, held, done, core string }{
		"the second of two that write the same was not needed, and what nobody saw neither": {
			text: "1s client put 1 unknown\n1s client put 2 unknown\n1s client put 2 unknown\n2s c1 get 2\n3s c1 get 5",
			held: "2", done: "wrote 2 (outcome unknown), read 2",
			core: "wrote 1 (outcome unknown), wrote 2 (outcome unknown), read 5",
		},
		"it is not known by which way it came to hold 3": {
			text: `1s client put 1 unknown
				1s client put 2 unknown
				1s client cas 1 3 unknown
				1s client cas 2 3 unknown
				2s c1 get 3
				3s c1 get 5`,
			held: "nothing",
			core: "wrote 1 (outcome unknown), wrote 2 (outcome unknown), set 1 to 3 (outcome unknown), " +
				"set 2 to 3 (outcome unknown), read 3, read 5",
		},
		"a write that was seen is done before it returns": {
			text: "1s-9s c1 put 1\n2s c2 get 1\n3s c2 get 5",
			held: "1", done: "wrote 1, read 1", core: "read 5",
		},
		"one that was not may never be": {
			text: "1s-9s c1 put 1\n2s c2 get nothing\n3s c2 get 5",
			held: "nothing", done: "read nothing", core: "wrote 1 (outcome unknown), read 5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := oneObject(t, c.text)
			told := func(uses []Op) string {
				var parts []string
				for i := range uses {
					parts = append(parts, o.Tell(&uses[i]))
				}
				return strings.Join(parts, ", ")
			}
			found := newLinearizing(o, o.Ops, State{}, small).run(context.Background())
			require.Equal(t, porcupine.Illegal, found.Answer)
			require.Equal(t, c.held, o.Show(found.holds.Value))
			require.Equal(t, c.done, told(found.done))
			require.Equal(t, c.core, told(found.core))
		})
	}
}

// TestPrunedIsNotRuledOut has five ways to a state, of which the first search keeps four: the fifth is the one that all
// that follows needs.
func TestPrunedIsNotRuledOut(t *testing.T) {
	o := oneObject(t, `
		1s client put 1 unknown
		1s client put 2 unknown
		1s client put 3 unknown
		1s client put 4 unknown
		1s client put 5 unknown
		1s client cas 1 9 unknown
		1s client cas 2 9 unknown
		1s client cas 3 9 unknown
		1s client cas 4 9 unknown
		1s client cas 5 9 unknown
		2s c1 get 9
		3s c1 get 1
		4s c1 get 2
		5s c1 get 3
		6s c1 get 4`)
	first := newLinearizing(o, o.Ops, State{}, small)
	first.beam = beamWidth
	require.Equal(t, porcupine.Illegal, first.run(context.Background()).Answer)
	require.True(t, first.pruned)
	require.Equal(t, porcupine.Ok, linearize(context.Background(), o, o.Ops, State{}, small).Answer)
}

// TestSearchLimits goes to the limits of a search, and one step beyond.
func TestSearchLimits(t *testing.T) {
	o := oneObject(t, "1s client cas 1 2 unknown\n1s client put 1 unknown\n2s client put 1\n3s client get 2\n4s client get 1\n5s client get 2")
	run := func(endless bool, most int, budget int64) Found {
		l := newLinearizing(o, o.Ops, State{}, budget)
		l.endless, l.most = endless, most
		found := l.run(context.Background())
		found.Steps = l.steps
		return found
	}
	steps := run(true, endlessSteps, small).Steps
	require.Equal(t, porcupine.Ok, run(true, steps, small).Answer)
	require.Equal(t, "time ran out in the search for an order of 6 operations", run(true, steps-1, small).Why)
	require.Equal(t, porcupine.Illegal, run(false, 0, small).Answer, "without an end of writes only")

	more := newLinearizing(o, o.Ops, State{}, small).most - newLinearizing(o, o.Ops[:1], State{}, small).most
	require.Equal(t, 200*(len(o.Ops)-1), more, "what goes on for longer may take longer")

	// One configuration that holds before the write and is met on the way to what holds after it.
	o = oneObject(t, "1s c1 put 1")
	require.Equal(t, porcupine.Ok, run(false, 0, 2*configCost).Answer)
	require.Equal(t, "the search for an order of 1 operation grew beyond 0 MiB", run(false, 0, 2*configCost-1).Why)
}

// TestPlainHolder tries all orders of what came before a lock was taken once too often: whoever is named took it last in
// each of them, and nobody gave it back.
func TestPlainHolder(t *testing.T) {
	tried, named := 0, 0
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		o := drawObject(t)
		tried++
		found := o.Decide(ctx)
		if !o.Lock || found.Answer != porcupine.Illegal {
			return
		}
		core, _ := o.lessen(ctx, found)
		holder := found.holder()
		if holder == nil || len(core) > 1 {
			return
		}
		named++
		before := slices.DeleteFunc(slices.Clone(o.Ops), func(u Op) bool { return u.Begin == core[0].Begin || u.Call > core[0].Return })
		var try func(s State, last *Op, left []Op)
		try = func(s State, last *Op, left []Op) {
			first := Never // to return
			for i := range left {
				first = min(first, left[i].Return)
			}
			if first > core[0].Return {
				require.Equal(t, 1, int(s.Value), "released: %+v", o.Ops)
				require.Equal(t, holder.Begin, last.Begin, "%+v", o.Ops)
			}
			for i, u := range left {
				if next, ok := o.step(s, &u); ok && u.Call <= first {
					now := last
					if u.Kind == Take {
						now = &u
					}
					try(next, now, slices.Delete(slices.Clone(left), i, i+1))
				}
			}
		}
		try(State{}, nil, before)
	})
	t.Logf("%d of %d histories", named, tried)
	require.True(t, named > 0 || tried < plainChecks)
}
