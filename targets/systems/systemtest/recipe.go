package systemtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/election"
	"recount/internal/hint"
)

// RefusesRecipe checks that there is no recipe for the versions, and that the error says for which there are.
func RefusesRecipe(t *testing.T, name string, versions ...string) {
	t.Helper()
	for _, version := range versions {
		_, _, err := recipes.Build(t.Context(), election.Image{Recipe: name, Version: version}, nil)
		require.ErrorContains(t, err, "is no version of "+name)
		require.Contains(t, hint.Of(err), "known: ")
	}
}
