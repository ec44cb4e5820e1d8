package cli

import (
	"bufio"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/testlong"
)

var (
	manyLines = flag.Int("lines", 2_000_000, "lines of the longest histories that must not take more memory than shorter ones")
	keptLines = flag.String("lines-in", "", "the folder to keep those histories in")
)

// TestLongHistoriesTakeNoMoreMemory judges histories from files, of one kind of op each, and others that are four times as long.
func TestLongHistoriesTakeNoMoreMemory(t *testing.T) {
	testlong.Only(t)
	for kind, property := range map[string]string{
		"terms": "monotonic-term", "votes": "vote-once", "updates": "ordered-updates", "fencing": "fencing", "fencing by five": "fencing",
	} {
		t.Run(kind, func(t *testing.T) {
			var most [2]int64
			for i, lines := range []int{*manyLines / 4, *manyLines} {
				dir := *keptLines
				if dir == "" {
					dir = t.TempDir()
				}
				file := filepath.Join(dir, "history.jsonl")
				writeLines(t, file, kind, lines)
				out, usage := checkAlone(t, file)
				require.Regexp(t, property+" +valid", string(out))
				most[i] = usage.Maxrss << 10
				cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
				t.Logf("%d lines: %d MiB, %v of the processor", lines, most[i]>>20, cpu)
			}
			require.Less(t, most[1], most[0]+most[0]/4, "four times as many lines")
		})
	}
}

// checkAlone has a process of its own judge a file.
func checkAlone(t *testing.T, file string) (out []byte, usage *syscall.Rusage) {
	self, err := os.Executable()
	require.NoError(t, err)
	recount := filepath.Join(t.TempDir(), "recount") // the name by which TestMain knows that it is to be the program
	require.NoError(t, os.Symlink(self, recount))
	cmd := exec.CommandContext(context.Background(), recount, "check", file)
	out, _ = cmd.Output()
	require.Less(t, cmd.ProcessState.ExitCode(), 3, string(out))
	usage, _ = cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return out, usage
}

// writeLines writes a valid history of so many lines: five nodes, and a new term each time that they vote, after each thousand of
// updates and writes, and in the middle of all answers: what is said around a change is kept.
func writeLines(t *testing.T, path, kind string, lines int) {
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	l := long{w: bufio.NewWriterSize(f, 1<<20), term: 1}
	name := func(i int) string { return "n" + strconv.Itoa(1+i) }
	l.add(history.Op{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{
		Version: "test", Target: "raft", Cluster: "sim", Nodes: []string{"n1", "n2", "n3", "n4", "n5"},
		Bounds: history.Bounds{Silence: 300 * time.Millisecond, Elect: 2 * time.Second, Poll: 20 * time.Millisecond},
	}})
	rounds := 1000
	switch kind {
	case "votes":
		rounds = 1
	case "terms":
		rounds = lines / 20 // a round has ten
	}
	for round := 0; l.n < lines-20; round++ {
		reign := round / rounds
		l.term, l.lead = uint64(1+reign), reign%5
		for i := range 5 {
			op := history.Op{Process: history.Process(i), Type: history.OK, Node: name(i)}
			switch kind {
			case "terms":
				op.F, op.Type = history.Observe, history.Invoke
				l.add(op)
				op.Type, op.View = history.OK, history.View{Role: history.Follower, Term: l.term, Leader: name(l.lead)}
				if i == l.lead {
					op.View.Role, op.View.Tenure = history.Leader, l.term
				}
			case "votes":
				op.F, op.Vote = history.Granted, history.Vote{Term: l.term, For: name(l.lead)}
			case "updates":
				op.F, op.Value = history.Apply, &history.Update{Term: l.term, Counter: uint64(1 + round), From: name(l.lead)}
			default: // one after the other, or all at once, of whom one writes
				op.F, op.Type, op.Node = history.Read, history.Invoke, name(l.lead)
				if i == 0 {
					l.value++
					op.F, op.Access = history.Write, history.Access{Token: l.term, Value: l.value}
				}
				l.add(op)
				if kind == "fencing by five" {
					continue
				}
				op.Type, op.Access = history.OK, history.Access{Token: l.term, Value: l.value}
			}
			l.add(op)
		}
		if kind == "fencing by five" {
			for i := range 5 {
				f := history.Read
				if i == 0 {
					f = history.Write
				}
				l.add(history.Op{
					Process: history.Process(i), Type: history.OK, F: f, Node: name(l.lead), Access: history.Access{Token: l.term, Value: l.value},
				})
			}
		}
	}
	l.add(history.Op{Process: history.Harness, Type: history.OK, F: history.End})
	require.NoError(t, l.w.Flush())
}
