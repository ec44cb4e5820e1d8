package seaweedfsraft

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

	versions = regexp.MustCompile(`^1\.(1\.3|2\.(0|[1-9][0-9]*))$`)

	recipe = systems.LibraryRecipe(versions, "seaweedfs-raft", recipeMain, recipeMod)
)

func init() {
	recipes.Register(recipes.System{Name: "seaweedfs-raft", Versions: "1.1.3 and all of 1.2", Recipe: recipe})
}
