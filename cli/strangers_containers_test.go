package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/testlong"
)

// Servers that know nothing of Recount, under all faults there are: whatever befalls them, neither breaks a promise, and
// neither is accused of it. examples/strangers has them; of twenty seeds of each that were made by hand, 20 s of faults each, all ended
// with status 0, and elects was undecided in seven.
func TestStrangersUnderAllFaults(t *testing.T) {
	for _, file := range []string{"log_lines.yaml", "non_voters.yaml"} {
		t.Run(file, func(t *testing.T) {
			if file != "log_lines.yaml" {
				testlong.Only(t)
			}
			decided := map[string]string{"single-leader-per-term": "valid", "monotonic-term": "valid"}
			r := shows(t, func(r *result) string { return r.other(t, decided) }, "--target", filepath.Join("../examples/strangers", file), "--nodes", "5", "--nemesis", "all",
				"--time", "15s", "--seed", "1")
			require.NotEqual(t, record.StatusBroken, r.Status, "2 on a busy machine: nothing is decided then")
			var kept record.Run
			b, err := os.ReadFile(filepath.Join(r.Run, "run.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(b, &kept))
			require.Empty(t, kept.Unread)
		})
	}
}
