package hunt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/looked"
	"recount/harness/record"
	"recount/history"
	"recount/internal/seed"
)

// whole is a hunt of raft for anything, and a plan to be formed.
func whole(t *testing.T) (*hunter, record.Plan) {
	cfg := after("raft", "", 1)
	cfg.Sometimes = []string{"register", "wander"}
	h, err := newHunter(cfg)
	require.NoError(t, err)
	h.kinds = []string{"RequestVote", "AppendEntries", "AppendEntriesResponse"}
	p := record.Plan{Target: "raft", On: record.OnSim, Nodes: 5, Workloads: h.allWorkloads()}
	h.drawOptions(&p, seed.New(1, "options"))
	return h, p
}

func TestASeesawBringsLeadersBack(t *testing.T) {
	h, p := whole(t)
	again := 0
	for k := range uint64(12) {
		p.Seed, p.Schedule = k, h.seesaw(&p, seed.New(k, "seesaw"))
		require.NoError(t, harness.Check(p))
		r, err := harness.Simulate(t.Context(), p)
		require.NoError(t, err)
		require.NotEqual(t, record.StatusBroken, r.Status)
		var led []string // by turns
		for _, op := range r.History.Ops {
			if op.Type == history.OK && op.View.Claims() && (len(led) == 0 || led[len(led)-1] != op.Node) {
				led = append(led, op.Node)
			}
		}
		for i := range led {
			if i >= 2 && led[i] == led[i-2] {
				again++
				break
			}
		}
	}
	require.Positive(t, again)
}

func TestANodeLivesInThePast(t *testing.T) {
	h, p := whole(t)
	for k := range uint64(6) {
		p.Seed, p.Schedule = k, h.past(&p, seed.New(k, "past"))
		require.NoError(t, harness.Check(p))
		r, err := harness.Glance(t.Context(), p)
		require.NoError(t, err)
		require.NotEqual(t, record.StatusBroken, r.Status)
		aimed := looked.Of(r, nil).Aimed
		require.Len(t, aimed, 2)
		for _, a := range aimed {
			require.True(t, a.Took, a.Fault)
		}
	}
}
