package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// An hour, simulated, with a hundred faults of all kinds in it: the cluster is what the nemesis believes of it before it is
// healed and after, and no goroutine is left. Package docker has the same on containers.
func TestAnHourOfFaultsLeavesNothing(t *testing.T) {
	pace := nemesis.Pace{Within: time.Hour, Gap: 30 * time.Second, Hold: 12 * time.Second, Silence: 600 * time.Millisecond}
	schedule, err := nemesis.Generate(allFaults("raft-prevote"), pace, rand.New(rand.NewPCG(3, 600)))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(schedule), 100)
	before := runtime.NumGoroutine()
	r, err := Simulate(context.Background(), record.Plan{Target: "raft-prevote", On: record.OnSim, Nodes: 5, Time: time.Hour, Seed: 600, Schedule: schedule})
	require.NoError(t, err)
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "%d goroutines, before it %d", runtime.NumGoroutine(), before)
	}
	done := map[string]int{}
	for _, op := range r.History.Ops {
		switch {
		case op.F == history.Compare:
			require.Equal(t, history.OK, op.Type, op.Error)
			done["compared"]++
		case op.Process == history.Nemesis && op.Type != history.Invoke:
			done[fmt.Sprintf("%s %v", op.F, op.Type)]++
		}
	}
	require.Equal(t, 2, done["compared"])
	require.Equal(t, len(schedule), done["inject ok"]+done["inject fail"])
	require.Equal(t, done["inject ok"], done["heal ok"])
	require.Greater(t, done["inject ok"], len(schedule)*8/10, "few wait in vain for nodes that they could mean")
	require.Equal(t, history.End, r.History.Ops[len(r.History.Ops)-1].F)
	t.Log(done)
}
