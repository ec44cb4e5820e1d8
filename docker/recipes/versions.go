package recipes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"recount/internal/hint"
)

// What is said of a version that a module does not have: once, with those that there are.

// lacking is what the go command says of such a version, in the words of the proxy or of the repository.
var lacking = regexp.MustCompile(`(\S+)@(v[0-9][^\s:]*): .*(?:unknown revision|404 Not Found|410 Gone|403 Forbidden|no matching versions|not found)`)

// mostVersions is how many of them are named.
const mostVersions = 12

// ofVersions returns the error of a build, or where a version was wanted that there is not, one that says so.
func ofVersions(ctx context.Context, built error) error {
	if built == nil || ctx.Err() != nil {
		return built
	}
	m := lacking.FindStringSubmatch(built.Error())
	if m == nil {
		return built
	}
	module, version := m[1], m[2]
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-versions", module+"@latest")
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GO111MODULE=on", "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	known := strings.Fields(string(out))
	if err != nil || len(known) < 2 {
		return hint.Add(fmt.Errorf("there is no %s of %s to be had", version, module), "go list -m -versions %s lists those that there are", module)
	}
	return hint.Add(fmt.Errorf("there is no %s of %s to be had", version, module), "the module proxy lists %s", strings.Join(near(known[1:], version), ", "))
}

// near picks the versions of the same minor version, or else the latest.
func near(all []string, version string) (some []string) {
	if parts := strings.Split(version, "."); len(parts) > 2 {
		for _, v := range all {
			if strings.HasPrefix(v, parts[0]+"."+parts[1]+".") && !strings.Contains(v, "-") {
				some = append(some, v)
			}
		}
	}
	if len(some) == 0 {
		some = all
	}
	return some[max(0, len(some)-mostVersions):]
}
