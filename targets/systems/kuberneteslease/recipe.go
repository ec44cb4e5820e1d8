package kuberneteslease

import (
	_ "embed"
	"regexp"
	"strings"

	"recount/docker/recipes"
	"recount/targets/systems"
)

var (
	//go:embed candidate/main.go.txt
	candidateMain string
	//go:embed candidate/go.mod.txt
	candidateMod string

	clientVersions = regexp.MustCompile(`^0\.(2[4-9]|3[0-4])\.(0|[1-9][0-9]*)$`)
)

func init() {
	recipes.Register(recipes.System{Name: "kubernetes-candidate", Versions: "0.24 to 0.34 of client-go, such as 0.26.15 and 0.34.1", Recipe: candidateRecipe})
}

// candidateRecipe is how a candidate with a version of client-go is made.
func candidateRecipe(version string) recipes.Recipe {
	if !clientVersions.MatchString(version) {
		return nil
	}
	return recipes.GoMain{
		Main: candidateMain,
		More: systems.CandidateMain,
		Mod:  strings.ReplaceAll(candidateMod, "VERSION", version),
		Path: "usr/bin/candidate",
	}
}
