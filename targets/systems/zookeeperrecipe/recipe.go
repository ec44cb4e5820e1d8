package zookeeperrecipe

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

	versions = regexp.MustCompile(`^1\.0\.[34]$`)
)

func init() {
	recipes.Register(recipes.System{Name: "zookeeper-candidate", Versions: "1.0.3 and 1.0.4 of github.com/go-zookeeper/zk", Recipe: recipe})
}

// recipe is how a candidate with a version of github.com/go-zookeeper/zk is made.
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
