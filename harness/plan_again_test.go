package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
)

// described is a stored run in virtual time of a target that a file at a path describes, as a replay finds it.
func described(t *testing.T, file, text string) *record.Run {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	dir, err := makeFolder(filepath.Join(t.TempDir(), "results"), file)
	require.NoError(t, err)
	require.NoError(t, keepDefinition(dir, &record.Run{Description: text}))
	setup := &history.Setup{Target: file, Cluster: record.OnVirtual, Nodes: []string{"n1", "n2", "n3"}, Seed: 7, Options: map[string]string{}, Version: Version}
	h, err := history.New([]history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: setup}})
	require.NoError(t, err)
	return &record.Run{Dir: dir, History: h, DescribedBy: absolute(file), Plan: record.Plan{Target: file, On: record.OnVirtual, Nodes: 3, Seed: 7}}
}

// A replay finds the file that describes its target from another folder, and by its copy where it is gone and nothing else is needed.
func TestAReplayFindsTheFileThatDescribesItsTarget(t *testing.T) {
	t.Chdir(t.TempDir())
	r := described(t, "mine/server.yaml", definition)
	plan := func(target string) (*Replay, error) { return PlanReplay(r, record.Plan{Seed: 7, Target: target}) }
	again, err := plan("")
	require.NoError(t, err)
	require.Equal(t, "mine/server.yaml", again.Plan.Target)

	t.Chdir(t.TempDir())
	again, err = plan("")
	require.NoError(t, err)
	require.Equal(t, r.DescribedBy, again.Plan.Target)

	moved := filepath.Join(t.TempDir(), "moved.yaml")
	require.NoError(t, os.Rename(r.DescribedBy, moved))
	again, err = plan(moved)
	require.NoError(t, err)
	require.Equal(t, moved, again.Plan.Target)
	require.Empty(t, again.Plan.Recorded, "the same file at another path is no other target")
	again, err = plan("")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(r.Dir, record.DefinitionFile), again.Plan.Target)
	require.Contains(t, strings.Join(again.Notes, "\n"), "its copy in the run's folder takes its place")

	require.NoError(t, os.WriteFile(r.DescribedBy, []byte(definition+"about: changed\n"), 0o644))
	again, err = plan("")
	require.NoError(t, err)
	require.Contains(t, strings.Join(again.Notes, "\n"), "does not say what it said when the run was made")
}

// A file of the same name in another folder is not taken for the one that described the target, and one that has changed is told, also
// where it is named.
func TestAReplayTakesTheFileThatSaysWhatItSaid(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	r := described(t, "server.yaml", definition)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("server.yaml", []byte(definition+"about: another\n"), 0o644))
	again, err := PlanReplay(r, record.Plan{Seed: 7})
	require.NoError(t, err)
	require.Equal(t, r.DescribedBy, again.Plan.Target)
	require.NotContains(t, strings.Join(again.Notes, "\n"), "does not say")
	require.Empty(t, again.Edited)

	t.Chdir(root)
	require.NoError(t, os.WriteFile("server.yaml", []byte(definition+"about: changed\n"), 0o644))
	again, err = PlanReplay(r, record.Plan{Seed: 7, Target: "server.yaml"})
	require.NoError(t, err)
	require.Contains(t, strings.Join(again.Notes, "\n"), "does not say what it said when the run was made")
	require.Equal(t, "server.yaml", again.Edited)

	require.NoError(t, os.Remove("server.yaml"))
	_, err = PlanReplay(r, record.Plan{Seed: 7, Target: "server.yaml"})
	require.ErrorContains(t, err, "server.yaml")
}

// What lies where a replay is asked for is no copy of anything.
func TestAReplayOfAHistoryAwayFromItsFolderHasNoCopy(t *testing.T) {
	r := described(t, filepath.Join(t.TempDir(), "server.yaml"), definition)
	require.NoError(t, os.Remove(r.DescribedBy))
	r.Dir = ""
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile(record.DefinitionFile, []byte(definition), 0o644))
	_, err := PlanReplay(r, record.Plan{Seed: 7})
	require.ErrorContains(t, err, "the file that describes the target is not at")
}

func TestAReplaySaysWhatIsGoneOfItsTarget(t *testing.T) {
	root := t.TempDir()
	server := filepath.Join(root, "server")
	require.NoError(t, os.MkdirAll(server, 0o755))
	file := filepath.Join(root, "server.yaml")
	r := described(t, file, strings.Replace(definition, "image: server:1", "binary: {package: ./server}", 1))
	_, err := PlanReplay(r, record.Plan{Seed: 7})
	require.NoError(t, err)

	require.NoError(t, os.Remove(server))
	_, err = PlanReplay(r, record.Plan{Seed: 7})
	require.ErrorContains(t, err, "what the nodes are made of is not there: stat "+server)
	require.Contains(t, hint.Of(err), "--target FILE")

	require.NoError(t, os.Remove(file))
	_, err = PlanReplay(r, record.Plan{Seed: 7})
	require.ErrorContains(t, err, "the file that describes the target is not at "+file+" any more")
	require.Contains(t, hint.Of(err), filepath.Join(r.Dir, record.DefinitionFile)+" is a copy of it")
	require.NoError(t, os.Remove(filepath.Join(r.Dir, record.DefinitionFile)))
	_, err = PlanReplay(r, record.Plan{Seed: 7})
	require.Equal(t, "--target FILE says where it is", hint.Of(err))
}

// Where the file lies that describes a target makes no difference to a history.
func TestTheSameHistoryFromAnotherFolder(t *testing.T) {
	here := described(t, filepath.Join(t.TempDir(), "server.yaml"), definition)
	there := described(t, filepath.Join(t.TempDir(), "other", "server.yaml"), definition)
	require.NoError(t, Same(here.History, there.History))
	there.History.Ops[0].Setup.Seed = 8
	require.Error(t, Same(here.History, there.History))
}
