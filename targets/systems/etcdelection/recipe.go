package etcdelection

import (
	_ "embed"
	"regexp"

	"recount/docker/recipes"
	"recount/targets/systems"
)

var (
	//go:embed recipe/main.go.txt
	recipeMain string
	//go:embed recipe/go.mod.txt
	recipeMod string

	versions = regexp.MustCompile(`^3\.[5-7]\.(0|[1-9][0-9]*)$`)
)

func init() {
	recipes.Register(recipes.System{
		Name: "etcd-candidate", Versions: "all of 3.5, 3.6 and 3.7",
		Recipe: systems.CandidateRecipe(versions, recipeMain, recipeMod),
	})
}
