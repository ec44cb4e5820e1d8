package seaweedfsraft

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

	versions = regexp.MustCompile(`^1\.(1\.3|2\.(0|[1-9][0-9]*))$`)
)

func init() {
	recipes.Register(recipes.System{Name: "seaweedfs-raft", Versions: "1.1.3 and all of 1.2", Recipe: recipe})
}

// recipe is how a member that only elects, by a version of the library, is made.
func recipe(version string) recipes.Recipe {
	if !versions.MatchString(version) {
		return nil
	}
	return recipes.GoMain{
		Main: recipeMain,
		Mod:  strings.ReplaceAll(recipeMod, "VERSION", version),
		Path: "usr/bin/seaweedfs-raft",
	}
}
