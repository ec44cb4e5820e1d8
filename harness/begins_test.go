package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
)

// Servers that say nothing until they lead are known to follow where the file says that they begin so: only then was a leader ever due.
func TestServersThatSayNothingUntilTheyLead(t *testing.T) {
	server, err := filepath.Abs("../examples/server")
	require.NoError(t, err)
	const spec = `
binary: {package: %s}
command: ['--id={{.Name}}', '--listen=:{{port "http"}}', '--peers={{others "," "{name}=http://{addr}:{http}"}}']
ports: {http: 8080}
times: {silence: 1s, elect: 5s}
ready: {tcp: http}
observe:
  term: {of: leader}
  logs: {standing: true, %slines: [{match: 'becomes leader at term (?P<term>\d+)', role: leader}]}
promises: [elects]
`
	for begins, want := range map[string]checkers.Verdict{"": checkers.Unknown, "begins: follower, ": checkers.Valid} {
		file := filepath.Join(t.TempDir(), "quiet.yaml")
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, spec, server, begins), 0o644))
		r, err := Simulate(t.Context(), record.Plan{Target: file, On: record.OnVirtual, Nodes: 3, Time: 30 * time.Second, Faults: []string{"kill"}, Seed: 1})
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict("elects").Verdict, begins+r.Verdict("elects").Why)
	}
}
