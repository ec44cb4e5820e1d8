package overlay

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStandardLibrary runs the library's own tests of the packages that patches touch or stand below, with the overlay and
// without simulation: a binary that is not a node is an ordinary one. It takes minutes: RECOUNT_VIRTUAL_STD asks for it,
// with "all" or names of packages.
func TestStandardLibrary(t *testing.T) {
	which := os.Getenv("RECOUNT_VIRTUAL_STD")
	if which == "" {
		t.Skip("make virtual-std runs it")
	}
	if which == "all" {
		which = "net time sync context syscall os os/signal internal/poll internal/sync testing/synctest"
	}
	tc, err := toolchain(t.Context(), "go", ".", t.TempDir(), os.Environ(), func(string) {})
	require.NoError(t, err)
	path, _, err := tc.overlay(t.TempDir())
	require.NoError(t, err)
	// vet would look for the new package on disk.
	cmd := exec.CommandContext(t.Context(), tc.Go, append([]string{"test", "-vet=off", "-short", "-overlay", path}, strings.Fields(which)...)...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, err)
}
