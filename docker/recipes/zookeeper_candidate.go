package recipes

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"recount/internal/hint"
)

func init() { systems["zookeeper-candidate"] = zookeeperCandidate }

var (
	//go:embed zookeeper-candidate/main.go.txt
	zookeeperCandidateMain string
	//go:embed zookeeper-candidate/go.mod.txt
	zookeeperCandidateMod string

	zookeeperClient = regexp.MustCompile(`^1\.0\.[34]$`)
)

// zookeeperCandidate is the recipe for a candidate with a version of github.com/go-zookeeper/zk.
func zookeeperCandidate(version string) (recipe, error) {
	if !zookeeperClient.MatchString(version) {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: 1.0.3 and 1.0.4 of github.com/go-zookeeper/zk")
	}
	return goMain{
		main: zookeeperCandidateMain,
		more: candidateCommon,
		mod:  strings.ReplaceAll(zookeeperCandidateMod, "VERSION", version),
		path: "usr/bin/candidate",
	}, nil
}
