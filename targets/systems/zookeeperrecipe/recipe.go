package zookeeperrecipe

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

	versions = regexp.MustCompile(`^1\.0\.[34]$`)
)

func init() {
	recipes.Register(recipes.System{
		Name: "zookeeper-candidate", Versions: "1.0.3 and 1.0.4 of github.com/go-zookeeper/zk",
		Recipe: systems.CandidateRecipe(versions, recipeMain, recipeMod),
	})
}
