package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// started ends a context once a program has said something.
type started struct{ end func() }

func (s started) Write(p []byte) (int, error) {
	s.end()
	return len(p), nil
}

func TestAnInterruptedProgramCleansUp(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	script := `trap 'rm -r work; exit 1' INT; mkdir work; echo started; while :; do sleep 0.1; done` // a trap waits for the command under way
	err := Program{Name: "sh", Args: []string{"-c", script}, Dir: dir, Out: started{func() { cancel(enough) }}}.Run(ctx)
	require.ErrorIs(t, err, enough)
	require.NoDirExists(t, filepath.Join(dir, "work"))
}

func TestAProgramSaysWhatItSays(t *testing.T) {
	var out bytes.Buffer
	p := Program{Name: "sh", Args: []string{"-c", "echo $WORD; echo more >&2; exit 3"}, Env: append(os.Environ(), "WORD=one"), Out: &out}
	require.EqualError(t, p.Run(t.Context()), "exit status 3")
	require.Equal(t, "one\nmore\n", out.String())
}
