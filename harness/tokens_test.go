package harness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/harness/record"
	"recount/targets"
)

// quiet tells its term only while it leads.
type quiet struct{ election.Node }

func (q quiet) Status() election.Status {
	s := q.Node.Status()
	if s.Role != election.Leader {
		s.Term = 0
	}
	return s
}

// Followers that tell no term make a run no longer: it neither waits for them to tell one at its beginning nor at its end.
func TestARunWaitsForNoTermsOfFollowers(t *testing.T) {
	length := func(tokens bool) time.Duration {
		s, err := resolve(record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: 5 * time.Second, Seed: 1})
		require.NoError(t, err)
		if tokens {
			told, node := *s.target, s.target.Node
			told.Tokens = true
			told.Node = func(o targets.Options, env election.Env) election.Node { return quiet{node(o, env)} }
			s.target = &told
		}
		r := &run{subject: s, Config: Config{Progress: func(string) {}}}
		require.NoError(t, r.record(context.Background(), t.TempDir()))
		return r.cluster.Now()
	}
	require.Equal(t, length(false), length(true))
}
