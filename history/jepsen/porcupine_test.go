package jepsen_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/history/jepsen"
)

// TestPorcupinesOwnHistories judges the logs that porcupine's tests come with, which this module depends on, and wants the
// verdicts that these tests want.
func TestPorcupinesOwnHistories(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anishathalye/porcupine").Output()
	require.NoError(t, err)
	module := strings.TrimSpace(string(dir))
	tests, err := os.ReadFile(filepath.Join(module, "porcupine_test.go"))
	require.NoError(t, err)
	wanted := regexp.MustCompile(`checkJepsen\(t, (\d+), (true|false)\)`).FindAllStringSubmatch(string(tests), -1)
	require.Greater(t, len(wanted), 90)
	for _, w := range wanted {
		var n int
		_, err := fmt.Sscan(w[1], &n)
		require.NoError(t, err)
		name := filepath.Join(module, "test_data", "jepsen", fmt.Sprintf("etcd_%03d.log", n))
		f, err := os.Open(name)
		require.NoError(t, err)
		h, m, err := jepsen.Read(f, jepsen.Log, jepsen.Options{})
		require.NoError(t, f.Close())
		require.NoError(t, err, name)
		want := map[string]checkers.Verdict{"true": checkers.Valid, "false": checkers.Invalid}[w[2]]
		j := checkers.BeginSome(m.Properties)
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		for _, r := range j.End(context.Background()) {
			require.Equal(t, want, r.Verdict, "%s: %s", name, r.Why)
		}
	}
}
