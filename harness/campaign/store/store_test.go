package store

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"recount/internal/hint"
	"recount/internal/whole"
)

// address of a store to test with: TestS3 sets another.
func opened(t *testing.T) *Store {
	name := os.Getenv("RECOUNT_TEST_STORE")
	if name == "" {
		name = t.TempDir()
	}
	s, err := Open(t.Context(), name)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	for key, err := range s.List(t.Context(), "") {
		require.NoError(t, err)
		require.NoError(t, s.Delete(t.Context(), key))
	}
	return s
}

func TestWhatIsPutIsThere(t *testing.T) {
	s := opened(t)
	ctx := t.Context()
	_, err := s.Get(ctx, "a/b")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, s.Put(ctx, "a/b", []byte("one")))
	require.NoError(t, s.Put(ctx, "a/b", []byte("two")))
	require.NoError(t, s.Put(ctx, "a/c", nil))
	text, err := s.Get(ctx, "a/b")
	require.NoError(t, err)
	require.Equal(t, "two", string(text))
	made, err := s.Create(ctx, "a/b", []byte("three"))
	require.NoError(t, err)
	require.False(t, made)
	made, err = s.Create(ctx, "b/b", []byte("four"))
	require.NoError(t, err)
	require.True(t, made)
	var keys []string
	for key, err := range s.List(ctx, "a/") {
		require.NoError(t, err)
		keys = append(keys, key)
	}
	require.Equal(t, []string{"a/b", "a/c"}, keys)
	var mu sync.Mutex
	seen := map[string]string{}
	require.NoError(t, s.Each(ctx, []string{"a/b", "a/c", "a/d", "b/b"}, func(key string, text []byte) error {
		mu.Lock()
		defer mu.Unlock()
		seen[key] = string(text)
		return nil
	}))
	require.Equal(t, map[string]string{"a/b": "two", "a/c": "", "b/b": "four"}, seen)
	wrong := errors.New("what f says")
	require.ErrorIs(t, s.Each(ctx, []string{"a/b", "a/c"}, func(string, []byte) error { return wrong }), wrong)
	require.NoError(t, s.Delete(ctx, "a/b"))
	require.NoError(t, s.Delete(ctx, "a/b"))
	require.NoError(t, s.DeleteAll(ctx, []string{"a/b", "a/c", "b/b"}))
	for key, err := range s.List(ctx, "") {
		t.Error(key, err)
	}
	_, err = s.Get(ctx, "a/b")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// What others put and remove meanwhile is on the list or not, and no reason to fail.
func TestAListWhileOthersPutAndRemove(t *testing.T) {
	s := opened(t)
	ctx := t.Context()
	require.NoError(t, s.Put(ctx, "a/stays", nil))
	stop := make(chan struct{})
	var others sync.WaitGroup
	for _, key := range []string{"a/b", "a/c"} {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					assert.NoError(t, s.Put(ctx, key, nil))
					assert.NoError(t, s.Delete(ctx, key))
				}
			}
		})
	}
	defer others.Wait()
	defer close(stop)
	for range 300 {
		var keys []string
		for key, err := range s.List(ctx, "a/") {
			require.NoError(t, err)
			keys = append(keys, key)
		}
		require.Contains(t, keys, "a/stays")
	}
}

func TestAClaimIsOnesOwnUntilItLapses(t *testing.T) {
	s := opened(t)
	ctx := t.Context()
	mine, err := s.Claim(ctx, "claims/x", "me")
	require.NoError(t, err)
	require.NotNil(t, mine)
	other, err := s.Claim(ctx, "claims/x", "you")
	require.NoError(t, err)
	require.Nil(t, other)
	require.NoError(t, mine.Release(ctx))
	other, err = s.Claim(ctx, "claims/x", "you")
	require.NoError(t, err)
	require.NotNil(t, other)
	require.NoError(t, other.Release(ctx))

	require.NoError(t, s.Put(ctx, "claims/y", word{"dead", time.Now().Add(-time.Second)}.encode()))
	mine, err = s.Claim(ctx, "claims/y", "me")
	require.NoError(t, err)
	require.NotNil(t, mine)
	require.NoError(t, mine.Release(ctx))

	require.NoError(t, s.Put(ctx, "claims/z", word{"dead", time.Now().Add(24 * time.Hour)}.encode()))
	mine, err = s.Claim(ctx, "claims/z", "me")
	require.NoError(t, err)
	require.NotNil(t, mine, "its clock was a day ahead, and nobody waits for that long")
	require.NoError(t, mine.Release(ctx))
}

// What a process that was killed, or a disk, left of an object is not read.
func TestHalfAnObjectIsNone(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Put(t.Context(), "x", []byte(strings.Repeat("all of it ", 100))))
	whole, err := os.ReadFile(filepath.Join(dir, "x"))
	require.NoError(t, err)
	for n := range whole {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), whole[:n], 0o644))
		_, err := s.Get(t.Context(), "x")
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "y.123.tmp"), whole, 0o644))
	for key, err := range s.List(t.Context(), "y") {
		t.Error(key, err)
	}
}

// A server of one's own has no name for each bucket, and no region.
// A small object of somebody else's does not take all of the memory.
func TestAnObjectThatUnpacksToTooMuch(t *testing.T) {
	st, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer st.Close()
	require.NoError(t, st.Put(t.Context(), "a", make([]byte, 2<<20)))
	packed, err := st.bucket.ReadAll(t.Context(), "a")
	require.NoError(t, err)
	require.Less(t, len(packed), 20_000)
	_, err = unpack(packed, 2<<20)
	require.NoError(t, err)
	_, err = unpack(packed, 1<<20)
	require.ErrorAs(t, err, new(*whole.TooLong))
}

func TestABucketOfAServerOfOnesOwn(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	t.Setenv("AWS_REGION", "")
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		http.Error(w, "", http.StatusNotFound)
	}))
	defer server.Close()
	b, err := Bucket(t.Context(), "s3://mine?endpoint="+server.URL)
	require.NoError(t, err)
	defer b.Close()
	there, err := b.Exists(t.Context(), "results/x")
	require.NoError(t, err)
	require.False(t, there)
	require.Equal(t, "/mine/results/x", asked)
}

func TestMistakesHaveAWayOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for name, want := range map[string][2]string{
		"ftp://host/x": {"is no bucket of S3", "s3://"},
		"s3://":        {"is no bucket of S3", "s3://"},
		file + "/x":    {"store: mkdir", "can be written"},
	} {
		_, err := Open(t.Context(), name)
		require.ErrorContains(t, err, want[0])
		require.Contains(t, hint.Of(err), want[1])
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	s, err := Open(t.Context(), "s3://bucket?endpoint=http://127.0.0.1:1&rate_limiter_capacity=0")
	require.NoError(t, err)
	defer s.Close()
	err = s.Put(t.Context(), "x", nil)
	require.ErrorContains(t, err, "s3://bucket")
	require.Contains(t, hint.Of(err), "is it up")
	require.NotContains(t, err.Error(), "\n")
}

// What a server of S3 cannot do is told in one line, that says what, and not how it was asked.
func TestFaultsOfS3AreShort(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "me")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	s, err := Open(t.Context(), "s3://bucket?endpoint=http://127.0.0.1:1")
	require.NoError(t, err)
	defer s.Close()
	err = s.Put(t.Context(), "key", nil)
	require.EqualError(t, err, "s3://bucket?endpoint=http://127.0.0.1:1: write key: dial tcp 127.0.0.1:1: connect: connection refused")
	require.Contains(t, hint.Of(err), "the same command goes on")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("HOME", t.TempDir())
	nobody, err := Open(t.Context(), "s3://bucket?endpoint=http://127.0.0.1:1")
	require.NoError(t, err)
	defer nobody.Close()
	err = nobody.Put(t.Context(), "key", nil)
	require.ErrorContains(t, err, "write key: there are no credentials")
	require.Contains(t, hint.Of(err), "AWS_ACCESS_KEY_ID")
}

// A machine may be called anything: its word is its own, whatever JSON makes of it.
func TestClaimsOfAnyName(t *testing.T) {
	s := opened(t)
	mine, err := s.Claim(t.Context(), "claims/x", "\xf6\xd2\x1d-1")
	require.NoError(t, err)
	require.NotNil(t, mine, "nobody else is there")
	require.NoError(t, mine.Release(t.Context()))
}
