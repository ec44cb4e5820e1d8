package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

func TestACrashIsNoVerdict(t *testing.T) {
	var stderr bytes.Buffer
	status := guarded(func() int { panic("out of order") }, &stderr)
	require.Equal(t, record.StatusFailed, status)
	require.Contains(t, stderr.String(), "recount: crashed: out of order")
	require.Contains(t, stderr.String(), "TestACrashIsNoVerdict", "the stack tells where")
	require.Contains(t, stderr.String(), "recount: hint: ")
}
