package hashicorpraft

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

	versions = regexp.MustCompile(`^1\.(3\.(9|[1-9][0-9]+)|[4-8]\.(0|[1-9][0-9]*))$`)

	recipe = systems.LibraryRecipe(versions, "hashicorp-raft", recipeMain, recipeMod)
)

func init() {
	recipes.Register(recipes.System{Name: "hashicorp-raft", Versions: "all from 1.3.9 to 1.8", Recipe: recipe})
}
