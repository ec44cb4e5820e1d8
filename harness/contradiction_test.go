package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/hint"
)

func TestAStepThatSaysWhatHasNoEffectIsRefused(t *testing.T) {
	for step, want := range map[string]string{
		"{at: 1s, fault: isolate, for: 0s}":                                          "a fault that lasts for no time",
		"{at: 1s, fault: isolate, for-times: 0}":                                     "a fault that lasts for no time",
		"{at: 1s, fault: isolate, of: heartbeat, for: 1s}":                           "of: heartbeat multiplies nothing",
		"{at: 1s, fault: isolate, for: 1s, for-times: 1}":                            "for beside for-times",
		"{at: 1s, after: vote, wait: 1s, times: 1, fault: isolate}":                  "wait beside times",
		"{at: 1s, fault: isolate, for-times: 1e300}":                                 "1e+300 times 300ms is longer than any run",
		"{at: 1s, fault: lose-message, with: {nth: 0.5}}":                            `option nth: "0.5" is not a positive whole number`,
		"{at: 1s, fault: lose-message, with: {count: 1.5}}":                          `option count: "1.5" is not a positive whole number`,
		"{at: 1s, fault: hold-message, with: {until: -1s}}":                          "hold-message: until: -1s",
		"{at: 1s, fault: repeat-message, with: {until: 0s}}":                         "repeat-message: until: 0s",
		"{at: 1s, fault: isolate, for-times: 1.5, of: heartbeat}":                    "",
		"{at: 1s, fault: hold-message, with: {nth: 1e1, until: 1s, kind: Any.Kind}}": "",
	} {
		file := filepath.Join(t.TempDir(), "mine.yaml")
		require.NoError(t, os.WriteFile(file, []byte("target: raft\nschedule:\n  - "+step+"\n"), 0o600))
		s, err := LoadScenario(file)
		if err == nil {
			err = Check(s.Plan(record.Plan{On: record.OnSim}))
		}
		if want == "" {
			require.NoError(t, err, step)
			continue
		}
		require.ErrorContains(t, err, want, step)
		require.ErrorContains(t, err, "line 3", step)
		require.NotEmpty(t, hint.Of(err), step)
	}
}
