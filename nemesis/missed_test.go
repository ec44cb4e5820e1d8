package nemesis

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// failures are the faults that were recorded as failed, and why.
func (s *scene) failures() (all []string) {
	h, err := s.r.History()
	require.NoError(s, err)
	for _, op := range h.Ops {
		if op.Process == history.Nemesis && op.Type == history.Fail {
			all = append(all, op.Fault.Name+": "+op.Error)
		}
	}
	return all
}

func TestAWrittenStepThatTheRunEndsBeforeIsTold(t *testing.T) {
	steps := Schedule{
		{At: time.Second, Fault: "kill", Nodes: []string{"next-leader"}},
		{At: time.Second, After: Elected, Wait: 10 * time.Second, Fault: "pause", Nodes: []string{"n2"}},
	}
	for _, written := range []bool{true, false} {
		s := newScene(t, 3)
		s.n.Written = written
		s.n.Start(steps)
		s.run(2 * time.Second)
		s.sight("n1", history.Leader, 2, "n1")
		s.run(time.Second)
		s.heal()
		if !written {
			require.Empty(t, s.failures(), "some steps of a drawn schedule never find anybody")
			continue
		}
		require.Equal(t, []string{
			"pause: the run ended within 10s of the election of n1 in term 2",
			`kill: from 1s of the schedule on, until the run ended, no node to be "next-leader"; last seen: n1 leads in term 2, n2 not seen, n3 not seen`,
		}, s.failures())
	}
}

// slow is a cluster that takes a while to change.
type slow struct {
	Cluster
	takes time.Duration
}

func (s slow) Apply(c history.Changes, done func(history.Effect)) {
	s.After(s.takes, func() { s.Cluster.Apply(c, done) })
}

func TestWhatIsBeingDoneEndsBeforeAStepIsSaidToHaveMissed(t *testing.T) {
	s := newScene(t, 3)
	s.n = New(slow{s.c, 10 * time.Second}, s.r, s.s, rand.New(rand.NewPCG(1, 2)))
	s.n.Start(Schedule{
		{At: 0, Fault: "pause", Nodes: []string{"n2"}, For: time.Second},
		{At: time.Second, After: Voted, Fault: "kill", Nodes: []string{"n3"}},
	})
	s.run(5 * time.Second)
	healed := 0
	s.n.Heal(func() { healed++ })
	s.run(time.Minute)
	require.Equal(t, 1, healed)
	require.Equal(t, []string{"10s ok inject pause n2", "20s ok heal pause n2", "20s fail inject kill "}, s.actions())
}
