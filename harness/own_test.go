package harness

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/nemesis"
)

func sealed(schedule ...nemesis.Step) record.Plan {
	return record.Plan{Target: "testdata/sealed/election.yaml", On: record.OnVirtual, Nodes: 3, Time: 5 * time.Second, Seed: 1, Schedule: schedule}
}

// A fault that the target describes itself is begun, felt and healed; what it makes of the node is held against nobody. A node that ends
// over one is started again with the healing.
func TestAFaultOfTheTargetsOwn(t *testing.T) {
	r, err := Simulate(t.Context(), sealed(
		nemesis.Step{At: time.Second, Fault: "own", Nodes: nemesis.Named{"n2"}, With: map[string]string{"name": "mute"}, For: time.Second},
		nemesis.Step{At: 3 * time.Second, Fault: "own", Nodes: nemesis.Named{"n3"}, With: map[string]string{"name": "end"}, For: time.Second},
	))
	require.NoError(t, err)
	mute, silent, spoke, back := false, 0, 0, false
	var did []string
	for _, op := range r.History.Ops {
		switch {
		case op.Process == history.Nemesis && op.Type != history.Invoke:
			mute = op.F == history.Inject && op.Fault.Title() == "mute n2"
			did = append(did, fmt.Sprintf("%s %s %s", op.F, op.Fault.Title(), op.Type))
		case op.F == history.Observe && op.Node == "n3" && op.Type == history.OK:
			back = len(did) == 4
		case op.F == history.Observe && op.Node == "n2" && op.Type == history.OK && mute:
			spoke++
		case op.F == history.Observe && op.Node == "n2" && op.Type == history.Fail && mute:
			silent++
		}
	}
	require.Equal(t, []string{"inject mute n2 ok", "heal mute n2 ok", "inject end n3 ok", "heal end n3 ok"}, did)
	require.LessOrEqual(t, spoke, 1, "an answer that was under way")
	require.Greater(t, silent, 10)
	require.True(t, back, "n3 is not heard again")
	require.NotEqual(t, checkers.Invalid, r.Verdict("stays-up").Verdict, r.Verdict("stays-up").Why)
	require.Equal(t, record.StatusHeld, r.Status)

	again, err := Simulate(t.Context(), r.Plan)
	require.NoError(t, err)
	require.NoError(t, Same(r.History, again.History))
}

// A fault is over with the process that had it, though the next one refuses to end what it does not have.
func TestAFaultOfTheTargetsOwnEndsWithItsProcess(t *testing.T) {
	r, err := Simulate(t.Context(), sealed(
		nemesis.Step{At: time.Second, Fault: "own", Nodes: nemesis.Named{"n2"}, With: map[string]string{"name": "mute"}, For: 3 * time.Second},
		nemesis.Step{At: 2 * time.Second, Fault: "kill", Nodes: nemesis.Named{"n2"}, For: time.Second},
	))
	require.NoError(t, err)
	var came []history.Type
	for _, op := range r.History.Ops {
		if op.Process == history.Nemesis && op.Type != history.Invoke && op.Fault != nil && len(op.Fault.Owns()) > 0 {
			came = append(came, op.Type)
		}
	}
	require.Equal(t, []history.Type{history.OK, history.OK}, came)
}

// They are drawn by their name, and where a target has none, or not that one, it is said before the run.
func TestFaultsOfTheTargetsOwnAreKnown(t *testing.T) {
	p := sealed()
	p.Time, p.Faults = time.Minute, []string{"own"}
	r, err := Simulate(t.Context(), p)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, op := range r.History.Ops {
		if op.F == history.Inject {
			for _, o := range op.Fault.Owns() {
				names[o.Fault] = true
			}
		}
	}
	require.Equal(t, map[string]bool{"mute": true, "end": true, "cry": true}, names)

	for name, want := range map[string][2]string{
		"":     {"own: which of the faults of", "with: {name: mute}, or {name: end}, or {name: cry}"},
		"mut":  {`unknown fault of the target's own "mut"`, `did you mean "mute"?`},
		"mute": {},
	} {
		err := Check(sealed(nemesis.Step{At: time.Second, Fault: "own", Nodes: nemesis.Named{"n2"}, With: map[string]string{"name": name}, For: time.Second}))
		if want[0] == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want[0])
		require.Contains(t, hint.Of(err), want[1])
	}
	for _, p := range []record.Plan{
		{Target: "raft", On: record.OnSim, Faults: []string{"own"}, Time: time.Minute},
		{Target: "raft", On: record.OnSim, Schedule: nemesis.Schedule{{Fault: "own", With: map[string]string{"name": "mute"}}}},
	} {
		require.ErrorContains(t, Check(p), "own: raft describes no faults of its own")
	}
}
