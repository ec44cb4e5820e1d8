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

// A run of a target that a file describes takes a copy of it along, as it was when the run was planned: what was promised is known where
// the file is not, or says something else by now.
func TestARunKeepsTheDefinitionOfItsTarget(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(file, []byte(definition), 0o644))
	s, err := resolve(record.Plan{Target: file, On: record.OnDocker})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(definition, "[elects]", "[exclusive-leadership]", 1)), 0o644))
	results := t.TempDir()
	kept, err := newRun(s, Config{Results: results}).open()
	require.NoError(t, err)
	dir := kept.Dir
	require.Equal(t, filepath.Join(results, "mine"), filepath.Dir(dir))
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

// What is kept of a run that lies in a folder already, as those on containers do, is what lies there, the definition of its target too.
func TestARunInAFolderIsKeptAsItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(file, []byte(definition), 0o644))
	s, err := resolve(record.Plan{Target: file, On: record.OnDocker})
	require.NoError(t, err)
	r, err := newRun(s, Config{Results: t.TempDir()}).open()
	require.NoError(t, err)
	require.NoError(t, os.Remove(file))
	dir := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, KeepAs(t.Context(), r, dir, func(r *record.Run) error { return record.Save(r) }))
	text, err := os.ReadFile(filepath.Join(dir, record.DefinitionFile))
	require.NoError(t, err)
	require.Equal(t, definition, string(text))
	results := t.TempDir()
	require.NoError(t, Keep(t.Context(), r, results))
	require.FileExists(t, filepath.Join(r.Dir, record.DefinitionFile))
}
