package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/hint"
)

// A log's last words are the reason, if a line gives it, and not the stack that follows it.
func TestLastWords(t *testing.T) {
	for log, want := range map[string]string{
		"start\npanic: no such peer\n\ngoroutine 1 [running]:\nmain.main()\n":                                                     `"panic: no such peer"`,
		"start\nTraceback (most recent call last):\n  File \"a.py\"\nValueError: no port\n":                                       `"ValueError: no port"`,
		"Exception in thread \"main\" java.lang.Error: bad\n\tat A.main(A.java:3)\n":                                              `"Exception in thread \"main\" java.lang.Error: bad"`,
		"start\nbind: address already in use\n\n":                                                                                 `"bind: address already in use"`,
		"panic: of an earlier life" + strings.Repeat("\nx", 40<<10):                                                               `"x"`,
		"flag provided but not defined: -listne\nUsage of server:\n  -listen string\n    \taddress\n":                             `"flag provided but not defined: -listne"`,
		"server: error: unrecognized arguments: --listne\nusage: server [-h]\n":                                                   `"server: error: unrecognized arguments: --listne"`,
		"Error: unknown flag: --listne\nUsage:\n  server [flags]\n":                                                               `"Error: unknown flag: --listne"`,
		"start\nstore: compression needs cgo\nstore.init\n\t/src/store/store.go:12\nruntime.goexit\n\truntime/asm_amd64.s:1771\n": `"store: compression needs cgo"`,
		"\x1b[31mred":            `"\x1b[31mred"`,
		strings.Repeat("a", 300): `"` + strings.Repeat("a", 200) + `"…`,
		"\n\n":                   "",
	} {
		path := filepath.Join(t.TempDir(), "n1.log")
		require.NoError(t, os.WriteFile(path, []byte(log), 0o600))
		assert.Equal(t, want, lastWords(path, false))
	}
	path := filepath.Join(t.TempDir(), "n1.log")
	require.NoError(t, os.WriteFile(path, []byte("panic: full\nmain.main()\nserving again\n"), 0o600))
	assert.Equal(t, `"panic: full"`, lastWords(path, true))
	require.NoError(t, os.WriteFile(path, []byte("no space left\nserving again\n"), 0o600))
	assert.Empty(t, lastWords(path, true), "who wrote the last line runs")
	assert.Empty(t, lastWords(filepath.Join(t.TempDir(), "none.log"), false))
}

// A run that could not begin may leave no log, so its error has what the node wrote.
func TestANodeThatWasNeverReady(t *testing.T) {
	const ended = "n2 ended by itself with exit status 2"
	err := unready(t.Context(), ended, func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "n2.log"), []byte("panic: not enough room\n\ngoroutine 1 [running]:\n"), 0o600)
	})
	require.EqualError(t, err, ended+` before it was ready; it wrote "panic: not enough room"`)
	err = unready(t.Context(), ended, func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "n2.log"), []byte("\nwhat is --listne?\nOptions:\n  --listen address\n"), 0o600)
	})
	require.EqualError(t, err, ended+` before it was ready; it wrote first "what is --listne?" and last "--listen address"`)
	require.Equal(t, "its log tells why", hint.Of(err))
	require.False(t, explains(err), "whoever knows more may say it")
	err = unready(t.Context(), ended, func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "n2.log"), []byte("failed to join n1: dial tcp 10.9.0.1:80: connect: connection refused\n"), 0o600)
	})
	require.Contains(t, hint.Of(err), "in-turn: true")
	require.True(t, explains(err))
	require.Contains(t, hint.Of(err), "only when that one can be joined", "it may be said already, and ready ask too little")
	err = unready(t.Context(), ended, func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "n2.log"), []byte("exec /start: no such file or directory\n"), 0o600)
	})
	require.Contains(t, hint.Of(err), "after #!")
	require.True(t, explains(fmt.Errorf("run: %w", err)))
	err = unready(t.Context(), ended, func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "n2.log"), []byte("begins\nexec /usr/bin/helper: no such file or directory\n"), 0o600)
	})
	require.Equal(t, "its log tells why", hint.Of(err), "who could write something else was run")
	err = unready(t.Context(), ended, func(context.Context, string) error { return errors.New("the engine is gone") })
	require.EqualError(t, err, ended+" before it was ready")
	synctest.Test(t, func(t *testing.T) {
		err := unready(t.Context(), ended, func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		})
		require.EqualError(t, err, ended+" before it was ready", "the engine stands still")
	})
}

// A node that ends since another is not there yet is told of with the way out, in a run as in a trial.
func TestANodeThatLooksForAnotherTooEarly(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "joins.yaml")
	for path, text := range map[string]string{
		filepath.Join(dir, "go.mod"): "module joins\n\ngo 1.25\n",
		filepath.Join(dir, "main.go"): `package main

import (
	"log"
	"net"
	"os"
)

func main() {
	if _, err := net.Dial("tcp", os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
`,
		file: `binary: {package: .}
command: ['{{others "," "{addr}:{peer}"}}']
ports: {peer: 8080}
times: {silence: 1s}
ready: {tcp: peer}
observe: {logs: [{match: leads, role: leader}]}
`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	p := record.Plan{Target: file, On: record.OnVirtual, Nodes: 2, Time: time.Second}
	_, ran := Run(t.Context(), p, Config{Results: t.TempDir()})
	_, tried := Try(t.Context(), p, Config{Results: t.TempDir()})
	for _, err := range []error{ran, tried} {
		require.ErrorContains(t, err, "connect: connection refused")
		require.Contains(t, hint.Of(err), "in-turn: true")
	}
}

// Who makes a certificate today makes one that is not valid yet in virtual time.
func TestACertificateOfToday(t *testing.T) {
	const words = `"x509: certificate has expired or is not yet valid: current time 2025-01-01T00:00:01Z is before 2026-03-14T15:09:26Z"`
	require.Equal(t, "; in virtual time clocks begin at 2025-01-01T00:00:00Z, and certificates have to be valid then", outdated(record.OnVirtual, words))
	require.Empty(t, outdated(record.OnDocker, words))
	require.Empty(t, outdated(record.OnVirtual, `"x509: certificate signed by unknown authority"`))
}
