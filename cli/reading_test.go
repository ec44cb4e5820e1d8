package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileIsReadNoLongerThanItIsWanted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("{}\n", 1<<20)), 0o644))
	ctx, stop := context.WithCancel(t.Context())
	of := newReading(ctx, file)
	f, err := of.open(file)
	require.NoError(t, err)
	defer f.Close()
	require.Regexp(t, `^check: reading history.jsonl, 0 of 3 MiB, 0 %; 0s by the wall clock$`, of.String())
	_, err = f.Read(make([]byte, 2<<20))
	require.NoError(t, err)
	require.Contains(t, of.String(), "2 of 3 MiB, 66 %")
	of.deciding.Store(true)
	require.Contains(t, of.String(), "history.jsonl is read, and being decided")
	stop()
	_, err = f.Read(make([]byte, 1))
	require.ErrorIs(t, err, context.Canceled)

	c := checking{}
	_, err = c.judge(of, file, 1<<30)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "interrupted: reading "+file, interrupted(err))
}
