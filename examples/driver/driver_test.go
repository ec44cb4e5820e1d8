package driver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "recount/examples/driver" // registers the target
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// The leader is killed and comes back; leaders write to a resource that refuses stale ones.
func TestDeadLeader(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "server")
	cmd := exec.Command("go", "build", "-trimpath", "-o", binary, "../server")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	recounttest.Run(t, "http-election", "dead-leader.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("binary", binary), recounttest.For(9*time.Second))
}
