package harness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
	"recount/report"
)

// forgetful is a cluster on which nothing that was done is undone.
type forgetful struct{ Cluster }

func (f forgetful) Apply(c history.Changes, done func(history.Effect)) {
	for i := range c.Procs {
		c.Procs[i].State = history.Paused
	}
	f.Cluster.Apply(c, done)
}

// compared is what came of comparing the cluster with what the nemesis believes of it.
func compared(h *history.History) (ops []history.Op) {
	for _, op := range h.Ops {
		if op.F == history.Compare {
			ops = append(ops, op)
		}
	}
	return ops
}

func TestAClusterThatIsNotAsBelievedDecidesNothing(t *testing.T) {
	p := record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: 5 * time.Second, Seed: 1, Schedule: nemesis.Schedule{{Fault: "kill", For: time.Second}}}
	judged := func(spoil bool) *record.Run {
		s, err := resolve(p)
		require.NoError(t, err)
		r := &run{subject: s, Config: Config{Progress: func(string) {}}, recorder: history.NewRecorder(nil, 0)}
		r.cluster, err = openSimulated(s)
		require.NoError(t, err)
		if spoil {
			r.cluster = forgetful{r.cluster}
		}
		r.begin()
		require.NoError(t, r.proceed(context.Background()))
		r.append(history.Op{Process: history.Harness, Type: history.OK, F: history.End})
		rep := r.outline()
		rep.History, err = r.recorder.History()
		require.NoError(t, err)
		Judge(context.Background(), rep)
		return rep
	}
	types := func(rep *record.Run) (types []history.Type) {
		for _, op := range compared(rep.History) {
			types = append(types, op.Type)
		}
		return types
	}
	good := judged(false)
	require.Equal(t, record.StatusHeld, good.Status)
	require.Equal(t, []history.Type{history.OK, history.OK}, types(good), "at the end of the faults, and when all is healed")

	bad := judged(true)
	require.Equal(t, record.StatusUnknown, bad.Status)
	require.Equal(t, []history.Type{history.Fail, history.Fail}, types(bad))
	require.Contains(t, report.Sentence(bad), "The cluster was not what the nemesis believed it to be, so the run decides nothing: n")
	require.Contains(t, report.Sentence(bad), "is paused, and should be up.")
}
