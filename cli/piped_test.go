package cli

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who reads what is printed may go away: what is under way is ended then, and not the program with what it has to clean up.
func TestNobodyReadsAnyMore(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	gone := 0
	out := outliving(w, func() { gone++ })
	_, err = fmt.Fprintln(out, "read")
	require.NoError(t, err)
	require.Zero(t, gone)
	require.NoError(t, r.Close())
	_, err = fmt.Fprintln(out, "by nobody")
	require.NoError(t, err)
	require.Equal(t, 1, gone)

	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	require.Equal(t, file, outliving(file, nil), "a file has no reader")
}
