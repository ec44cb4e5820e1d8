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

// ready is a hunt of raft for anything, and a plan to be formed.
func ready(t *testing.T) (*hunter, record.Plan) {
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
	h, p := ready(t)
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
	h, p := ready(t)
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
	h, p := ready(t)
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

func TestWhoIsBereavedGoesOnWithoutTheDead(t *testing.T) {
	h, p := ready(t)
	fates := map[string]int{}
	for k := range uint64(60) {
		p := p
		p.Seed, p.Schedule = k, h.bereave(&p, seed.New(k, "bereave"))
		require.NoError(t, harness.Check(p))
		require.NotEmpty(t, p.Schedule)
		r, err := harness.Simulate(t.Context(), p)
		require.NoError(t, err)
		require.NotEqual(t, record.StatusBroken, r.Status)
		for _, a := range looked.Of(r, nil).Aimed {
			if a.Took {
				fates[a.Fault]++
			}
		}
		for _, st := range p.Schedule {
			require.True(t, st.Fault != "kill" || st.For == 0, "who died stays dead")
		}
	}
	for _, f := range []string{"kill", "crash-within", "isolate", "hand-over"} {
		require.Positive(t, fates[f], f)
	}
}

// What one waits for that has died never comes: bully without its second wait stands still.
func TestBereavementHangsWhoWaitsForever(t *testing.T) {
	cfg := after("bully-no-timeout", "elects", 1)
	h, err := newHunter(cfg)
	require.NoError(t, err)
	h.kinds = []string{"ELECTION", "OK", "COORDINATOR"}
	hung := 0
	for k := range uint64(60) {
		p := record.Plan{Target: cfg.Target, On: record.OnSim, Nodes: 5, Seed: k}
		h.drawOptions(&p, seed.New(k, "options"))
		p.Schedule = h.bereave(&p, seed.New(k, "bereave"))
		r, err := harness.Glance(t.Context(), p)
		require.NoError(t, err)
		if broken(r, "elects") != nil {
			hung++
		}
	}
	require.Positive(t, hung)
}

// A leader may be deaf for a while: all that is sent to it is held.
func TestALeaderIsDeafForAWhile(t *testing.T) {
	h, p := ready(t)
	deaf := 0
	for k := range uint64(400) {
		st := nemesis.Step{At: time.Second, Fault: "hold-message", For: 300 * time.Millisecond, With: map[string]string{"until": "heal"}}
		h.sharpen(&st, &p, seed.New(k, "sharpen"))
		p := p
		p.Schedule = nemesis.Schedule{st}
		require.NoError(t, harness.Check(p))
		if st.Nodes[1] == "leader" && st.Nodes[0] == "all" && st.With["count"] == unending {
			require.Equal(t, 300*time.Millisecond, st.For)
			deaf++
		}
	}
	require.Positive(t, deaf)
}

func TestFaultsOfDisksAreOfServersWhereNodesHaveNone(t *testing.T) {
	aimed := func(diskless bool) (all []nemesis.Named) {
		p := record.Plan{}
		for _, at := range []nemesis.Step{{Fault: "crash", Nodes: nemesis.Named{"all"}}, {Fault: "disk-full", Nodes: nemesis.Named{"leader"}}, {Fault: "kill", Nodes: nemesis.Named{"leader"}}} {
			p.Schedule = append(p.Schedule, at)
		}
		atServers(&p, diskless)
		for _, st := range p.Schedule {
			all = append(all, st.Nodes)
		}
		return all
	}
	require.Equal(t, []nemesis.Named{{"all"}, {"leader"}, {"leader"}}, aimed(false))
	require.Equal(t, []nemesis.Named{{"servers"}, {"server"}, {"leader"}}, aimed(true))
}
