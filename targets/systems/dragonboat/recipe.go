package dragonboat

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

	// A recipe is of a commit, as a pseudo-version names it: of the fourth major version there is no release.
	versions = regexp.MustCompile(`^4\.0\.0-[0-9]{14}-[0-9a-f]{12}$`)

	recipe = systems.LibraryRecipe(versions, "dragonboat", recipeMain, recipeMod)
)

func init() {
	recipes.Register(recipes.System{Name: "dragonboat", Versions: "commits, such as 4.0.0-20240618143154-6a1623140f27", Recipe: recipe})
}
