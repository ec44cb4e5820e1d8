package recipes

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"recount/internal/hint"
)

func init() { systems["redlock-candidate"] = redlockCandidate }

var (
	//go:embed redlock-candidate/main.go.txt
	redlockCandidateMain string
	//go:embed redlock-candidate/go.mod.txt
	redlockCandidateMod string

	redsync = regexp.MustCompile(`^4\.1[0-9]\.(0|[1-9][0-9]*)$`)
)

// redlockCandidate is the recipe for a candidate with a version of github.com/go-redsync/redsync.
func redlockCandidate(version string) (recipe, error) {
	if !redsync.MatchString(version) {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: 4.10 to 4.19 of github.com/go-redsync/redsync")
	}
	return goMain{
		main: redlockCandidateMain,
		more: candidateCommon,
		mod:  strings.ReplaceAll(redlockCandidateMod, "VERSION", version),
		path: "usr/bin/candidate",
	}, nil
}
