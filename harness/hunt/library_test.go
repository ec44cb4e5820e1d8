package hunt

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/election"
	"recount/harness"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/internal/testlong"
	"recount/virtual/overlay"
)

// hashicorp is a hunt in virtual time of servers that elect by a copy of a published library, to which a diff of
// testdata/libraries was applied; "" leaves it as it is.
func hashicorp(t *testing.T, diff, version string) Config {
	t.Helper()
	testlong.Only(t)
	image := election.Image{Recipe: "hashicorp-raft", Version: version}
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	below := filepath.Join(cache, "recount", "virtual", "libraries", cmp.Or(diff, "as-published")) // the same each time: what is built of it is kept by its name
	require.NoError(t, os.RemoveAll(below))
	tell := func(line string) { t.Log(line) }
	dir, pkg, err := recipes.Source(t.Context(), image, below, tell)
	require.NoError(t, err)
	if diff != "" {
		patch, err := filepath.Abs(filepath.Join("testdata", "libraries", diff+".diff"))
		require.NoError(t, err)
		command := func(dir, name string, args ...string) string {
			cmd := exec.CommandContext(t.Context(), name, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			return strings.TrimSpace(string(out))
		}
		const library = "github.com/hashicorp/raft"
		at := filepath.Join(dir, "library")
		require.NoError(t, os.CopyFS(at, os.DirFS(command(dir, "go", "list", "-m", "-f", "{{.Dir}}", library))))
		command(at, "git", "apply", patch)
		command(dir, "go", "mod", "edit", "-replace="+library+"=./library")
	}
	path, err := overlay.Build(t.Context(), overlay.Program{Dir: dir, Package: pkg}, tell)
	require.NoError(t, err)
	harness.UseProgram(harness.Program{Image: image, Path: path})
	return Config{
		Target: "hashicorp-raft", On: record.OnVirtual, Nodes: [2]int{3, 3}, Seed: 1, Time: 20 * time.Second,
		Options: map[string][]string{"version": {version}},
		Faults:  Faults("hashicorp-raft", record.OnVirtual),
	}
}

// found hunts, shrinks what is found, and makes the run of that again.
func found(t *testing.T, cfg Config) *Kept {
	t.Helper()
	r, err := Hunt(t.Context(), cfg)
	require.NoError(t, err)
	require.Len(t, r.Findings, 1, "in %d runs", r.Runs)
	keeper := Keeper{Results: t.TempDir(), Origin: "RECOUNT_LONG=1 go test ./harness/hunt -run " + t.Name(), Shrink: shrink.Config{Runs: 400, Measure: 20}}
	kept, err := keeper.Keep(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, kept, 1)
	least := kept[0]
	text, err := os.ReadFile(least.File)
	require.NoError(t, err)
	t.Logf("run %d: %s\n%s", least.Run, least.Why, text)
	for range 100 {
		again, err := harness.Simulate(t.Context(), least.Shrunk.Run.Plan)
		require.NoError(t, err)
		require.Equal(t, least.Shrunk.Run.Events, again.Events)
	}
	return least
}

// none hunts for as long as what was planted may take to be found, several times over, and finds nothing.
func none(t *testing.T, cfg Config) {
	t.Helper()
	cfg.Runs = 150
	r, err := Hunt(t.Context(), cfg)
	require.NoError(t, err)
	require.Empty(t, r.Findings)
}

// Two candidates of one term get one vote, since it is looked up on a disk that it has not come to yet.
func TestAVoteThatIsAnsweredBeforeItIsWritten(t *testing.T) {
	cfg := hashicorp(t, "vote-while-written", "1.7.3")
	cfg.Runs = 2000
	require.Equal(t, "single-leader-per-term", found(t, cfg).Property)

	none(t, hashicorp(t, "", "1.7.3"))
}

// A leader that is cut off goes on to lead, since it counts itself twice. None of what the library promises depends on its
// lease; as it is, links alone do not make two leaders at one time.
func TestALeaseThatCountsItsLeaderTwice(t *testing.T) {
	links := func(cfg Config) Config {
		cfg.Property, cfg.Faults = "exclusive-leadership", []string{"isolate", "partition", "cut-link", "cut-one-way", "delay"}
		return cfg
	}
	cfg := links(hashicorp(t, "lease-counts-self-twice", "1.7.3"))
	cfg.Runs = 300
	found(t, cfg)
	none(t, links(hashicorp(t, "", "1.7.3")))
}
