package recipes

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"recount/internal/hint"
)

func init() { systems["hashicorp-raft"] = hashicorpRaft }

var (
	//go:embed hashicorp-raft/main.go.txt
	hashicorpRaftMain string
	//go:embed hashicorp-raft/go.mod.txt
	hashicorpRaftMod string

	hashicorpRaftModule = regexp.MustCompile(`^1\.([3-7])\.(0|[1-9][0-9]*)$`)
)

// hashicorpRaft is the recipe for a version of the library: a member that only elects.
func hashicorpRaft(version string) (recipe, error) {
	m := hashicorpRaftModule.FindStringSubmatch(version)
	if m == nil || m[1] == "3" && len(m[2]) == 1 && m[2] < "9" {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: all from 1.3.9 to 1.7")
	}
	return goMain{
		main: hashicorpRaftMain,
		mod:  strings.ReplaceAll(hashicorpRaftMod, "VERSION", version),
		path: "usr/bin/hashicorp-raft",
	}, nil
}
