package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/hint"
)

// Ctrl-C before there are nodes says nothing about the harness, nor about the election.
func TestWhoIsInterruptedHasNotFailed(t *testing.T) {
	var stderr bytes.Buffer
	ctx, interrupt := context.WithCancelCause(t.Context())
	failed := failure{hint.Add(fmt.Errorf("build server: %w", context.Canceled), "does it build?")}
	require.Equal(t, record.StatusFailed, ended(ctx, failed, &stderr), "nobody interrupted")
	stderr.Reset()
	interrupt(errors.New("interrupt signal received"))
	require.Equal(t, record.StatusUnknown, ended(ctx, failed, &stderr))
	require.Equal(t, "recount: interrupted: build server\n", stderr.String())
	stderr.Reset()
	require.Equal(t, record.StatusUnknown, ended(ctx, context.Canceled, &stderr))
	require.Equal(t, "recount: interrupted\n", stderr.String())
	require.Equal(t, record.StatusFailed, ended(ctx, failure{errors.New("the engine is gone")}, &stderr), "that is another matter")
	require.Equal(t, record.StatusUsage, ended(ctx, errors.New("unknown flag"), &stderr))
	require.Equal(t, record.StatusHeld, ended(ctx, nil, &stderr))
}

func TestACrashIsNoVerdict(t *testing.T) {
	var stderr bytes.Buffer
	status := guarded(func() int { panic("out of order") }, &stderr)
	require.Equal(t, record.StatusFailed, status)
	require.Contains(t, stderr.String(), "recount: crashed: out of order")
	require.Contains(t, stderr.String(), "TestACrashIsNoVerdict", "the stack tells where")
	require.Contains(t, stderr.String(), "recount: hint: ")
}

// Errors that came together are one line; what one quotes has a line for each of its own.
func TestErrorsThatQuoteWhatAProgramSaid(t *testing.T) {
	var out bytes.Buffer
	complain(&out, errors.Join(errors.New("build: exit status 1\n  # m\n  m.go:3: undefined: x"), errors.New("close: lost")))
	require.Equal(t, "recount: build: exit status 1\n  # m\n  m.go:3: undefined: x; close: lost\n", out.String())
}
