package serve

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
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
	var passed atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	s := newServer(Config{Results: results, Now: now}, broken{os.DirFS(results), &away}, func() error { return nil })
	require.NoError(t, s.index.refresh())
	ops := "/api/v1/runs/" + id(t, results, r) + "/ops"
	runs := s.index.now().runs

	away.Store(true)
	require.Equal(t, http.StatusUnprocessableEntity, get(s.Handler(), ops).Code)
	require.Eventually(t, func() bool { have, missing := s.digests.of(t.Context(), runs); return len(have)+missing == 0 }, time.Minute, time.Millisecond)
	away.Store(false)
	require.Equal(t, http.StatusOK, get(s.Handler(), ops).Code)
	have, missing := s.digests.of(t.Context(), runs)
	require.Zero(t, len(have)+missing, "it was tried a moment ago")

	passed.Store(int64(2 * recheck))
	require.Eventually(t, func() bool { have, _ := s.digests.of(t.Context(), runs); return len(have) == 1 }, time.Minute, time.Millisecond)
}

// What is wrong with a history itself is found out once, and again when the history is another.
func TestAHistoryThatCannotBeReadIsReadOnce(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	file := filepath.Join(r.Dir, record.HistoryFile)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append([]byte("no op\n"), text...), 0o644))
	s, h := open(t, Config{Results: results})
	at := "/runs/" + id(t, results, r) + "/"
	page := get(h, at).Body.String()
	require.Contains(t, page, "Its history cannot be read")
	for _, link := range []string{`href="report.html"`, `href="report.txt"`, `src="timeline.svg"`} {
		require.Contains(t, page, link, "what was stored")
	}
	require.True(t, s.runs.has(id(t, results, r), lastWritten(os.DirFS(r.Dir))))
	require.Equal(t, http.StatusUnprocessableEntity, get(h, "/api/v1"+at+"ops").Code)

	require.NoError(t, os.WriteFile(file, text, 0o644))
	require.NoError(t, os.Chtimes(file, time.Time{}, time.Now().Add(time.Second)))
	require.Equal(t, http.StatusOK, get(h, "/api/v1"+at+"ops").Code)

	_, err = record.ReadFS(os.DirFS(r.Dir), 9*history.OpSize)
	require.True(t, lasting(err))
	require.False(t, lasting(errors.New("the network is away")))
}

// A small history of somebody else's, or another file, does not take all of the memory: it is told to be too long.
func TestResultsThatUnpackToTooMuch(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	line := []byte(`{"index":0,"time":0,"process":1,"type":"invoke","f":"observe","node":"n1"}` + "\n")
	folder := fstest.MapFS{record.HistoryFile: &fstest.MapFile{Data: bytes.Repeat(line, 1000)}}
	text, err := os.ReadFile(filepath.Join(r.Dir, record.RunFile))
	require.NoError(t, err)
	folder[record.RunFile] = &fstest.MapFile{Data: text}
	_, err = record.ReadFS(folder, 999*history.OpSize)
	require.ErrorContains(t, err, "the first 999 ops are all that fits")
	folder[record.RunFile] = &fstest.MapFile{Data: append(text, make([]byte, record.MostJSON)...)}
	_, err = record.OutlineFS(folder)
	require.ErrorContains(t, err, "run.json: it is longer than 64 MiB")

	require.NoError(t, os.Truncate(filepath.Join(r.Dir, record.RunFile), record.MostJSON+1)) // a hole
	_, h := open(t, Config{Results: results})
	require.Contains(t, get(h, "/runs").Body.String(), "longer than 64 MiB")
}

// Who has gone away waits for no digest, and nothing is read once the server is closed.
func TestDigestsAreWaitedForNoLongerThanNeedBe(t *testing.T) {
	reading, goOn := make(chan string, 10), make(chan struct{})
	d := digests{read: func(id string) (*digest, error) { reading <- id; <-goOn; return &digest{}, nil }, clock: time.Now}
	runs := []*Run{{ID: "a"}, {ID: "b"}}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, missing := d.of(gone, runs)
	require.Equal(t, 2, missing)
	require.Equal(t, "a", <-reading)
	closed := make(chan struct{})
	go func() { d.close(); close(closed) }()
	require.Eventually(t, func() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.closed }, time.Minute, time.Millisecond)
	select {
	case <-closed:
		t.Fatal("closed while a run is read")
	default:
	}
	close(goOn)
	<-closed
	require.Empty(t, reading, "b is not read any more")
}
