package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

func TestExecutableImage(t *testing.T) {
	e := engine(t)
	ref := memberImage(t, e)
	has, err := e.HasImage(t.Context(), ref)
	require.NoError(t, err)
	require.True(t, has)
	path, err := member()
	require.NoError(t, err)
	again, err := e.ExecutableImage(t.Context(), path, func(string) { t.Error("it was made a second time") })
	require.NoError(t, err)
	require.Equal(t, ref, again)

	has, err = e.HasImage(t.Context(), "recount/self:none")
	require.NoError(t, err)
	require.False(t, has)
}

// Each build of an executable makes an image, so those that nobody asks for any more go, of its kind alone.
func TestImagesOfExecutablesDoNotPileUp(t *testing.T) {
	e := engine(t)
	kind := fmt.Sprintf("test-%d", os.Getpid())
	build := func(text string) string {
		file := filepath.Join(t.TempDir(), "server")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
		ref, err := e.executableImage(t.Context(), kind, file, "server", func(string) {})
		require.NoError(t, err)
		t.Cleanup(func() { _ = e.RemoveImage(context.WithoutCancel(t.Context()), ref) })
		return ref
	}
	listed := func() (refs []string) {
		all, err := e.Images(t.Context())
		require.NoError(t, err)
		for _, i := range all {
			if i.Origin == kind {
				require.Empty(t, i.System)
				refs = append(refs, i.Ref)
			}
		}
		return refs
	}
	one, other := build("one"), build("other")
	require.ElementsMatch(t, []string{one, other}, listed(), "the first was asked for a moment ago")
	require.NoError(t, e.removeUnused(t.Context(), kind, other, 0))
	require.Equal(t, []string{other}, listed())

	root := func(text string) io.Reader {
		r, w := io.Pipe()
		go func() { w.CloseWithError(packExecutable(w, strings.NewReader(text), "server", int64(len(text)))) }()
		return r
	}
	was, err := e.api.ImageInspect(t.Context(), other)
	require.NoError(t, err)
	require.NoError(t, e.importImage(t.Context(), other, root("as another made it meanwhile"), "LABEL "+labelImage+"="+kind))
	require.Equal(t, []string{other}, listed())
	has, err := e.HasImage(t.Context(), was.ID)
	require.NoError(t, err)
	require.False(t, has, "what has lost its name is gone")
}

// What somebody has built on an image of Recount's carries its labels, and is theirs all the same. So is a name that they gave it.
func TestOnlyWhatRecountHasNamedIsItsOwn(t *testing.T) {
	e := engine(t)
	kind := fmt.Sprintf("test-%d", os.Getpid())
	file := filepath.Join(t.TempDir(), "server")
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o755))
	ours, err := e.executableImage(t.Context(), kind, file, "server", func(string) {})
	require.NoError(t, err)
	theirs := fmt.Sprintf("registry.mine/server:%d", os.Getpid())
	require.NoError(t, e.api.ImageTag(t.Context(), ours, theirs))
	t.Cleanup(func() { require.NoError(t, e.RemoveImage(context.WithoutCancel(t.Context()), theirs)) })
	made, err := e.api.ContainerCreate(t.Context(), &container.Config{Image: ours, Cmd: []string{"/server"}}, nil, nil, nil, "")
	require.NoError(t, err)
	nameless, err := e.api.ContainerCommit(t.Context(), made.ID, container.CommitOptions{})
	require.NoError(t, err)
	require.NoError(t, e.api.ContainerRemove(t.Context(), made.ID, container.RemoveOptions{}))
	t.Cleanup(func() { require.NoError(t, e.RemoveImage(context.WithoutCancel(t.Context()), nameless.ID)) })

	listed := func() (refs []string) {
		all, err := e.Images(t.Context())
		require.NoError(t, err)
		for _, i := range all {
			if i.Origin == kind {
				refs = append(refs, i.Ref)
			}
		}
		return refs
	}
	require.Equal(t, []string{ours}, listed())
	require.NoError(t, e.removeUnused(t.Context(), kind, "", 0))
	require.Empty(t, listed())
	for _, ref := range []string{theirs, nameless.ID} {
		has, err := e.HasImage(t.Context(), ref)
		require.NoError(t, err)
		require.True(t, has, ref)
	}
}

func TestNoExecutable(t *testing.T) {
	_, err := (&Engine{}).ExecutableImage(t.Context(), filepath.Join(t.TempDir(), "recount-linux-arm64"), nil)
	require.ErrorContains(t, err, "no Linux executable of Recount at")
	require.Contains(t, hint.Of(err), "CGO_ENABLED=0 go build")

	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	_, err = (&Engine{}).ExecutableImage(t.Context(), shell, nil)
	require.ErrorContains(t, err, "is linked dynamically")
	require.Equal(t, "build it static: CGO_ENABLED=0 go build, or go install; of Recount itself, CGO_ENABLED=0 go install ./cmd/recount", hint.Of(err))
}
