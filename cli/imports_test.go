package cli

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// arrows are the imports that packages of this module may have of each other; hint, option and random are open to all.
// A new arrow is a decision.
var arrows = map[string]string{
	"cmd/recount":        "cli",
	"cli":                "checkers docker docker/agent docker/node docker/recipes election examples/member foreign harness history hunt inside matrix measure nemesis report scenarios shrink spec suite targets track workloads",
	"track":              "checkers harness history nemesis report scenarios targets",
	"suite":              "checkers harness junit report targets",
	"recounttest":        "checkers docker harness inside report",
	"inside":             "docker docker/agent docker/node election spec targets",
	"hunt":               "checkers harness history nemesis report shrink targets",
	"shrink":             "checkers harness history nemesis report",
	"measure":            "election harness history sim targets terminal",
	"matrix":             "checkers harness nemesis report scenarios targets terminal",
	"harness":            "checkers docker docker/node docker/recipes election history nemesis report scenarios sim spec targets workloads",
	"spec":               "checkers election history targets",
	"report":             "checkers history junit terminal",
	"workloads":          "election history",
	"nemesis":            "history",
	"checkers":           "history",
	"targets":            "election history",
	"sim":                "election history",
	"docker":             "docker/agent history",
	"docker/agent":       "docker/agent/clock docker/disk history",
	"docker/agent/clock": "",
	"docker/disk":        "history",
	"docker/node":        "election history workloads",
	"docker/recipes":     "election",
	"election":           "",
	"history":            "election",
	"edn":                "",
	"junit":              "",
	"terminal":           "",
	"foreign":            "edn history",
	"scenarios":          "",
	"examples/algorithm": "election history targets",
	"examples/driver":    "election history targets",
	"examples/server":    "examples/member",
	"examples/member":    "",
	"hint":               "",
	"option":             "",
	"random":             "",
}

var open = []string{"hint", "option", "random"}

func TestImportsPointOneWay(t *testing.T) {
	root := ".."
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		require.NoError(t, err)
		pkg := filepath.ToSlash(rel)
		allowed, known := arrows[pkg]
		require.True(t, known, "package %s has no place in the picture", pkg)
		seen[pkg] = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			to, ours := strings.CutPrefix(name, "recount/")
			if ours && !slices.Contains(open, to) {
				require.Contains(t, strings.Fields(allowed), to, "%s imports %s", path, name)
			}
		}
		return nil
	})
	require.NoError(t, err)
	for pkg := range arrows {
		require.True(t, seen[pkg], "package %s is gone", pkg)
	}
}
