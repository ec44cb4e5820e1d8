package campaign

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a file describes is another subject when what is built of it is another, though the file says what it said.
func TestRunsAreMadeAgainOfAnotherServer(t *testing.T) {
	id := func(more string) string {
		server := filepath.Join(t.TempDir(), "server") // a process builds what a folder has once
		require.NoError(t, os.CopyFS(server, os.DirFS("../testdata/reluctant")))
		for name, text := range map[string]string{"go.mod": "module server\n\ngo 1.25\n", "more.go": "package main\n" + more} {
			require.NoError(t, os.WriteFile(filepath.Join(server, name), []byte(text), 0o644))
		}
		c := loaded(t, "name: reluctant\ntargets: [{target: "+server+"/election.yaml, options: {stuck: [0, 1]}}]\non: virtual\nnodes: 3\n")
		dir := t.TempDir()
		w, err := c.open(t.Context(), Config{Store: opened(t, dir+"/store"), Folder: dir})
		require.NoError(t, err)
		require.Len(t, w.subjects[0].Built, 2, "of each combination of options")
		return w.subjects[0].id
	}
	was := id("")
	require.Equal(t, was, id(""), "wherever it lies")
	require.NotEqual(t, was, id("func init() { print() }\n"))
}
