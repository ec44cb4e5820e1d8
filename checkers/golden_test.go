package checkers

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

var update = flag.Bool("update", false, "write the verdicts of the golden histories anew")

// TestGolden judges each golden history by its folder's checker. testdata/README.md explains the notation.
func TestGolden(t *testing.T) {
	for _, c := range All() {
		files, err := filepath.Glob(filepath.Join("testdata", c.Property, "*.txt"))
		require.NoError(t, err)
		for _, file := range files {
			t.Run(c.Property+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				given, want, _ := strings.Cut(string(text), "\n----\n")
				h, err := parseHistory(given)
				require.NoError(t, err)
				got := verdictText(h, c.Check(context.Background(), h))
				if *update {
					require.NoError(t, os.WriteFile(file, []byte(strings.TrimRight(given, "\n")+"\n----\n"+got), 0o644))
					return
				}
				require.Equal(t, want, got)
			})
		}
	}
}

// verdictText is what a golden history says of its result.
func verdictText(h *history.History, r Result) string {
	b := new(strings.Builder)
	untested := ""
	if r.Untested {
		untested = " (untested)"
	}
	fmt.Fprintf(b, "%v%s: %s\n", r.Verdict, untested, r.Why)
	if r.Verdict == Invalid {
		fmt.Fprintf(b, "from %v to %v\n", r.From, r.To)
	}
	for _, i := range r.Ops {
		fmt.Fprintln(b, tell(&h.Ops[i]))
	}
	for _, f := range r.Figures {
		fmt.Fprintf(b, "%s: %s\n", f.Name, f.Value)
	}
	return b.String()
}
