package cli

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNothingAsksForLinux has every package that the program is made of be one on macOS, too. make elsewhere builds it.
func TestNothingAsksForLinux(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/recount")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=darwin", "GOARCH=arm64")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}
