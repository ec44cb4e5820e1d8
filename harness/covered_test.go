package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/looked"
	"recount/harness/record"
	"recount/nemesis"
)

// A server that is built to tell which of its statements run makes the same run, and tells the same, each time; it is kept with the run.
func TestWhichStatementsOfAServerRan(t *testing.T) {
	folder, err := filepath.Abs("../examples/race")
	require.NoError(t, err)
	text, err := os.ReadFile("../examples/race/election.yaml")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "covered.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "{package: .}", "{package: "+folder+", cover: ./...}", 1)), 0o644))
	plan := record.Plan{
		Target: file, On: record.OnVirtual, Nodes: 3, Time: 5 * time.Second, Seed: 1,
		Schedule: nemesis.Schedule{{At: time.Second, Fault: "kill", Nodes: nemesis.Named{"leader"}, For: time.Second}},
	}
	r, err := Run(t.Context(), plan, Config{Results: t.TempDir()})
	require.NoError(t, err)
	ran, all := r.Code.Statements()
	require.Greater(t, ran, all/2)
	require.Less(t, ran, all)
	kept, err := os.ReadFile(filepath.Join(r.Dir, record.CoverageFile))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(kept), "mode: set\nrecount/examples/race/main.go:"))
	require.Contains(t, strings.Join(r.Notes, "\n"), "go tool cover -html="+r.Dir)

	again, err := Simulate(t.Context(), plan)
	require.NoError(t, err)
	require.NoError(t, Same(r.History, again.History))
	require.Equal(t, r.Events, again.Events)
	require.Equal(t, r.Code, again.Code)

	with := looked.Of(again, nil)
	again.Code = nil
	require.Greater(t, len(with.Reached), len(looked.Of(again, nil).Reached), "a stretch of statements is something that a run reaches")
	count := looked.NewCount()
	count.Add(file, with)
	count.Add(file, with)
	so := count.So()
	require.Equal(t, []int{ran, all}, []int{so.Code.Ran, so.Code.Statements})
	require.NotEmpty(t, so.Code.Never)
	require.Contains(t, so.Rows()[1].Words, fmt.Sprintf("%d of %d statements ran (", ran, all))
	require.Contains(t, so.Rows()[1].Words, "nothing of ")

	plan.Target = "../examples/race/election.yaml"
	none, err := Simulate(t.Context(), plan)
	require.NoError(t, err)
	require.Nil(t, none.Code)
}
