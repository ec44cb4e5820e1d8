package nats

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/targets/systems/systemtest"
)

// A version is built exactly.
func TestRecipes(t *testing.T) {
	require.Contains(t, recipe("2.9.25").(recipes.GoMain).Mod, "require github.com/nats-io/nats-server/v2 v2.9.25\n")
	require.Contains(t, recipe("2.12.15").(recipes.GoMain).Mod, "require github.com/nats-io/nats-server/v2 v2.12.15\n")
	systemtest.RefusesRecipe(t, "nats", "2.8.4", "2.10", "2.10.1\nreplace x => y")
}
