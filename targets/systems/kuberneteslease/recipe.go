package kuberneteslease

import (
	_ "embed"
	"regexp"

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
	recipes.Register(recipes.System{
		Name: "kubernetes-candidate", Versions: "0.24 to 0.34 of client-go, such as 0.26.15 and 0.34.1",
		Recipe: systems.CandidateRecipe(clientVersions, candidateMain, candidateMod),
	})
}
