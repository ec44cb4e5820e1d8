package hashicorpraft

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

	versions = regexp.MustCompile(`^1\.([3-7])\.(0|[1-9][0-9]*)$`)
)

func init() {
	recipes.Register(recipes.System{Name: "hashicorp-raft", Versions: "all from 1.3.9 to 1.7", Recipe: recipe})
}

// recipe is how a member that only elects, by a version of the library, is made.
func recipe(version string) recipes.Recipe {
	m := versions.FindStringSubmatch(version)
	if m == nil || m[1] == "3" && len(m[2]) == 1 && m[2] < "9" {
		return nil
	}
	return recipes.GoMain{
		Main: recipeMain,
		Mod:  strings.ReplaceAll(recipeMod, "VERSION", version),
		Path: "usr/bin/hashicorp-raft",
	}
}
