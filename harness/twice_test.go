package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// A run that is made twice is the same, and where it is not, the first event that differs is named, with the goroutine's stack.
func TestTwice(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the server asks an amd64 for its time")
	}
	p := record.Plan{
		Target: "testdata/dice/election.yaml", Nodes: 3, On: record.OnVirtual, Seed: 1, Time: 5 * time.Second,
		Options: map[string]string{"dice": "false"},
	}
	r, err := Glance(t.Context(), p)
	require.NoError(t, err)
	require.NotEmpty(t, r.Events)
	require.NoError(t, Twice(t.Context(), r))

	p.Options = map[string]string{"dice": "true"}
	r, err = Glance(t.Context(), p)
	require.NoError(t, err)
	err = Twice(t.Context(), r)
	require.ErrorContains(t, err, "the run of seed 1 was another when it was made again")
	require.ErrorContains(t, err, "of n2's scheduler")
	require.ErrorContains(t, err, "main.main.func1", "the stack of the goroutine that threw")
	t.Log(err)

	p.Options = map[string]string{"tells": "true"}
	r, err = Glance(t.Context(), p)
	require.NoError(t, err)
	err = Twice(t.Context(), r)
	require.ErrorContains(t, err, "in what n2 sends\nin the one, ")
	require.Regexp(t, `in the other, ".*thrown.*[0-9]`, err.Error(), "what it has thrown")
	t.Log(err)
}

// Where the file that describes the servers was changed in between, nobody says of them that they are not the same for a seed.
func TestAFileThatChangesWhileRunsAreMade(t *testing.T) {
	text, err := os.ReadFile("testdata/dice/election.yaml")
	require.NoError(t, err)
	own, err := filepath.Abs("testdata/dice")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "election.yaml")
	text = bytes.Replace(text, []byte("package: ."), []byte("package: "+own), 1)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	r, err := Glance(t.Context(), record.Plan{
		Target: file, Nodes: 3, On: record.OnVirtual, Seed: 1, Time: 5 * time.Second, Options: map[string]string{"dice": "false"},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.Replace(text, []byte("times:"), []byte("environment: {MORE: yes}\ntimes:"), 1), 0o600))
	require.EqualError(t, Twice(t.Context(), r), file+" says something else than when the run of seed 1 was made")
}

// What was cut short is not compared, nor what is not in virtual time.
func TestTwiceLeavesAlone(t *testing.T) {
	r, err := Simulate(t.Context(), record.Plan{Target: "bully", Nodes: 3, Seed: 1, Time: 5 * time.Second})
	require.NoError(t, err)
	r.Events = "another"
	require.NoError(t, Twice(t.Context(), r))
}
