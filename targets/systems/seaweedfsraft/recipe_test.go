package seaweedfsraft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/targets/systems/systemtest"
)

// A version is built exactly.
func TestRecipes(t *testing.T) {
	require.Contains(t, recipe("1.1.3").(recipes.GoMain).Mod, "github.com/seaweedfs/raft v1.1.3\n")
	require.Contains(t, recipe("1.2.0").(recipes.GoMain).Mod, "github.com/seaweedfs/raft v1.2.0\n")
	systemtest.RefusesRecipe(t, "seaweedfs-raft", "1.1.2", "2.0.0")
}
