package serve

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"recount/harness/record"
)

func TestResultsInABucket(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	bucket := memblob.OpenBucket(nil)
	require.NoError(t, filepath.WalkDir(results, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		rel, err := filepath.Rel(results, file)
		require.NoError(t, err)
		return bucket.WriteAll(context.Background(), filepath.ToSlash(rel), b, nil)
	}))
	require.NoError(t, bucket.WriteAll(context.Background(), "packs/x/20260102-030405.000/run.json", []byte("{}"), nil)) // a campaign's
	s := newServer(Config{}, files{bucket}, bucket.Close)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.index.refresh())
	require.Equal(t, 1, s.Len())
	h := s.Handler()
	at := "/runs/" + id(t, results, r)
	require.Contains(t, get(h, "/").Body.String(), "no-ping-pong")
	require.Contains(t, get(h, at+"/").Body.String(), `id="picture"`)
	require.Contains(t, get(h, at+"/history.jsonl").Body.String(), `"f":"begin"`)
	ranged := httptest.NewRequest(http.MethodGet, "http://localhost"+at+"/history.jsonl", nil)
	ranged.Header.Set("Range", "bytes=1-8")
	require.Equal(t, `"index":`, ask(h, ranged).Body.String())
	require.Equal(t, http.StatusNotFound, get(h, at+"/nothing").Code)
	require.Equal(t, http.StatusNotFound, get(h, at+"/porcupine").Code, "a folder is no file")
	live := get(h, "/api/v1"+at+"/events?from=0").Body.String()
	require.Contains(t, live, "event: end")
	require.Contains(t, get(h, "/api/v1/coverage").Body.String(), `"cut-link"`)
}

// Nobody ever writes to these pipes: who opens one to read it waits for ever.
func TestANamedPipeKeepsNobodyWaiting(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	piped := []string{record.RunFile, record.VerdictsFile, record.HistoryFile}
	for _, name := range piped {
		require.NoError(t, os.CopyFS(filepath.Join(results, "piped", "no-"+name), os.DirFS(r.Dir)))
		require.NoError(t, os.Remove(filepath.Join(results, "piped", "no-"+name, name)))
	}
	at := "/runs/" + id(t, results, r)
	_, h := open(t, Config{Results: results})
	pipe := func(path ...string) {
		file := filepath.Join(append([]string{results}, path...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, syscall.Mkfifo(file, 0o600))
	}
	pipe(id(t, results, r), "pipe")
	pipe(id(t, results, r), record.MessagesFile)
	require.Equal(t, http.StatusNotFound, get(h, at+"/pipe").Code)
	require.Contains(t, get(h, "/api/v1"+at+"/messages?at=1s&span=1s").Body.String(), "it is neither a file nor a folder")
	require.Contains(t, get(h, at+"/").Body.String(), `id="picture"`)

	for _, name := range piped {
		pipe("piped", "no-"+name, name)
	}
	for _, f := range folderFiles {
		pipe(f[1], f[0])
	}
	s, h := open(t, Config{Results: results})
	require.Equal(t, 4, s.Len())
	require.Equal(t, Unreadable, s.index.run("piped/no-"+record.RunFile).State)
	require.Equal(t, Unreadable, s.index.run("piped/no-"+record.VerdictsFile).State)
	require.Equal(t, "Its run.json cannot be read: it is neither a file nor a folder.", s.index.run("piped/no-"+record.RunFile).Sentence)
	at = "/runs/piped/no-" + record.HistoryFile
	require.Contains(t, get(h, at+"/").Body.String(), "it is neither a file nor a folder")
	for _, p := range []string{"/api/v1" + at + "/events", "/api/v1" + at + "/ops", at + "/ops.csv", at + "/picture.svg", at + "/" + record.HistoryFile} {
		require.GreaterOrEqual(t, get(h, p).Code, 400, p)
	}
	for _, p := range []string{"/", "/live", "/campaigns", "/matrix", "/coverage", "/trends", "/under-way/activity", "/matrix/matrix", "/campaigns/campaign"} {
		require.NotEqual(t, http.StatusInternalServerError, get(h, p).Code, p)
	}
}

func TestResultsAreNamedByURLsToo(t *testing.T) {
	results := t.TempDir()
	simulate(t, results, "ping-pong", 7)
	s, _ := open(t, Config{Results: "file://" + filepath.ToSlash(results)})
	require.Equal(t, 1, s.Len())
	for name, want := range map[string]string{
		"ftp://somewhere/results": `"ftp://somewhere/results" is no bucket`, filepath.Join(results, "nothing"): "results folder",
		"file://" + filepath.ToSlash(results) + "/nothing": "results folder",
	} {
		_, err := New(Config{Results: name})
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
}

// One file is one target, whichever path it was given by.
func TestATargetThatAFileDescribes(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Chdir(folder)
	require.NoError(t, os.Mkdir("sub", 0o755))
	require.NoError(t, os.WriteFile("sub/mine.yaml", nil, 0o644))
	require.NoError(t, os.Symlink("sub/mine.yaml", "link.yaml"))
	called := func(target, described string) string {
		return targetOf(&record.Run{Target: target, DescribedBy: described})
	}
	for _, target := range []string{"./sub/mine.yaml", "sub/mine.yaml", "link.yaml", folder + "/sub/mine.yaml"} {
		whole, err := filepath.Abs(target)
		require.NoError(t, err)
		require.Equal(t, "sub/mine.yaml", called(target, whole))
	}
	require.Equal(t, "/gone/mine.yaml", called("mine.yaml", "/gone/mine.yaml"))
	require.Equal(t, "sub/gone.yaml", called("gone.yaml", folder+"/sub/gone.yaml"))
	require.Equal(t, "mine.yaml", called("mine.yaml", ""), "of a run of before, whose file is not known")
	require.Equal(t, "raft", called("raft", ""))
}
