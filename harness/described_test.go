package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
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
	elsewhere := filepath.Join(t.TempDir(), "lease.yaml")
	write(elsewhere, "")
	write(filepath.Join("x", "run.json"), fmt.Sprintf(`{"plan": {"target": "lease.yaml"}, "described_by": %q}`, elsewhere))
	h, err := history.New([]history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Target: "lease.yaml", Nodes: []string{"n1"}}}})
	require.NoError(t, err)
	require.NoError(t, record.WriteHistory("x", h))
	is(elsewhere)
	write(elsewhere, "about: changed")
	is(filepath.Join("x", definitionFile))
	write(filepath.Join("x", "lease.yaml"), "")
	is(filepath.Join("x", "lease.yaml"))
	write("lease.yaml", "")
	is("lease.yaml")
}
