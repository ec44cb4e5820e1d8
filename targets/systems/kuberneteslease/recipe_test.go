package kuberneteslease

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/targets/systems/systemtest"
)

// A version is built exactly.
func TestAPIServerRecipes(t *testing.T) {
	require.Contains(t, apiServerRecipe("1.34.4").(recipes.GoMain).Mod, "require k8s.io/kubernetes v1.34.4\n")
	require.Contains(t, apiServerRecipe("1.34.4").(recipes.GoMain).Mod, "\tk8s.io/apiserver => k8s.io/apiserver v0.34.4\n")
	systemtest.RefusesRecipe(t, "kube-apiserver", "1.33.4", "1.34", "0.34.4")
}
