package hunt

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/seed"
	"recount/nemesis"
)

// What turmoil is for: more leaderships in the same time, which is what a real server's computing goes into.
func TestTurmoilHasManyElections(t *testing.T) {
	h, p := ready(t)
	rate := func(draw func(p *record.Plan, k uint64) nemesis.Schedule) float64 {
		begun, passed := 0, time.Duration(0)
		for k := range uint64(40) {
			p := p
			p.Seed, p.Nodes = k, 3+int(k%3)
			if p.Schedule = draw(&p, k); harness.Check(p) != nil {
				continue
			}
			r, err := harness.Simulate(t.Context(), p)
			require.NoError(t, err)
			require.NotEqual(t, record.StatusBroken, r.Status)
			begun += leaderships(r.History.Ops)
			passed += r.Frame().Last
		}
		return float64(begun) / passed.Minutes()
	}
	usual := rate(func(p *record.Plan, k uint64) nemesis.Schedule {
		s, err := h.steps(p, h.swarm(int(k)).faults, 4, seed.New(k, "steps"))
		require.NoError(t, err)
		return s
	})
	turmoil := rate(func(p *record.Plan, k uint64) nemesis.Schedule { return h.turmoil(p, seed.New(k, "turmoil")) })
	t.Logf("leaderships a minute: %.1f in turmoil, %.1f otherwise", turmoil, usual)
	require.Greater(t, turmoil, 2*usual)
}

// leaderships counts them: a term and who leads in it.
func leaderships(ops []history.Op) int {
	type reign struct {
		node string
		term uint64
	}
	seen := map[reign]bool{}
	for i := range ops {
		if op := &ops[i]; op.Type == history.OK && op.View.Claims() {
			seen[reign{op.Node, op.View.Term}] = true
		}
	}
	return len(seen)
}

func TestTurmoilFitsEveryClusterAndTakesOnlyFaultsThatAreDrawn(t *testing.T) {
	cfg := after("etcd", "", 1)
	cfg.On = record.OnVirtual
	for _, faults := range [][]string{Faults("etcd", record.OnVirtual), {"isolate"}, {"kill", "pause", "delay"}} {
		cfg.Faults = faults
		h, err := newHunter(cfg)
		require.NoError(t, err)
		for _, nodes := range []int{2, 3, 6, 13} {
			for k := range uint64(50) {
				p := record.Plan{Target: "etcd", On: record.OnVirtual, Nodes: nodes}
				h.drawOptions(&p, seed.New(k, "options"))
				p.Schedule = h.turmoil(&p, seed.New(k, "turmoil"))
				require.NoError(t, harness.Check(p))
				require.NotEmpty(t, p.Schedule)
				for _, st := range p.Schedule {
					require.Contains(t, faults, st.Fault)
				}
			}
		}
	}
	cfg.Faults = []string{"disk-full"}
	h, err := newHunter(cfg)
	require.NoError(t, err)
	require.Nil(t, h.turmoil(&record.Plan{Target: "etcd", On: record.OnVirtual, Nodes: 3, Time: time.Minute}, seed.New(1, "turmoil")))
}

// A loss of power leaves what disks may have, in turmoil as elsewhere.
func TestTurmoilLeavesWhatDisksMayHave(t *testing.T) {
	cfg := after("etcd", "", 1)
	cfg.On, cfg.Faults = record.OnVirtual, []string{"lose-writes"}
	h, err := newHunter(cfg)
	require.NoError(t, err)
	left := map[string]int{}
	for k := range uint64(20) {
		p := record.Plan{Target: "etcd", On: record.OnVirtual, Nodes: 3}
		h.drawOptions(&p, seed.New(k, "options"))
		for _, st := range h.turmoil(&p, seed.New(k, "turmoil")) {
			left[fmt.Sprint(st.With)]++
		}
	}
	require.Len(t, left, 3, left)
	for _, with := range []string{"map[]", "map[torn:true]", "map[scattered:true]"} {
		require.Positive(t, left[with], left)
	}
}

// Turmoil makes no longer runs of a target of long silences than other plans do.
func TestTurmoilIsNoLongerThanOtherRuns(t *testing.T) {
	cfg := after("etcd", "", 1)
	cfg.On, cfg.Faults = record.OnVirtual, Faults("etcd", record.OnVirtual)
	cfg.Options = map[string][]string{"election-timeout": {"5s"}} // a silence of twice that
	h, err := newHunter(cfg)
	require.NoError(t, err)
	cut := 0
	for k := range uint64(1000) {
		p := record.Plan{Target: "etcd", On: record.OnVirtual, Nodes: 3}
		h.drawOptions(&p, seed.New(k, "options"))
		limit := p.Time
		p.Schedule = h.turmoil(&p, seed.New(k, "turmoil"))
		require.NoError(t, harness.Check(p))
		require.LessOrEqual(t, p.Time, limit)
		require.LessOrEqual(t, p.Schedule.End(), p.Time)
		if p.Time == limit {
			cut++
		}
	}
	require.Positive(t, cut)
}
