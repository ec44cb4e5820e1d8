package etcdelection

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

	versions = regexp.MustCompile(`^3\.[5-7]\.(0|[1-9][0-9]*)$`)
)

func init() {
	recipes.Register(recipes.System{Name: "etcd-candidate", Versions: "all of 3.5, 3.6 and 3.7", Recipe: recipe})
}

// recipe is how a candidate with a version of etcd's client is made.
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
