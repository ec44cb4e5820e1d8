package redlock

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

	versions = regexp.MustCompile(`^4\.1[0-9]\.(0|[1-9][0-9]*)$`)
)

func init() {
	recipes.Register(recipes.System{
		Name: "redlock-candidate", Versions: "4.10 to 4.19 of github.com/go-redsync/redsync",
		Recipe: systems.CandidateRecipe(versions, recipeMain, recipeMod),
	})
}
