package recipes

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"recount/internal/hint"
)

func init() { systems["dragonboat"] = dragonboat }

var (
	//go:embed dragonboat/main.go.txt
	dragonboatMain string
	//go:embed dragonboat/go.mod.txt
	dragonboatMod string

	dragonboatModule = regexp.MustCompile(`^4\.0\.0-[0-9]{14}-[0-9a-f]{12}$`)
)

// dragonboat is the recipe for a commit of the library, as a pseudo-version names it: of the fourth major version there
// is no release.
func dragonboat(version string) (recipe, error) {
	if !dragonboatModule.MatchString(version) {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: commits, such as 4.0.0-20240618143154-6a1623140f27")
	}
	return goMain{
		main: dragonboatMain,
		mod:  strings.ReplaceAll(dragonboatMod, "VERSION", version),
		path: "usr/bin/dragonboat",
	}, nil
}
