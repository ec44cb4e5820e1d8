package cli

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/history/jepsen"
)

func TestDocsNameEveryPropertyAndEveryModel(t *testing.T) {
	text, err := os.ReadFile("../docs/checkers.md")
	require.NoError(t, err)
	for _, c := range checkers.All() {
		require.Contains(t, string(text), "\n| `"+c.Property+"` | ", "what it is decided as")
	}
	help := checkCommand().Long
	for _, m := range jepsen.Models {
		require.Contains(t, string(text), "| `"+m.Name+"` | ")
		require.Contains(t, help, "\n  "+m.Name+" ")
		for _, p := range m.Properties {
			require.Contains(t, string(text), "`"+p+"`")
		}
	}
}
