package hashicorpraft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/targets/systems/systemtest"
)

// A version is built exactly.
func TestRecipes(t *testing.T) {
	require.Contains(t, recipe("1.3.9").(recipes.GoMain).Mod, "replace github.com/hashicorp/raft => github.com/hashicorp/raft v1.3.9\n")
	require.Contains(t, recipe("1.7.3").(recipes.GoMain).Mod, "replace github.com/hashicorp/raft => github.com/hashicorp/raft v1.7.3\n")
	require.Contains(t, recipe("1.8.0").(recipes.GoMain).Mod, "replace github.com/hashicorp/raft => github.com/hashicorp/raft v1.8.0\n")
	systemtest.RefusesRecipe(t, "hashicorp-raft", "1.3.8", "1.9.0", "2.0.0")
}
