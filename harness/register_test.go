package harness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/nemesis"
)

// Clients read and write a key of real servers, any of which answers. Where those ask the leader, no read is too old while that is
// cut off; where they do not, some are.
func TestTheRegisterOfARealSystem(t *testing.T) {
	for reads, want := range map[string]checkers.Verdict{"linearizable": checkers.Valid, "serializable": checkers.Invalid} {
		t.Run(reads, func(t *testing.T) {
			r, err := Glance(t.Context(), record.Plan{
				Target: "etcd", Options: map[string]string{"reads": reads}, On: record.OnVirtual, Nodes: 3, Seed: 1, Time: 12 * time.Second,
				Workloads: []string{"wander"}, Schedule: nemesis.Schedule{{At: time.Second, Fault: "isolate", Nodes: nemesis.Named{"leader"}, For: 6 * time.Second}},
			})
			require.NoError(t, err)
			v := r.Verdict("linearizable")
			require.Equal(t, want, v.Verdict, v.Why)
			require.Equal(t, reads == "linearizable", v.Promised)
		})
	}
}

// Where a real library keeps a number for clients, no read is too old, and what is written gets through.
func TestTheRegisterOfARealLibrary(t *testing.T) {
	for _, target := range []string{"hashicorp-raft", "dragonboat"} {
		t.Run(target, func(t *testing.T) {
			r, err := Glance(t.Context(), record.Plan{
				Target: target, On: record.OnVirtual, Nodes: 3, Seed: 1, Time: 50 * time.Second,
				Workloads: []string{"register", "wander"}, Schedule: nemesis.Schedule{{At: time.Second, Fault: "isolate", Nodes: nemesis.Named{"leader"}, For: 6 * time.Second}},
			})
			require.NoError(t, err)
			for _, property := range []string{"linearizable", "progress"} {
				v := r.Verdict(property)
				require.Equal(t, checkers.Valid, v.Verdict, v.Why)
				require.True(t, v.Promised || property == "progress" && target == "dragonboat")
			}
		})
	}
}
