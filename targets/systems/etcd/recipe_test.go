package etcd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/targets/systems/systemtest"
)

func TestRecipes(t *testing.T) {
	for _, version := range []string{"3.5.0", "3.5.35", "3.6.0", "3.6.16", "3.7.3"} {
		g := recipe(version).(recipes.GoMain)
		require.Contains(t, g.Main, `"go.etcd.io/etcd/server/v3/etcdmain"`)
		require.Contains(t, g.Mod, "require go.etcd.io/etcd/server/v3 v"+version+"\n")
	}
	for _, version := range []string{"3.4.15", "3.5.35", "3.6.16"} {
		require.Contains(t, recipe(version).(recipes.GoMain).Sum, "go.etcd.io/bbolt ", "all of its modules are pinned")
	}
	require.Contains(t, recipe("3.4.15").(recipes.GoMain).Main, `"go.etcd.io/etcd/etcdmain"`)
	require.IsType(t, recipes.Debian{}, recipe("3.4.23"))
	systemtest.RefusesRecipe(t, "etcd", "3.4.20", "3.6", "3.6.1/../../main", "")
	require.Equal(t, "quay.io/coreos/etcd:v3.4.20", published("3.4.20").Ref)
	require.Zero(t, published("2.3.8"))
}
