package recounttest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// What docs/targets.md has a stranger type works, and shows what it says; what docs/ci.md shows compiles.
func TestTheGoInTheDocuments(t *testing.T) {
	m := newModule(t)
	blocks := func(file string) (texts []string) {
		text, err := os.ReadFile(filepath.Join(m.root, "docs", file))
		require.NoError(t, err)
		for _, b := range goBlock.FindAllStringSubmatch(string(text), -1) {
			texts = append(texts, b[1])
		}
		return texts
	}
	files := blocks("targets.md")
	require.Len(t, files, 4) // the last is a part of a driver
	m.write("mine.go", files[0])
	m.write("mine_test.go", files[1])
	out := m.fails("test", "-count=1", ".")
	require.NotContains(t, out, "--- FAIL: TestMine/mine/kill")
	require.Contains(t, out, "--- FAIL: TestMine/mine/halves/sim/seed=1")
	require.Contains(t, out, "A promise broke: exclusive-leadership.")

	m.write("recount/main.go", files[2])
	out = m.fails("run", "./recount", "hunt", "--target", "mine", "--property", "exclusive-leadership", "--seed", "1")
	require.Contains(t, out, "shrunk to  2 nodes, 1 fault")
	out = m.succeeds("run", "./recount", "list", "targets")
	require.Contains(t, out, "the highest id that is heard leads")

	files = blocks("ci.md")
	require.Len(t, files, 1)
	m.write("ci/ci_test.go", files[0])
	m.succeeds("vet", "./ci")
}
