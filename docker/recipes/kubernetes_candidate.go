package recipes

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"recount/internal/hint"
)

func init() { systems["kubernetes-candidate"] = kubernetesCandidate }

var (
	//go:embed kubernetes-candidate/main.go.txt
	kubernetesCandidateMain string
	//go:embed kubernetes-candidate/go.mod.txt
	kubernetesCandidateMod string

	clientGo = regexp.MustCompile(`^0\.(2[4-9]|3[0-4])\.(0|[1-9][0-9]*)$`)
)

// kubernetesCandidate is the recipe for a candidate with a version of client-go.
func kubernetesCandidate(version string) (recipe, error) {
	if !clientGo.MatchString(version) {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: 0.24 to 0.34 of client-go, such as 0.26.15 and 0.34.1")
	}
	return goMain{
		main: kubernetesCandidateMain,
		more: candidateCommon,
		mod:  strings.ReplaceAll(kubernetesCandidateMod, "VERSION", version),
		path: "usr/bin/candidate",
	}, nil
}
