package redlock

import (
	_ "embed"
	"regexp"
	"strings"

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
	recipes.Register(recipes.System{Name: "redlock-candidate", Versions: "4.10 to 4.19 of github.com/go-redsync/redsync", Recipe: recipe})
}

// recipe is how a candidate with a version of github.com/go-redsync/redsync is made.
func recipe(version string) recipes.Recipe {
	if !versions.MatchString(version) {
		return nil
	}
	return recipes.GoMain{
		Main: recipeMain,
		More: systems.CandidateMain,
		Mod:  strings.ReplaceAll(recipeMod, "VERSION", version),
		Path: "usr/bin/candidate",
	}
}
