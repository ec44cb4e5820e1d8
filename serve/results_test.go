package serve

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
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
