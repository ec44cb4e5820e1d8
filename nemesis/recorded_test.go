package nemesis

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// settled begins the time that schedules count from.
func (s *scene) settled() {
	s.r.Append(history.Op{Time: s.c.Now(), Process: history.Harness, Type: history.OK, F: history.Settle})
}

// again returns what a nemesis recorded, for a scene to do again.
func again(s *scene) []Action {
	h, err := s.r.History()
	require.NoError(s, err)
	actions, err := ActionsOf(h)
	require.NoError(s, err)
	return actions
}

func TestWhatWasRecordedIsDoneAgain(t *testing.T) {
	schedule := Schedule{
		{At: time.Second, Fault: "flap-link", Nodes: []string{"leader", "one"}, With: map[string]string{"down": "2s", "up": "1s"}},
		{At: 1500 * time.Millisecond, Fault: "halves", For: 4 * time.Second},
		{At: 2 * time.Second, Fault: "kill", Nodes: []string{"one"}, For: time.Second},
		{At: 2 * time.Second, Fault: "pause", Nodes: []string{"minority"}, For: 5 * time.Second},
		{At: 7 * time.Second, Fault: "isolate", For: time.Hour},
	}
	first := newScene(t, 7)
	first.settled()
	first.n.Start(schedule)
	second := newScene(t, 7)
	second.sight("n4", history.Leader, 9, "n4") // another leader than the recorded one, and other random numbers
	second.n = New(second.c, second.r, second.s, rand.New(rand.NewPCG(3, 4)))

	var states []history.Changes
	for range 100 {
		first.run(100 * time.Millisecond)
		states = append(states, first.c.State())
	}
	second.settled()
	second.n.Repeat(again(first))
	for i, want := range states {
		second.run(100 * time.Millisecond)
		require.Equal(t, want, second.c.State(), "after %d00ms", i+1)
		require.Equal(t, want, second.n.Holds())
	}
	require.Equal(t, first.actions(), second.actions())
	require.False(t, second.c.State().Empty())
	second.heal()
	require.True(t, second.c.State().Empty())
	require.Contains(t, strings.Join(second.actions(), "\n"), "10s ok heal isolate ")
}

func TestWhatDidNotTakeEffectIsNotDoneAgain(t *testing.T) {
	s := newScene(t, 3)
	s.settled()
	s.n = New(stubborn{Cluster: s.c, effect: history.Effect{Seen: history.Fail}}, s.r, s.s, rand.New(rand.NewPCG(1, 2)))
	s.n.Start(Schedule{{Fault: "pause", For: time.Second}})
	s.run(2 * time.Second)
	require.Empty(t, again(s))
}

func TestDeedsAreCountedFromWhenTheClusterSettled(t *testing.T) {
	s := newScene(t, 3)
	s.n.Start(Schedule{{Fault: "pause"}})
	s.run(time.Second)
	h, err := s.r.History()
	require.NoError(t, err)
	_, err = ActionsOf(h)
	require.ErrorContains(t, err, "before the history says that the cluster settled")

	quiet, err := history.NewRecorder(io.Discard, 0).History()
	require.NoError(t, err)
	actions, err := ActionsOf(quiet)
	require.NoError(t, err)
	require.Empty(t, actions)
}

func TestDeedsAreOfNodesThatThereAre(t *testing.T) {
	nodes := []string{"n1", "n2"}
	fault := history.Fault{Name: "cut-link", Nodes: nodes, Changes: history.Changes{Links: cut("n1>n2")}}
	require.NoError(t, CheckActions([]Action{{F: history.Inject, Fault: fault}}, nodes))
	for _, c := range []history.Changes{
		{Links: cut("n1>n3")}, {Procs: []history.Proc{{Node: "n3"}}}, {Clocks: []history.Clock{{Node: "n3"}}},
		{Disks: []history.Disk{{Node: "n3"}}},
	} {
		fault.Changes = c
		require.ErrorContains(t, CheckActions([]Action{{F: history.Inject, Fault: fault}}, nodes), `cut-link: unknown node "n3"`)
	}
}
