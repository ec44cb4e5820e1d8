package recounttest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that links its own raft.proto can use Recount: no real system and no library of one is linked unasked. It is
// told what to import for the targets that Recount comes with.
func TestProgramsLinkOnlyWhatTheyImport(t *testing.T) {
	program := filepath.Join(t.TempDir(), "stranger")
	out, err := exec.Command("go", "build", "-o", program, "./testdata/stranger").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "unknown target \"raft\"\n"+
		"import _ \"recount/targets/builtin\" registers those that Recount comes with; known: none\n", string(out))
}
