package campaign

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/harness/shrink"
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

// A program that is not whole in the store is put there again: its key is that of what it is, so no later one takes its place.
func TestAProgramIsWholeOnceACampaignIsPlanned(t *testing.T) {
	server := filepath.Join(t.TempDir(), "server")
	require.NoError(t, os.CopyFS(server, os.DirFS("../testdata/reluctant")))
	require.NoError(t, os.WriteFile(filepath.Join(server, "go.mod"), []byte("module server\n\ngo 1.25\n"), 0o644))
	c := loaded(t, "name: reluctant\ntargets: ["+server+"/election.yaml]\non: virtual\nnodes: 3\n")
	st := opened(t, t.TempDir())
	put := func() program {
		all, err := c.putPrograms(t.Context(), st, func(string) {})
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0]
	}
	p := put()
	want, err := st.Get(t.Context(), p.Key)
	require.NoError(t, err)
	require.NoError(t, st.PutRaw(t.Context(), p.Key, []byte("half of it")))
	require.Equal(t, p, put())
	got, err := st.Get(t.Context(), p.Key)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
}

// A store serves whoever has the target's file, wherever that lies: it is nowhere in it.
func TestAStoreKnowsNoPlaceOfAFile(t *testing.T) {
	all := shrinking[record.OnVirtual]
	t.Cleanup(func() { shrinking[record.OnVirtual] = all })
	shrinking[record.OnVirtual] = shrink.Config{Jobs: 1, Runs: 10, Measure: 2}
	at := t.TempDir()
	here, there := filepath.Join(at, "here"), filepath.Join(at, "there")
	require.NoError(t, os.CopyFS(here, os.DirFS("../testdata/reluctant")))
	require.NoError(t, os.WriteFile(filepath.Join(here, "go.mod"), []byte("module server\n\ngo 1.25\n"), 0o644))
	st := opened(t, t.TempDir())
	run := func(server string) *Summary {
		c := loaded(t, "name: moved\ntargets: ["+server+"/election.yaml]\non: virtual\nfaults: [restart]\nproperty: exclusive-leadership\nnodes: 3\ntime: 10s\nruns: 2\nshard: 1\n")
		dir := t.TempDir()
		w, err := c.open(t.Context(), Config{Store: st, Folder: dir})
		require.NoError(t, err)
		require.NoError(t, st.Put(t.Context(), "yardstick/"+w.subjects[0].id, []byte("{}"))) // it would take half a minute
		s, err := c.Run(t.Context(), Config{Store: st, Folder: dir})
		require.NoError(t, err)
		return s
	}
	s := run(here)
	require.Equal(t, "election: exclusive-leadership: restart", strings.Join(strings.Fields(s.Findings[0].Signature)[:3], " "))
	for _, prefix := range []string{"results/", "parents/", "findings/"} {
		all, err := keys(t.Context(), st, prefix)
		require.NoError(t, err)
		require.NotEmpty(t, all)
		for _, key := range all {
			text, err := st.Get(t.Context(), key)
			require.NoError(t, err)
			require.NotContains(t, string(text), here, key)
		}
	}
	require.NoError(t, os.Rename(here, there))
	require.Equal(t, said(t, s), said(t, run(there)))
}
