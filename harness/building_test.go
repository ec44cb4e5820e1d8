package harness

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// What is built is told of runs, too, of which nothing else is.
func TestWhatIsBuiltIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "told")
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/reluctant")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module told\n\ngo 1.25\n"), 0o644))
	var mu sync.Mutex
	var told []string
	ctx := Building(t.Context(), func(line string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, line)
	})
	p := record.Plan{Target: filepath.Join(dir, "election.yaml"), On: record.OnVirtual, Nodes: 3, Time: time.Second}
	_, err := Simulate(ctx, p)
	require.NoError(t, err)
	require.Contains(t, told, "building told for virtual time")
	first := len(told)
	_, err = Simulate(ctx, p)
	require.NoError(t, err)
	require.Len(t, told, first, "what is built already is not told again")
}

// Who is told of a run is told of what is built for it, and nobody else.
func TestARunThatTellsTellsWhatIsBuilt(t *testing.T) {
	var own, others int
	ctx := Building(context.Background(), func(string) { others++ })
	Config{Progress: func(string) { own++ }}.heard(ctx).building("x")
	require.Equal(t, []int{1, 0}, []int{own, others})
	c := Config{}.heard(ctx)
	c.building("x")
	c.Progress("x")
	require.Equal(t, []int{1, 1}, []int{own, others})
	Config{}.heard(t.Context()).building("nobody hears it")
}
