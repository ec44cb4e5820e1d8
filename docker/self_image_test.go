package docker

import (
	"os/exec"
	"path/filepath"
	"testing"

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

func TestNoExecutable(t *testing.T) {
	_, err := (&Engine{}).ExecutableImage(t.Context(), filepath.Join(t.TempDir(), "recount-linux-arm64"), nil)
	require.ErrorContains(t, err, "no Linux executable of Recount at")
	require.Contains(t, hint.Of(err), "CGO_ENABLED=0 go build")

	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	_, err = (&Engine{}).ExecutableImage(t.Context(), shell, nil)
	require.ErrorContains(t, err, "is linked dynamically")
	require.Equal(t, "build it with CGO_ENABLED=0 (make build does)", hint.Of(err))
}
