package docker

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// packed is what is in a Dockerfile's context, and its hash.
func packed(t *testing.T, dir string, leaveOut func(string) bool) (names []string, hash []byte) {
	t.Helper()
	var b bytes.Buffer
	hash, err := packContext(&b, filepath.Join(dir, "Dockerfile"), leaveOut)
	require.NoError(t, err)
	r := tar.NewReader(&b)
	for h, err := r.Next(); err != io.EOF; h, err = r.Next() {
		require.NoError(t, err)
		names = append(names, h.Name)
	}
	return names, hash
}

func nothing(string) bool { return false }

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// What is built of the same files is the same image.
func TestTheHashOfAContextIsOfItsFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"Dockerfile": "FROM scratch", "server/main.c": "main(){}"})
	require.NoError(t, os.Symlink("main.c", filepath.Join(dir, "server", "link")))
	names, hash := packed(t, dir, nothing)
	require.Equal(t, []string{"Dockerfile", "server", "server/link", "server/main.c"}, names)

	require.NoError(t, os.Chtimes(filepath.Join(dir, "server", "main.c"), time.Now(), time.Now().Add(-time.Hour)))
	write(t, dir, map[string]string{"results/etcd/1/run.json": "{}"})
	same, again := packed(t, dir, func(path string) bool { return path == filepath.Join(dir, "results") })
	require.Equal(t, names, same)
	require.Equal(t, hash, again)

	write(t, dir, map[string]string{"server/main.c": "main();"})
	_, other := packed(t, dir, nothing)
	require.NotEqual(t, hash, other)
}

func TestDockerignore(t *testing.T) {
	for _, tt := range []struct{ ignore, want string }{
		{"", "a a/b.log a/b.txt a/c a/c/d.log e.log"},
		{"# *", "a a/b.log a/b.txt a/c a/c/d.log e.log"},
		{"*.log", "a a/b.log a/b.txt a/c a/c/d.log"},
		{"**/*.log", "a a/b.txt a/c"},
		{"/a/c/", "a a/b.log a/b.txt e.log"},
		{"a/*/d.log\n\ne.?og ", "a a/b.log a/b.txt a/c"},
		{"a/**", "a e.log"},
		{"**/c", "a a/b.log a/b.txt e.log"},
		{"a\n!a/c", "a/c a/c/d.log e.log"},
		{"!e.log\n*", ""},
		{"*\n!**/*.log\na/b.log", "a/c/d.log e.log"},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{ignoreFile: tt.ignore, "Dockerfile": "", "a/b.log": "", "a/b.txt": "", "a/c/d.log": "", "e.log": ""})
		names, _ := packed(t, dir, nothing)
		require.Equal(t, strings.Fields(ignoreFile+" Dockerfile "+tt.want), names, tt.ignore)
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{ignoreFile: "a\n[", "Dockerfile": ""})
	_, err := packContext(io.Discard, filepath.Join(dir, "Dockerfile"), nothing)
	require.ErrorContains(t, err, ignoreFile+`: "[": syntax error in pattern`)
}

func TestWhatCannotBeInAContext(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"Dockerfile": ""})
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	_, err := packContext(io.Discard, filepath.Join(dir, "Dockerfile"), nothing)
	require.EqualError(t, err, filepath.Join(dir, "pipe")+": it is neither a file, nor a folder, nor a link")
	require.Equal(t, "name it in .dockerignore", hint.Of(err))

	write(t, dir, map[string]string{ignoreFile: "pipe"})
	packed(t, dir, nothing)
}
