package cli

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// onArm runs the go command for a system on arm64 and returns what it prints.
func onArm(t *testing.T, system string, args ...string) string {
	cmd := exec.Command("go", args...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH=arm64")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// TestNothingAsksForLinux has every package that the program is made of be one on macOS, too. make elsewhere builds it.
func TestNothingAsksForLinux(t *testing.T) {
	onArm(t, "darwin", "list", "-deps", "./cmd/recount")
}

// TestClocksOnOtherProcessors has what is put into processes on Linux, and its tests, be code for them. make arm64 runs it.
func TestClocksOnOtherProcessors(t *testing.T) {
	onArm(t, "linux", "vet", "./docker/agent/clock")
}

// fused is an instruction of arm64 that multiplies and adds in one step, and the line that it comes from.
var fused = regexp.MustCompile(`\(\S*/(\S+\.go:\d+)\)\tFN?M(?:ADD|SUB)[DS]`)

// TestASeedIsTheSameRunOnEveryProcessor looks at what decides a simulated history. Where a processor multiplies and adds in one
// step, which amd64 does not, the result is rounded once and not twice, and the history is another one: float64(x*y) forbids it.
func TestASeedIsTheSameRunOnEveryProcessor(t *testing.T) {
	text := onArm(t, "darwin", "build", "-gcflags=recount/...=-S", "./sim/...", "./history", "./nemesis", "./targets/algorithms/...", "./workloads", "./internal/seed")
	require.Regexp(t, `\(\S*/clock\.go:\d+\)\tFMULD`, text)
	for _, m := range fused.FindAllStringSubmatch(text, -1) {
		t.Errorf("%s: a product is added to before it is rounded: float64(x*y)", m[1])
	}
}
