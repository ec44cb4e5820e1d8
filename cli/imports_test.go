package cli

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// arrows are the imports that packages of this module may have of each other; count, hint, keyed, option, seed, strict and whole are open to all.
// A new arrow is a decision.
var arrows = map[string]string{
	"cmd/recount":              "cli targets/builtin",
	"cli":                      "checkers checkers/linear docker docker/agent docker/entrypoint docker/member docker/recipes election harness harness/batch harness/bugs harness/campaign harness/campaign/cluster harness/campaign/store harness/claims harness/hunt harness/matrix harness/record harness/shrink harness/suite harness/when history history/jepsen internal/term nemesis report scenarios serve targets targets/specfile targets/specfile/draft targets/specfile/member virtual workloads",
	"serve":                    "checkers harness harness/batch harness/campaign harness/campaign/store harness/matrix harness/record history internal/term nemesis report sim",
	"harness/campaign":         "harness harness/batch harness/campaign/store harness/estimate harness/hunt harness/looked harness/record harness/shrink history report targets workloads",
	"harness/campaign/cluster": "",
	"harness/campaign/store":   "",
	"harness/bugs":             "checkers harness harness/batch harness/record history nemesis report scenarios targets",
	"harness/suite":            "checkers harness harness/batch harness/looked harness/record internal/junit internal/term report targets",
	"recounttest":              "docker docker/entrypoint harness harness/record report checkers",
	"docker/entrypoint":        "docker docker/agent docker/member election targets targets/specfile",
	"harness/hunt":             "checkers harness harness/batch harness/looked harness/record harness/shrink history nemesis report targets workloads",
	"harness/shrink":           "checkers harness harness/batch harness/record history nemesis sim targets",
	"harness/when":             "harness/batch harness/estimate harness/record",
	"harness/claims":           "election harness harness/batch harness/estimate harness/record history internal/term sim targets targets/algorithms/detector",
	"harness/matrix":           "checkers harness harness/batch harness/looked harness/record internal/term nemesis report scenarios targets workloads",
	"harness":                  "checkers checkers/linear docker docker/agent docker/member docker/recipes election harness/record history internal/child internal/gobuild internal/term nemesis report scenarios sim targets targets/specfile virtual virtual/cover virtual/overlay virtual/tcp virtual/wire workloads",
	"targets/specfile":         "checkers election history internal/term targets",
	"harness/batch":            "",
	"harness/estimate":         "",
	"harness/looked":           "harness/estimate harness/record history nemesis virtual/cover",
	"harness/record":           "checkers history nemesis virtual/cover",
	"report":                   "checkers harness/record history internal/junit internal/term",
	"workloads":                "election history",
	"nemesis":                  "history",
	"checkers":                 "checkers/linear history",
	"checkers/linear":          "history",
	"sim":                      "election history sim/clock sim/links",
	"sim/clock":                "",
	"sim/links":                "history",
	"docker":                   "docker/agent history internal/bounded internal/headers internal/later internal/procstat internal/term",
	"docker/agent":             "docker/agent/clock docker/agent/disk history internal/accept internal/appended internal/headers internal/later internal/procstat",
	"docker/agent/clock":       "internal/procstat",
	"docker/agent/disk":        "history",
	"docker/member":            "election history internal/accept workloads",
	"docker/recipes":           "election internal/child",
	"election":                 "",
	"history":                  "election",
	"history/edn":              "",
	"internal/junit":           "",
	"internal/term":            "",
	"history/jepsen":           "history history/edn internal/term",
	"scenarios":                "",
	"virtual":                  "docker/agent/disk history internal/appended internal/bounded internal/later sim/clock sim/links virtual/cover virtual/process virtual/tcp virtual/wire",
	"virtual/cover":            "",
	"virtual/overlay":          "internal/child internal/gobuild virtual/process virtual/wire",
	"virtual/process":          "internal/procstat virtual/wire",
	"virtual/tcp":              "",
	"virtual/wire":             "",
	"examples/algorithm":       "election history targets",
	"examples/driver":          "election history targets",
	"examples/server":          "targets/specfile/member",
	"examples/ledger":          "",
	"examples/race":            "",
	"examples/strangers":       "",
	"targets/specfile/draft":   "internal/term targets/specfile",
	"targets/specfile/member":  "",
	"internal/child":           "",
	"internal/gobuild":         "internal/child",
	"internal/count":           "",
	"internal/headers":         "",
	"internal/hint":            "",
	"internal/keyed":           "",
	"internal/accept":          "",
	"internal/appended":        "",
	"internal/bounded":         "",
	"internal/later":           "",
	"internal/option":          "",
	"internal/panicking":       "",
	"internal/procstat":        "",
	"internal/seed":            "",
	"internal/testled":         "history",
	"internal/testseed":        "",
	"internal/testalone":       "",
	"internal/testlong":        "",
	"internal/strict":          "",
	"internal/whole":           "",

	// A * stands for the folders below: a new system or algorithm needs no line here.
	"targets":              "election history",
	"tools/mutate":         "",
	"tools/kubernetes":     "",
	"tools/kubernetes/*":   "",
	"tools/planted":        "harness/batch harness/looked targets",
	"tools/planted/hunter": "harness/batch harness/hunt harness/matrix harness/record targets targets/algorithms targets/algorithms/etcdraft",
	"targets/builtin":      "targets targets/algorithms targets/algorithms/* targets/systems/*",
	"targets/algorithms":   "election history targets targets/algorithms/detector",
	"targets/algorithms/*": "election history targets",
	"targets/systems":      "docker/recipes election history targets",
	"targets/systems/*":    "docker/recipes election history targets targets/systems targets/systems/*",
}

var open = []string{"internal/count", "internal/hint", "internal/keyed", "internal/option", "internal/panicking", "internal/seed", "internal/strict", "internal/whole"}

func TestImportsPointOneWay(t *testing.T) {
	seen := map[string]bool{}
	for pkg, imports := range imported(t, false) {
		place := named(pkg, slices.Collect(maps.Keys(arrows)))
		require.NotEmpty(t, place, "package %s has no place in the picture", pkg)
		seen[place] = true
		for _, name := range imports {
			to, ours := strings.CutPrefix(name, "recount/")
			if ours && !slices.Contains(open, to) {
				require.NotEmpty(t, named(to, strings.Fields(arrows[place])), "%s imports %s", pkg, name)
			}
		}
	}
	for pkg := range arrows {
		require.True(t, seen[pkg], "package %s is gone", pkg)
	}
}

// TestPropertiesDrawTheSameEachTime: a test whose cases are other ones each time fails when nothing was changed.
func TestPropertiesDrawTheSameEachTime(t *testing.T) {
	drawn := 0
	for pkg, imports := range imported(t, true) {
		if slices.Contains(imports, "pgregory.net/rapid") {
			drawn++
			require.Contains(t, imports, "recount/internal/testseed", "%s draws with rapid: import recount/internal/testseed", pkg)
		}
	}
	require.NotZero(t, drawn)
}

// imported returns what the packages of this module import, by their folders: in their tests, or all but those.
func imported(t *testing.T, tests bool) map[string][]string {
	all := map[string][]string{}
	root := ".."
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") != tests {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		require.NoError(t, err)
		pkg := filepath.ToSlash(rel)
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err, file)
		imports := all[pkg] // and be it that there are none
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			imports = append(imports, name)
		}
		all[pkg] = imports
		return nil
	}))
	return all
}

// named returns the pattern that a package goes by: its own path, or else one with a * for its last part; "" if there is none.
func named(pkg string, patterns []string) string {
	for _, p := range []string{pkg, path.Join(path.Dir(pkg), "*")} {
		if slices.Contains(patterns, p) {
			return p
		}
	}
	return ""
}
