package recounttest_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheDocumentsNameEveryOption(t *testing.T) {
	code, err := os.ReadFile("option.go")
	require.NoError(t, err)
	doc, err := os.ReadFile("../docs/ci.md")
	require.NoError(t, err)
	all := regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(.*\) Option `).FindAllSubmatch(code, -1)
	require.NotEmpty(t, all)
	for _, m := range all {
		require.Contains(t, string(doc), "`"+string(m[1])+"(")
	}
}
