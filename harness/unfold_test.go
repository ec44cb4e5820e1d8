package harness

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// A run in virtual time that left nothing on disk is kept with its nodes' logs and messages, if it comes again.
func TestWhatIsKeptHasLogsAndMessages(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the server asks an amd64 for its time")
	}
	for target, again := range map[string]bool{"hunt/testdata/server/simple.yaml": true, "testdata/dice/election.yaml": false} {
		options := map[string]string{"bug": "none"}
		if !again {
			options = map[string]string{"dice": "true"}
		}
		r, err := Simulate(t.Context(), record.Plan{Target: target, Nodes: 3, On: record.OnVirtual, Seed: 1, Time: 5 * time.Second, Options: options})
		require.NoError(t, err)
		results := t.TempDir()
		require.NoError(t, Keep(t.Context(), r, results))
		require.NoError(t, record.Save(r))
		stored, err := record.Read(r.Dir)
		require.NoError(t, err)
		require.NoError(t, Same(r.History, stored.History), target)
		messages := 0
		err = record.EachMessage(os.DirFS(r.Dir), func(*record.Message) { messages++ })
		left, globbed := filepath.Glob(filepath.Join(filepath.Dir(r.Dir), record.Scratch+"*"))
		require.NoError(t, globbed)
		require.Empty(t, left)
		if !again {
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.NoDirExists(t, filepath.Join(r.Dir, "nodes"))
			require.Contains(t, r.Notes, "the nodes' logs and messages are missing: the run of seed 1 was another when it was made again")
			continue
		}
		require.NoError(t, err)
		require.Positive(t, messages)
		require.FileExists(t, filepath.Join(r.Dir, "nodes", "n1.log"))
		require.Empty(t, r.Notes)
	}
}

// Somebody who interrupts that gets the run as it was found, and nothing beside it.
func TestWhatIsInterruptedIsKeptAsItIs(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the server asks an amd64 for its time")
	}
	r, err := Simulate(t.Context(), record.Plan{Target: "hunt/testdata/server/simple.yaml", Nodes: 3, On: record.OnVirtual, Seed: 1, Time: 5 * time.Second})
	require.NoError(t, err)
	for name, ends := range map[string]func(context.Context) context.Context{
		"before": func(ctx context.Context) context.Context {
			ctx, stop := context.WithCancel(ctx)
			stop()
			return ctx
		},
		"meanwhile": func(ctx context.Context) context.Context { return &endsWhenAsked{Context: ctx, left: 3} },
	} {
		t.Run(name, func(t *testing.T) {
			kept, results := *r, t.TempDir()
			require.NoError(t, Keep(ends(t.Context()), &kept, results))
			require.NoError(t, record.Save(&kept))
			stored, err := record.Read(kept.Dir)
			require.NoError(t, err)
			require.NoError(t, Same(r.History, stored.History))
			require.Contains(t, kept.Notes, "the nodes' logs and messages are missing: interrupted before it was made again; what repeats the run writes them")
			require.NoDirExists(t, filepath.Join(kept.Dir, "nodes"))
			left, err := filepath.Glob(filepath.Join(filepath.Dir(kept.Dir), record.Scratch+"*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// endsWhenAsked is a context that ends when it has been asked so often whether it has.
type endsWhenAsked struct {
	context.Context
	left int
}

func (a *endsWhenAsked) Err() error {
	if a.left--; a.left < 0 {
		return context.Canceled
	}
	return a.Context.Err()
}
