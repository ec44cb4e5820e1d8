package cli

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a server says is no command to the runner that reads what is printed, wherever its words come to stand.
func TestWhatIsQuotedIsNoCommand(t *testing.T) {
	for said, want := range map[string]string{
		"why: busy\n":                          "why: busy\n",
		"::stop-commands::a\n":                 ": :stop-commands::a\n",
		"  why\n \t\u00a0::set-output::\nn1\n": "  why\n \t\u00a0: :set-output::\nn1\n",
		"n1 ##[add-matcher]x\n":                "n1 # #[add-matcher]x\n",
		"n1\r::debug::\r\n":                    "n1\r: :debug::\r\n",
		"::a\n::b":                             ": :a\n: :b",
		"at ::1 nobody ::listens\n":            "at ::1 nobody ::listens\n",
	} {
		for cut := range len(said) {
			var printed bytes.Buffer
			w := &tamed{to: &printed}
			for _, part := range []string{said[:cut], said[cut:]} {
				n, err := io.WriteString(w, part)
				require.NoError(t, err)
				require.Equal(t, len(part), n)
			}
			w.end()
			require.Equal(t, want, printed.String())
		}
	}
}
