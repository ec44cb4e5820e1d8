package suite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
)

// A suite of a server that takes odd numbers of nodes alone.
const reluctant = `
targets: [{target: FILE, name: odd, nodes: 3}, {target: FILE, name: even, nodes: 4}]
scenarios: [{name: quiet, faults: [cut-link]}]
on: virtual
time: 3s
seeds: 1-8
`

// Runs that do not start end no suite, and are told and kept; a scenario and target of which none does has no more.
func TestRunsThatDoNotStart(t *testing.T) {
	file, err := filepath.Abs("../testdata/reluctant/election.yaml")
	require.NoError(t, err)
	o := run(t, strings.ReplaceAll(reluctant, "FILE", file), Config{Jobs: 1})
	require.Equal(t, record.StatusUnknown, o.Status, "nothing broke, and the harness did not fail")
	came := o.count()
	require.Equal(t, map[State]int{Held: 8, Unstarted: 6, NotRun: 2}, came)
	require.Equal(t, 2, o.LeftOut)
	require.Contains(t, o.Sentence(), "6 runs did not start.")
	require.Contains(t, o.Sentence(), "2 runs left out")
	us := o.void()
	require.Len(t, us, 1)
	require.Contains(t, us[0].First.Error, "only odd numbers of nodes are supported")
	require.FileExists(t, filepath.Join(o.Dir, us[0].First.Dir, record.RunFile))

	var text, markdown, page, junit bytes.Buffer
	require.NoError(t, o.Text(&text))
	require.NoError(t, o.Markdown(&markdown))
	require.NoError(t, o.HTML(&page))
	require.NoError(t, o.JUnit(&junit))
	require.Contains(t, text.String(), fmt.Sprintf("\n? quiet on even: 6 runs did not start; the first, seed %d\n", us[0].First.Seed))
	require.Contains(t, text.String(), "repeat: "+us[0].First.Repeat)
	require.Contains(t, markdown.String(), "6 runs did not start; the first, seed ")
	require.Contains(t, page.String(), us[0].First.Dir+"/run.json")
	require.Contains(t, junit.String(), "it did not start: ")
	require.Contains(t, o.Annotations()[0].Text, "6 runs did not start")
}

// What is built for runs of which nothing is told one by one is told all the same.
func TestWhatIsBuiltIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "told")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../testdata/reluctant")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module told\n\ngo 1.25\n"), 0o644))
	var mu sync.Mutex
	var told []string
	ctx := harness.Building(t.Context(), func(line string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, line)
	})
	text := "targets: [{target: FILE, nodes: 3}]\nscenarios: [{name: quiet, faults: [cut-link]}]\non: virtual\ntime: 3s\n"
	s := load(t, strings.ReplaceAll(text, "FILE", filepath.Join(dir, "election.yaml")))
	_, err := s.Make(ctx, Config{Results: t.TempDir(), Now: today})
	require.NoError(t, err)
	require.Contains(t, told, "building told for virtual time")
}

// Which runs are left out does not depend on how many are made at once.
func TestTheSameRunsAreLeftOutWhateverIsMadeAtOnce(t *testing.T) {
	file, err := filepath.Abs("../testdata/reluctant/election.yaml")
	require.NoError(t, err)
	even := strings.ReplaceAll(reluctant, "{target: FILE, name: odd, nodes: 3}, ", "")
	for _, jobs := range []int{1, 3, 8} {
		var last Progress
		o := run(t, strings.ReplaceAll(even, "FILE", file), Config{Jobs: jobs, Progress: func(p Progress) { last = p }})
		require.Equal(t, 2, o.LeftOut, "with %d at once", jobs)
		require.Equal(t, last.Planned, last.Done)
		for i, r := range o.Runs {
			want := Unstarted
			if i >= maxUnstarted {
				want = NotRun
			}
			require.Equal(t, want, r.State, "seed %d, with %d at once", r.Seed, jobs)
		}
	}
}
