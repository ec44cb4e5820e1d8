package harness

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// tardy is a cluster that takes its time to heal, and one that does not say what it is.
type tardy struct {
	Cluster
	takes time.Duration
	mute  bool
}

func (c *tardy) Apply(ch history.Changes, done func(history.Effect)) {
	heals := len(history.Merge(ch)) == 0
	c.Cluster.Apply(ch, func(e history.Effect) {
		if !heals {
			done(e)
			return
		}
		c.After(c.takes, func() { done(e) })
	})
}

func (c *tardy) State(ctx context.Context) (history.Changes, error) {
	if !c.mute {
		return c.Cluster.State(ctx)
	}
	if _, limited := ctx.Deadline(); !limited {
		return history.Changes{}, fmt.Errorf("this may take for ever")
	}
	return history.Changes{}, fmt.Errorf("read: %w", context.DeadlineExceeded)
}

// proceeding makes a run with three faults under way at its end, and returns what was recorded.
func proceeding(t *testing.T, c tardy) (*history.History, error) {
	var steps nemesis.Schedule
	for _, n := range []string{"n1", "n2", "n3"} {
		steps = append(steps, nemesis.Step{Fault: "throttle", Nodes: []string{n}})
	}
	s, err := resolve(record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: 2 * time.Second, Seed: 1, Schedule: steps})
	require.NoError(t, err)
	r := &run{subject: s, Config: Config{Progress: func(string) {}}, recorder: history.NewRecorder(nil, 0)}
	c.Cluster, err = openSimulated(s)
	require.NoError(t, err)
	r.cluster = &c
	r.begin()
	failed := r.proceed(context.Background())
	h, err := r.recorder.History()
	require.NoError(t, err)
	return h, failed
}

func TestEachFaultHasItsTimeToHeal(t *testing.T) {
	_, err := proceeding(t, tardy{takes: 80 * time.Second})
	require.NoError(t, err, "all three take four minutes")
	_, err = proceeding(t, tardy{takes: 95 * time.Second})
	require.EqualError(t, err, "the cluster is not healed: no fault has ended for 1m30s")
}

func TestAComparisonThatHangsDoesNotHoldTheRun(t *testing.T) {
	h, err := proceeding(t, tardy{mute: true})
	require.NoError(t, err)
	compared := 0
	for _, op := range h.Ops {
		if op.F == history.Compare {
			compared++
			require.Equal(t, history.Info, op.Type)
			require.Equal(t, "it has not told for 15s what it is", op.Error)
		}
	}
	require.Equal(t, 2, compared)
}
