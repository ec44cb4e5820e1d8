package overlay

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPatchesFit applies all patches to the library of each Go release that is on this machine, for both architectures.
func TestPatchesFit(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	require.NoError(t, err)
	f := strings.Fields(string(out))
	roots, err := filepath.Glob(filepath.Join(f[1], "golang.org", "toolchain@v0.0.1-go1.2[56]*."+runtime.GOOS+"-*"))
	require.NoError(t, err)
	for _, root := range append(roots, f[0]) {
		for _, arch := range []string{"amd64", "arm64"} {
			text, err := Toolchain{Root: root, Version: filepath.Base(root), Arch: arch}.files()
			require.NoError(t, err)
			for _, p := range patches {
				require.Contains(t, text, strings.ReplaceAll(p.file, "$GOARCH", arch))
			}
			require.Contains(t, text["runtime/proc.go"], "virtualPick()")
		}
	}
}

// TestMisfitIsNamed has one line for a release that a patch does not fit: the version, the file, the function, and what
// the patch is for.
func TestMisfitIsNamed(t *testing.T) {
	old := patches
	defer func() { patches = old }()
	patches = append(patches[:len(patches):len(patches)], first("runtime/proc.go", "func gone(", "x()", "nothing works without it"),
		patch{"runtime/proc.go", "func main() {", "no such line", "", "lines move"})
	out, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	_, err = Toolchain{Root: strings.TrimSpace(string(out)), Version: "go9.9", Arch: "amd64"}.files()
	require.ErrorContains(t, err, `go9.9: runtime/proc.go: there is no "func gone(" (nothing works without it)`)
	require.ErrorContains(t, err, `go9.9: runtime/proc.go: "no such line" matches 0 times in "func main() {", not once (lines move)`)
}

// TestEveryPatchSaysWhy keeps the table readable.
func TestEveryPatchSaysWhy(t *testing.T) {
	for _, p := range patches {
		require.NotEmpty(t, p.why, p.in)
		require.Less(t, strings.Count(p.with, "\n"), 8, "%s: what is longer belongs into std/", p.in)
	}
}
