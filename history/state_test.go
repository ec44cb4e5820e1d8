package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
)

// drawChanges draws changes of all dimensions, in which no thing has two states.
func drawChanges(t *rapid.T, label string) history.Changes {
	node := rapid.SampledFrom([]string{"n1", "n2", "n3"})
	var all []history.State
	seen := map[history.Key]bool{}
	for range rapid.IntRange(0, 8).Draw(t, label) {
		n := node.Draw(t, "node")
		s := rapid.SampledFrom([]history.State{
			history.Link{From: n, To: "n4", LinkState: history.LinkState{Cut: true}},
			history.Link{From: n, To: "n4", Port: 7, LinkState: history.LinkState{Delay: time.Second}},
			history.Proc{Node: n, State: history.Paused},
			history.Proc{Node: n, State: history.Down},
			history.Clock{Node: n, Offset: time.Second},
			history.Clock{Node: n, Offset: -time.Second},
			history.Disk{Node: n, DiskState: history.DiskState{Full: true}},
			history.Client{Node: n, Cut: true},
		}).Draw(t, "state")
		if !seen[s.Key()] {
			seen[s.Key()] = true
			all = append(all, s)
		}
	}
	return history.ChangesOf(all...)
}

// What has to change from one state of things to another brings them there, and what is healthy is not mentioned.
func TestADifferenceLeadsFromOneStateOfThingsToAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawChanges(t, "x"), drawChanges(t, "y")
		a, b := history.Merge(x, y), history.Merge(y)
		require.Equal(t, a, b.With(a.From(b).Changes()))
		require.Equal(t, b, a.With(b.From(a).Changes()))
		require.Empty(t, a.From(a))
		require.Equal(t, a, history.Merge(y, x))
		require.Equal(t, history.Merge(x), history.Merge(history.Merge(x).Changes()))
		for s := range a.All() {
			require.NotEqual(t, s.Healthy(), s)
			require.False(t, s.Same(s.Healthy()))
			require.True(t, s.Same(s))
		}
	})
}

func TestJumpsOfAClockThatCancelOutAreNone(t *testing.T) {
	ahead, behind := history.ChangesOf(history.Clock{Node: "n1", Offset: 1}), history.ChangesOf(history.Clock{Node: "n1", Offset: -1})
	require.Empty(t, history.Merge(ahead, behind))
}

func TestAllDimensionsHaveTheirListAndOrder(t *testing.T) {
	client := history.Client{Node: "n1", Cut: true}
	disk1, disk2 := history.Disk{Node: "n1", DiskState: history.DiskState{Full: true}}, history.Disk{Node: "n2", DiskState: history.DiskState{Full: true}}
	clock, process := history.Clock{Node: "n1", Offset: 1}, history.Proc{Node: "n1", State: history.Down}
	cut := history.LinkState{Cut: true}
	link, port := history.Link{From: "n1", To: "n3", LinkState: cut}, history.Link{From: "n1", To: "n2", Port: 9, LinkState: cut}
	c := history.ChangesOf(client, disk2, disk1, clock, process, link, port)
	all := history.Merge(c)
	require.Equal(t, []history.State{port, link, process, clock, disk1, disk2, client}, all.Changes().States())
	require.Equal(t, disk2, all.Of(disk2.Key()))
	require.Nil(t, all.Of(history.Disk{Node: "n3"}.Key()))
	for k, both := range all.Both(history.Merge(history.ChangesOf(clock))) {
		want := [2]history.State{all.Of(k), all.Of(k).Healthy()}
		if k == clock.Key() {
			want[1] = clock
		}
		require.Equal(t, want, both)
	}
	require.Equal(t, history.ChangesOf(history.Disk{Node: "n2"}), history.Merge(history.ChangesOf(disk1)).From(history.Merge(history.ChangesOf(disk1, disk2))).Changes())
	again := history.Clock{Node: "n1", Offset: 2}
	require.Equal(t, history.Merge(history.ChangesOf(again)), history.States(nil).With(history.ChangesOf(clock, again)), "the last counts")
	require.False(t, c.Empty())
	require.True(t, history.ChangesOf().Empty())
	require.Equal(t, []string{"n1", "n3"}, history.Link{From: "n1", To: "n3"}.Key().Nodes())
	require.Equal(t, []string{"n1"}, history.Proc{Node: "n1"}.Key().Nodes())
}
