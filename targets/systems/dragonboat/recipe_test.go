package dragonboat

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/targets/systems/systemtest"
)

// A version is built exactly.
func TestRecipes(t *testing.T) {
	require.Contains(t, recipe("4.0.0-20240618143154-6a1623140f27").(recipes.GoMain).Mod, "require github.com/lni/dragonboat/v4 v4.0.0-20240618143154-6a1623140f27\n")
	systemtest.RefusesRecipe(t, "dragonboat", "3.3.8")
}
