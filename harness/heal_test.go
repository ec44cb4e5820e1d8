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

// proceeding makes a run of two seconds with three faults that last so long, 0 for until its end, and returns what was recorded.
func proceeding(t *testing.T, c tardy, lasting time.Duration) (*history.History, error) {
	var steps nemesis.Schedule
	for _, n := range []string{"n1", "n2", "n3"} {
		steps = append(steps, nemesis.Step{Fault: "throttle", Nodes: []string{n}, For: lasting})
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
	_, err := proceeding(t, tardy{takes: 80 * time.Second}, 0)
	require.NoError(t, err, "all three take four minutes")
	_, err = proceeding(t, tardy{takes: 95 * time.Second}, 0)
	require.EqualError(t, err, "the cluster is not healed: no fault has ended for 1m30s")
}

func TestAComparisonThatHangsDoesNotHoldTheRun(t *testing.T) {
	h, err := proceeding(t, tardy{mute: true}, 0)
	require.NoError(t, err)
	require.Len(t, compared(h), 2)
	for _, op := range compared(h) {
		require.Equal(t, history.Info, op.Type)
		require.Equal(t, "it has not told for 15s what it is", op.Error)
	}
}

func TestWhatIsBeingHealedAtTheEndIsWaitedFor(t *testing.T) {
	h, err := proceeding(t, tardy{takes: 20 * time.Second}, 1500*time.Millisecond)
	require.NoError(t, err)
	require.Len(t, compared(h), 2)
	for _, op := range compared(h) {
		require.Equal(t, history.OK, op.Type, op.Error)
	}
}
