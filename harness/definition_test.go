package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

const definition = `image: server:1
ports: {http: 80}
times: {silence: 1s}
observe: {http: /, role: role}
promises: [elects]
`

// A run of a target that a file describes takes a copy of it along: what was promised is known where the file is not.
func TestARunKeepsTheDefinitionOfItsTarget(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(file, []byte(definition), 0o644))
	results := t.TempDir()
	dir, err := makeFolder(results, file)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(results, "mine"), filepath.Dir(dir))
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(definition, "[elects]", "[exclusive-leadership]", 1)), 0o644))
	h, err := history.New([]history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Target: file}}})
	require.NoError(t, err)
	for _, r := range []*record.Run{{Dir: dir, History: h}, {From: dir, History: h}} {
		p, known := promises(r)
		require.True(t, known)
		promised, _ := p.target.Promised(p.options, "elects")
		require.True(t, promised, "by what the file said then")
	}
	require.NoError(t, os.Remove(file))
	p, known := promises(&record.Run{Dir: dir, History: h})
	require.True(t, known)
	promised, _ := p.target.Promised(p.options, "elects")
	require.True(t, promised)
	_, known = promises(&record.Run{History: h})
	require.False(t, known, "a history alone cannot tell")
	require.NoError(t, os.WriteFile(file, []byte(definition), 0o644))
	_, known = promises(&record.Run{From: t.TempDir(), History: h})
	require.False(t, known, "a file of that name may be another one")
}
