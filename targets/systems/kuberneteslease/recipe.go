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
	//go:embed candidate/lock.go.txt
	lockFile string // the record, as all that elect by client-go keep it
	//go:embed manager/main.go.txt
	managerMain string
	//go:embed manager/go.mod.txt
	managerMod string

	clientVersions  = regexp.MustCompile(`^0\.(2[4-9]|3[0-7])\.(0|[1-9][0-9]*)$`)
	managerVersions = regexp.MustCompile(`^0\.(1[6-9]|2[0-5])\.(0|[1-9][0-9]*)$`)
)

func init() {
	recipes.Register(recipes.System{
		Name: "kubernetes-candidate", Versions: "0.24 to 0.37 of client-go, such as 0.26.15 and 0.37.2",
		Recipe: systems.CandidateRecipe(clientVersions, candidateMain, candidateMod, lockFile),
	})
	recipes.Register(recipes.System{
		Name: "controller-runtime-candidate", Versions: "0.16 to 0.25 of controller-runtime, such as 0.17.2 and 0.25.3",
		Recipe: systems.CandidateRecipe(managerVersions, managerMain, managerMod, lockFile),
	})
}
