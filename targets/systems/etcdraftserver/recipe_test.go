package etcdraftserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/targets/systems/systemtest"
)

// A version is built exactly, from where the library was then.
func TestRecipes(t *testing.T) {
	for version, want := range map[string][2]string{
		"3.2.0":  {"require github.com/coreos/etcd v3.2.0+incompatible\n", `raftlib "github.com/coreos/etcd/raft"`},
		"3.5.0":  {"require go.etcd.io/etcd/raft/v3 v3.5.0\n", `raftlib "go.etcd.io/etcd/raft/v3"`},
		"3.6.0":  {"require go.etcd.io/raft/v3 v3.6.0\n", `raftlib "go.etcd.io/raft/v3"`},
		"3.7.0":  {"require go.etcd.io/raft/v3 v3.7.0\n", `raftlib "go.etcd.io/raft/v3"`},
		"3.3.10": {"require github.com/coreos/etcd v3.3.10+incompatible\n", `pb "github.com/coreos/etcd/raft/raftpb"`},
	} {
		r := recipe(version).(recipes.GoMain)
		require.Contains(t, r.Mod, want[0])
		require.Contains(t, r.Main+r.More[0], want[1])
		require.Equal(t, version == "3.7.0", strings.Contains(r.More[0], "*pb.Message"), "since then messages are pointers")
	}
	systemtest.RefusesRecipe(t, "etcd-raft-server", "3.4.0", "3.8.0", "3.0.0")
}
