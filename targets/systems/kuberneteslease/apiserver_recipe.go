package kuberneteslease

import (
	_ "embed"
	"regexp"
	"strings"

	"recount/docker/recipes"
)

var (
	//go:embed apiserver/main.go.txt
	apiServerMain string
	//go:embed apiserver/go.mod.txt
	apiServerMod string

	apiServerVersions = regexp.MustCompile(`^1\.(34\.(?:0|[1-9][0-9]*))$`)
)

func init() {
	recipes.Register(recipes.System{Name: "kube-apiserver", Versions: "all of 1.34", Recipe: apiServerRecipe})
}

// apiServerRecipe is how a version of kube-apiserver, with the etcd that this version was made with, is made.
func apiServerRecipe(version string) recipes.Recipe {
	v := apiServerVersions.FindStringSubmatch(version)
	if v == nil {
		return nil
	}
	return recipes.GoMain{
		Main: apiServerMain,
		Mod:  strings.ReplaceAll(apiServerMod, "VERSION", v[1]), // its modules are 0.34.4 where it is 1.34.4
		Path: "usr/bin/server",
	}
}
