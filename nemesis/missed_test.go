package nemesis

import (
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
