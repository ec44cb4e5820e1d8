package harness

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/election"
	"recount/harness/record"
	"recount/targets"
)

// overflowing is an election that panics over its tenth message.
type overflowing struct {
	election.Node
	got []int
}

func (o *overflowing) Receive(from election.ID, m election.Message) {
	if o.got = append(o.got, int(from)); len(o.got) == 10 {
		_ = o.got[len(o.got)]
	}
	o.Node.Receive(from, m)
}

// An author whose algorithm panics is told where, and that the promise that no process ends by itself is broken.
func TestAnAlgorithmThatPanics(t *testing.T) {
	dir := t.TempDir()
	p := record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: 2 * time.Second, Seed: 1}
	s, err := resolve(p)
	require.NoError(t, err)
	broken := *s.target
	broken.Node = func(o targets.Options, env election.Env) election.Node {
		return &overflowing{Node: s.target.Node(o, env)}
	}
	one := *s
	one.target = &broken
	r := &run{subject: &one, Config: Config{Progress: func(string) {}}}
	require.NoError(t, r.record(t.Context(), dir))
	log, err := os.ReadFile(filepath.Join(dir, record.NodeLogs, "n1.log"))
	require.NoError(t, err)
	require.Regexp(t, `^panic: runtime error: index out of range \[10\] with length 10\n\trecount/harness.\(\*overflowing\).Receive, panicked_test.go:\d+\n$`, string(log))
	rep := r.outline()
	require.NoError(t, r.judged(t.Context(), rep))
	require.Contains(t, rep.Notes, `n1 ended by itself with exit status 2; its log is in nodes/n1.log`)
	require.Contains(t, rep.LastWords, `n1 wrote, before it ended: "panic: runtime error: index out of range [10] with length 10"`)
	at := slices.IndexFunc(rep.Verdicts, func(v record.Verdict) bool { return v.Property == targets.StaysUp })
	require.Equal(t, checkers.Invalid, rep.Verdicts[at].Verdict)
	require.True(t, rep.Verdicts[at].Promised)
	require.Contains(t, rep.Verdicts[at].Why, "(exit status 2, panic: runtime error: index out of range [10] with length 10)")
	require.Equal(t, record.StatusBroken, rep.Status)
}
