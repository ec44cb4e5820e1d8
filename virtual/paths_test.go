package virtual

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program that makes the same calls of the same paths, in a folder of its own and in a node's, sees the same: it is the kernel that
// tells what is right. And what was told of the node's files is what they are.
func TestPathsLeadWhereTheKernelHasThem(t *testing.T) {
	folder := t.TempDir()
	c := runs(t, "paths "+folder+" 1")
	c.until(time.Second)
	out, err := exec.Command(c.path, "paths", folder, "1", "and no more").Output()
	require.NoError(t, err)
	kernel := strings.Split(strings.TrimSpace(string(out)), "\n")
	node := c.said["n1"]
	require.Equal(t, "done", node[len(node)-1])
	require.Len(t, node, len(kernel))
	require.Greater(t, len(kernel), 10_000)
	var wrong []string
	for i, line := range kernel {
		if line != node[i] && len(wrong) < 40 {
			wrong = append(wrong, fmt.Sprintf("kernel: %.300s\nnode:   %.300s", line, node[i]))
		}
	}
	require.Empty(t, strings.Join(wrong, "\n"))

	told := filepath.Join(t.TempDir(), "told")
	require.NoError(t, c.named("n1").mirror.Put(told))
	files := under(t, folder)
	require.Equal(t, files, under(t, filepath.Join(c.named("n1").root, folder)))
	require.Equal(t, files, under(t, filepath.Join(told, folder)))
}

// under is all that there is below a folder.
func under(t *testing.T, folder string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		require.NoError(t, err)
		text := ""
		switch {
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			text = string(b)
		case d.Type() == fs.ModeSymlink:
			text, err = os.Readlink(path)
			require.NoError(t, err)
		}
		all = append(all, fmt.Sprintf("%s %v %q", name, d.Type(), text))
		return nil
	}))
	return all
}

// Who watches files and folders by inotify is told what the kernel tells.
func TestWhoWatchesFilesIsToldWhatTheKernelTells(t *testing.T) {
	c := runs(t, "notify "+t.TempDir())
	c.until(time.Second)
	out, err := exec.Command(c.path, "notify", t.TempDir(), "and no more").Output()
	require.NoError(t, err)
	require.Equal(t, strings.Split(strings.TrimSpace(string(out)), "\n"), c.said["n1"])
}

// Who waits for descriptors by itself is told what the kernel tells.
func TestWhoWaitsByItselfIsToldWhatTheKernelTells(t *testing.T) {
	c := runs(t, "epoll")
	c.until(10 * time.Second)
	out, err := exec.Command(c.path, "epoll", "and no more").Output()
	require.NoError(t, err)
	require.Equal(t, strings.Split(strings.TrimSpace(string(out)), "\n"), c.said["n1"])
}

// A unix socket is bound, listens and is connected to as the kernel has it, one that asks for any name among them.
func TestUnixSocketsAreBoundAsTheKernelHasIt(t *testing.T) {
	c := runs(t, "unix")
	c.until(time.Second)
	out, err := exec.Command(c.path, "unix", "and no more").Output()
	require.NoError(t, err)
	require.Equal(t, strings.Split(strings.TrimSpace(string(out)), "\n"), c.said["n1"])
}

// Nobody who waits for one epoll with others misses what comes.
func TestManyWaitForOneEpoll(t *testing.T) {
	c := runs(t, "handlers", "handlers", "handlers")
	c.until(5 * time.Second)
	for _, node := range []string{"n1", "n2", "n3"} {
		require.Equal(t, []string{"taken 199"}, c.said[node])
	}
}

// A node's devices are the machine's: what root may do to them is not for a node.
func TestDevicesStayAsTheyAre(t *testing.T) {
	c := runs(t, "devices")
	c.until(time.Second)
	var want []string
	for _, path := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/../dev/random"} {
		for _, e := range []string{"operation not permitted", "operation not permitted", "operation not permitted", "operation not permitted",
			"invalid cross-device link", "permission denied", "permission denied", "permission denied"} {
			want = append(want, path+" "+e)
		}
	}
	want = append(want, "7 <nil> invalid argument", "5 <nil>", "<nil> <nil>", "<nil> <nil>", "<nil> <nil>")
	require.Equal(t, want, c.said["n1"])
}

func TestTheFolderThatAProgramIsInMoves(t *testing.T) {
	c := runs(t, "folders")
	c.until(time.Second)
	require.Equal(t, []string{"/data/new/in/file: found", "/data/new/in <nil>", " no such file or directory", "no such file or directory"}, c.said["n1"])
}

// What the machine's root may do with its paths by calls that are seldom made is not for a node either.
func TestNoCallLeadsBeyondTheFolder(t *testing.T) {
	c := runs(t, "beyond")
	c.until(time.Second)
	require.Equal(t, []string{"operation not permitted", "function not implemented", "function not implemented", "operation not permitted"}, c.said["n1"])
}
