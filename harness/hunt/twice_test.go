package hunt

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/harness"
	"recount/harness/looked"
	"recount/harness/record"
	"recount/history"
	"recount/internal/seed"
	"recount/nemesis"
	"recount/targets"
)

// unsynced is leader-lease whose nodes do not sync what they load when they start.
const unsynced = "leader-lease-unsynced"

func init() {
	is, err := targets.Find("leader-lease")
	if err != nil {
		panic(err)
	}
	t := *is
	t.Name, t.Node = unsynced, func(o targets.Options, env election.Env) election.Node {
		b := &beginning{Env: env}
		b.Node = is.Node(o, b)
		return b
	}
	targets.Register(&t)
}

// beginning is a node that starts without a sync.
type beginning struct {
	election.Env
	election.Node
	begun bool
}

func (b *beginning) Start() {
	b.Node.Start()
	b.begun = true
}

func (b *beginning) Sync() {
	if b.begun {
		b.Env.Sync()
	}
}

// breaks counts in how many of so many runs with a form a promise breaks, in clusters of all sizes.
func breaks(t *testing.T, target string, kinds []string, runs uint64, form func(*hunter, *record.Plan, *rand.Rand) nemesis.Schedule) (broke int) {
	h, err := newHunter(after(target, "", 1))
	require.NoError(t, err)
	h.kinds = kinds
	for k := range runs {
		rnd := seed.New(k, "form")
		p := record.Plan{Target: target, On: record.OnSim, Nodes: pick(Sizes, rnd), Seed: k}
		h.drawOptions(&p, rnd)
		p.Schedule = form(h, &p, rnd)
		require.NoError(t, harness.Check(p))
		r, err := harness.Glance(t.Context(), p)
		require.NoError(t, err)
		if r.Status == record.StatusBroken {
			broke++
		}
	}
	return broke
}

// What is read at a start and not synced is gone when the machine ends as well.
func TestWhoEndsTwiceLosesWhatItHasOnlyRead(t *testing.T) {
	kinds := []string{"Request", "Grant", "Release"}
	require.Greater(t, breaks(t, unsynced, kinds, 200, (*hunter).twice), 2)
	require.Zero(t, breaks(t, "leader-lease", kinds, 200, (*hunter).twice))
}

// hit makes a run of a form, whose two faults are of one node. A correct election stands that.
func hit(t *testing.T, p record.Plan, run func(context.Context, record.Plan) (*record.Run, error)) *record.Run {
	t.Helper()
	require.NoError(t, harness.Check(p))
	require.Equal(t, p.Schedule[0].Nodes, p.Schedule[1].Nodes)
	r, err := run(t.Context(), p)
	require.NoError(t, err)
	require.NotEqual(t, record.StatusBroken, r.Status)
	return r
}

func TestOneNodeEndsTwice(t *testing.T) {
	h, p := ready(t)
	both := 0
	for k := range uint64(60) {
		p.Seed, p.Schedule = k, h.twice(&p, seed.New(k, "twice"))
		r := hit(t, p, harness.Simulate)
		ended := map[history.ProcState]bool{}
		for i := range r.History.Ops {
			if op := &r.History.Ops[i]; op.F == history.Exit && op.Node == p.Schedule[0].Nodes[0] {
				for _, proc := range op.Fault.Procs {
					ended[proc.State] = true
				}
			}
		}
		if ended[history.Down] && ended[history.Crashed] {
			both++
		}
	}
	require.Greater(t, both, 20)
}

// A node that was away ends just when it hears of what it has missed.
func TestANodeEndsAsItComesHome(t *testing.T) {
	h, p := ready(t)
	ended := 0
	for k := range uint64(20) {
		p.Seed, p.Schedule = k, h.homecoming(&p, seed.New(k, "home"))
		r := hit(t, p, func(ctx context.Context, p record.Plan) (*record.Run, error) { return harness.Glance(ctx, p) })
		if a := looked.Of(r, nil).Aimed; len(a) == 2 && a[0].Took && a[1].Took {
			ended++
		}
	}
	require.Greater(t, ended, 5)
}

// A form of one node fits every cluster, those with a store, too, and those where nobody knows what messages mean.
func TestFormsOfOneNodeFitEveryCluster(t *testing.T) {
	for _, cfg := range []Config{after("raft", "", 1), after("blob-lease", "", 1), {Target: "etcd", On: record.OnVirtual, Faults: Faults("etcd", record.OnVirtual)},
		{Target: "etcd", On: record.OnDocker, Faults: Faults("etcd", record.OnDocker)}, {Target: "raft", On: record.OnDocker, Faults: Faults("raft", record.OnDocker)}} {
		h, err := newHunter(cfg)
		require.NoError(t, err)
		for k := range uint64(40) {
			p := record.Plan{Target: cfg.Target, On: cfg.On, Nodes: 2 + int(k%12)}
			rnd := seed.New(k, "fits")
			h.drawOptions(&p, rnd)
			for _, p.Schedule = range []nemesis.Schedule{h.twice(&p, rnd), h.homecoming(&p, rnd)} {
				sortSteps(p.Schedule)
				require.NoError(t, harness.Check(p))
			}
		}
	}
}
