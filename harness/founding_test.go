package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/nemesis"
)

// Nodes that join one that is there already are started once it can let them in; and nodes that have to be told so by HTTP are a cluster
// once they were.
func TestNodesBecomeACluster(t *testing.T) {
	for _, target := range []string{"testdata/joiner/election.yaml", "testdata/unformed/election.yaml"} {
		r, err := Simulate(t.Context(), record.Plan{Target: target, On: record.OnVirtual, Nodes: 3, Time: 3 * time.Second, Seed: 1})
		require.NoError(t, err, target)
		last := map[string]history.View{}
		for _, op := range r.History.Ops {
			if op.F == history.Observe && op.Type == history.OK {
				last[op.Node] = op.View
			}
		}
		require.Equal(t, map[string]history.View{
			"n1": {Role: history.Leader, Term: 1, Leader: "n1"}, "n2": {Role: history.Follower, Term: 1, Leader: "n1"}, "n3": {Role: history.Follower, Term: 1, Leader: "n1"},
		}, last, target)
	}
}

// Where a service comes first, nodes are started once it is ready: these would end else.
func TestNodesThatNeedTheirService(t *testing.T) {
	p := record.Plan{Target: "testdata/joiner/served.yaml", On: record.OnVirtual, Nodes: 2, Time: 3 * time.Second, Seed: 1}
	r, err := Simulate(t.Context(), p)
	require.NoError(t, err)
	require.NotEmpty(t, r.History.Ops)
	require.NotEqual(t, checkers.Invalid, r.Verdict("stays-up").Verdict, r.Verdict("stays-up").Why)

	text, err := os.ReadFile(p.Target)
	require.NoError(t, err)
	folder, err := filepath.Abs(filepath.Dir(p.Target))
	require.NoError(t, err)
	p.Target = filepath.Join(t.TempDir(), "unserved.yaml")
	unserved := strings.NewReplacer(", first: true", "", "package: .", "package: "+folder).Replace(string(text))
	require.NoError(t, os.WriteFile(p.Target, []byte(unserved), 0o644))
	_, err = Simulate(t.Context(), p)
	require.ErrorContains(t, err, "before it was ready; it wrote")
	require.Contains(t, hint.Of(err), "first: true of a service")
}

func TestNodesThatAreNeverACluster(t *testing.T) {
	_, err := Simulate(t.Context(), record.Plan{
		Target: "testdata/unformed/election.yaml", Options: map[string]string{"form": "/joined"}, On: record.OnVirtual, Nodes: 3, Time: 3 * time.Second, Seed: 1,
	})
	require.ErrorContains(t, err, "the cluster is not ready after 5s: bootstrap of n1: POST /add?addr=10.9.0.2 answered 503 Service Unavailable")
	require.Contains(t, hint.Of(err), "bootstrap never succeeded")
}

// Of five members three vote. Without two of these nobody leads, however many others are up, and with two of them somebody does.
func TestMembersThatDoNotVoteMakeNoMajority(t *testing.T) {
	for _, target := range []string{"etcd", "hashicorp-raft"} {
		t.Run(target, func(t *testing.T) {
			if target != "etcd" && testing.Short() {
				t.Skip("the other one shows it")
			}
			var schedule nemesis.Schedule
			for i, n := range []string{"n1", "n2", "n3", "n4", "n5"} {
				at := time.Second
				if i > 1 {
					at = 45 * time.Second
				}
				schedule = append(schedule, nemesis.Step{At: at, Fault: "kill", Nodes: nemesis.Named{n}, For: 36 * time.Second})
			}
			r, err := Simulate(t.Context(), record.Plan{
				Target: target, Options: map[string]string{"voters": "3"}, On: record.OnVirtual, Nodes: 5, Seed: 1, Time: 90 * time.Second,
				Schedule: schedule,
			})
			require.NoError(t, err)
			require.Equal(t, []string{"n1", "n2", "n3"}, r.Setup().Voting)
			require.Equal(t, record.StatusHeld, r.Status)
			require.Equal(t, checkers.Valid, r.Verdict("quorum").Verdict, r.Verdict("quorum").Why)
			require.Equal(t, checkers.Valid, r.Verdict("elects").Verdict, r.Verdict("elects").Why)
			learned := map[string]bool{}
			for _, op := range r.History.Ops {
				v := op.View
				if v.Leader != "" && v.Role == history.Follower {
					learned[op.Node] = true
				}
				require.False(t, v.Role == history.Leader && (op.Node == "n4" || op.Node == "n5"), "%v", op)
			}
			require.True(t, learned["n4"] && learned["n5"], "they are members, and hear who leads")
		})
	}
}

func TestWhoMayHaveLearners(t *testing.T) {
	p := record.Plan{Target: "etcd", Nodes: 5, On: record.OnVirtual, Options: map[string]string{"voters": "3"}}
	require.NoError(t, Check(p))
	p.Options["version"] = "3.5.35"
	require.ErrorContains(t, Check(p), "etcd 3.5.35 has one learner at most")
	require.Equal(t, "take --nodes 4, or version 3.6", hint.Of(Check(p)))
	p.Nodes = 4
	require.NoError(t, Check(p))
	p.Options["voters"] = "none"
	require.ErrorContains(t, Check(p), `option voters: "none"`)
}
