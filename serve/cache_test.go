package serve

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// broken are files that cannot be read for a while, as those of a bucket when the network is away.
type broken struct {
	fs.FS
	now *atomic.Bool
}

func (b broken) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	if d, lists := f.(fs.ReadDirFile); lists && b.now.Load() && name != "." {
		return unread{d}, err
	}
	return f, err
}

type unread struct{ fs.ReadDirFile }

func (unread) Read([]byte) (int, error) { return 0, errors.New("the network is away") }

// A run that could not be read is read again: nothing about it has changed, and nothing need.
func TestWhatCouldNotBeReadIsReadAgain(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	var away atomic.Bool
	s := newServer(Config{Results: results}, broken{os.DirFS(results), &away}, func() error { return nil })
	require.NoError(t, s.index.refresh())
	ops := "/api/v1/runs/" + id(t, results, r) + "/ops"
	runs := s.index.now().runs

	away.Store(true)
	require.Equal(t, http.StatusUnprocessableEntity, get(s.Handler(), ops).Code)
	require.Eventually(t, func() bool { have, missing := s.digests.of(runs); return len(have)+missing == 0 }, time.Minute, time.Millisecond)
	away.Store(false)
	require.Equal(t, http.StatusOK, get(s.Handler(), ops).Code)
	have, missing := s.digests.of(runs)
	require.Zero(t, len(have)+missing, "it was tried a moment ago")

	s.digests.mu.Lock()
	for id, k := range s.digests.kept {
		k.read = k.read.Add(-2 * recheck)
		s.digests.kept[id] = k
	}
	s.digests.mu.Unlock()
	require.Eventually(t, func() bool { have, _ := s.digests.of(runs); return len(have) == 1 }, time.Minute, time.Millisecond)
}
