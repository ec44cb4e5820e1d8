package recipes

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"recount/internal/hint"
)

func init() { systems["etcd-candidate"] = etcdCandidate }

// candidateCommon is the file that all candidates share: how they tell their views.
//
//go:embed candidate/candidate.go.txt
var candidateCommon string

var (
	//go:embed etcd-candidate/main.go.txt
	etcdCandidateMain string
	//go:embed etcd-candidate/go.mod.txt
	etcdCandidateMod string

	etcdClient = regexp.MustCompile(`^3\.[5-7]\.(0|[1-9][0-9]*)$`)
)

// etcdCandidate is the recipe for a candidate with a version of etcd's client.
func etcdCandidate(version string) (recipe, error) {
	if !etcdClient.MatchString(version) {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: all of 3.5, 3.6 and 3.7")
	}
	return goMain{
		main: etcdCandidateMain,
		more: candidateCommon,
		mod:  strings.ReplaceAll(etcdCandidateMod, "VERSION", version),
		path: "usr/bin/candidate",
	}, nil
}
