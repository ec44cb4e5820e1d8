package hunt

import (
	"cmp"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/looked"
	"recount/harness/record"
	"recount/history"
	"recount/internal/seed"
	"recount/nemesis"
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

func TestFormsBringLeadersBack(t *testing.T) {
	h, p := whole(t)
	for name, form := range map[string]func(*record.Plan, *rand.Rand) nemesis.Schedule{"seesaw": h.seesaw, "comeback": h.comeback} {
		again := 0
		for k := range uint64(12) {
			p := p
			p.Seed, p.Schedule = k, form(&p, seed.New(k, name))
			require.NoError(t, harness.Check(p), name)
			r, err := harness.Simulate(t.Context(), p)
			require.NoError(t, err)
			require.NotEqual(t, record.StatusBroken, r.Status, name)
			if leadsAgain(r.History.Ops) {
				again++
			}
		}
		require.Positive(t, again, name)
	}
}

// leadsAgain reports whether a node leads twice, and another in between.
func leadsAgain(ops []history.Op) bool {
	var led []string // by turns
	for _, op := range ops {
		if op.Type == history.OK && op.View.Claims() && (len(led) == 0 || led[len(led)-1] != op.Node) {
			led = append(led, op.Node)
		}
	}
	for i := range led {
		if i >= 2 && led[i] == led[i-2] {
			return true
		}
	}
	return false
}

func TestAComebackFitsEveryCluster(t *testing.T) {
	h, p := whole(t)
	for _, p.Nodes = range []int{3, 4, 13} {
		for _, h.Time = range []time.Duration{0, 6 * time.Second} {
			for k := range uint64(50) {
				p := p
				p.Time = cmp.Or(h.Time, p.Time)
				p.Schedule = h.comeback(&p, seed.New(k, "comeback"))
				require.NoError(t, harness.Check(p))
				require.NotEmpty(t, p.Schedule)
			}
		}
	}
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
