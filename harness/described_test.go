package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhereTheFileOfAScenariosTargetIs(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) }
	require.NoError(t, os.Mkdir("x", 0o755))
	file := filepath.Join("x", "mine.yaml")
	write(file, "target: lease.yaml\n")
	is := func(want string) {
		s, err := LoadScenario(file)
		require.NoError(t, err)
		require.Equal(t, want, s.Target)
	}
	is("lease.yaml")
	write(filepath.Join("x", definitionFile), "")
	is("lease.yaml") // of something else, for all that is known
	write(filepath.Join("x", "run.json"), "{}")
	is(filepath.Join("x", definitionFile))
	write(filepath.Join("x", "lease.yaml"), "")
	is(filepath.Join("x", "lease.yaml"))
	write("lease.yaml", "")
	is("lease.yaml")
}
