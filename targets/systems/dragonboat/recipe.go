package dragonboat

import (
	_ "embed"
	"regexp"
	"strings"

	"recount/docker/recipes"
)

var (
	//go:embed recipe/main.go.txt
	recipeMain string
	//go:embed recipe/go.mod.txt
	recipeMod string

	versions = regexp.MustCompile(`^4\.0\.0-[0-9]{14}-[0-9a-f]{12}$`)
)

func init() {
	recipes.Register(recipes.System{Name: "dragonboat", Versions: "commits, such as 4.0.0-20240618143154-6a1623140f27", Recipe: recipe})
}

// recipe is how a commit of the library, as a pseudo-version names it (of the fourth major version there is no release), is made.
func recipe(version string) recipes.Recipe {
	if !versions.MatchString(version) {
		return nil
	}
	return recipes.GoMain{
		Main: recipeMain,
		Mod:  strings.ReplaceAll(recipeMod, "VERSION", version),
		Path: "usr/bin/dragonboat",
	}
}
