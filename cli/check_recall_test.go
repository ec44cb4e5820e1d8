package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
)

// TestWhatIsAtOddsWithWhatWasLongBefore judges files whose last op cannot be, because of one of the first: that has been forgotten
// by then, and is looked up.
func TestWhatIsAtOddsWithWhatWasLongBefore(t *testing.T) {
	const rounds = 40_000
	write := func(l *long, node string, token uint64, value int64) {
		op := history.Op{Process: 1, Type: history.Invoke, F: history.Write, Node: node, Access: history.Access{Token: token, Value: value}}
		l.add(op)
		op.Type = history.OK
		l.add(op)
	}
	for _, c := range []struct {
		name, property, says string
		each                 func(l *long, i int)
		last                 func(l *long)
		ops                  []int // that it names besides the last
	}{
		{
			name: "a vote", property: "vote-once", says: "in term 1 n1 voted for n2 and for n3",
			each: func(l *long, i int) {
				l.add(history.Op{Type: history.OK, F: history.Granted, Node: "n1", Vote: history.Vote{Term: uint64(i + 1), For: "n2"}})
			},
			last: func(l *long) {
				l.add(history.Op{Type: history.OK, F: history.Granted, Node: "n1", Vote: history.Vote{Term: 1, For: "n3"}})
			},
			ops: []int{1},
		},
		{
			name: "an update", property: "ordered-updates", says: "n1 applied update 3 of term 1 from n1, and n2 applied update 3 of term 1 from n3",
			each: func(l *long, i int) {
				l.add(history.Op{Type: history.OK, F: history.Apply, Node: "n1", Value: &history.Update{Term: 1, Counter: uint64(i), From: "n1"}})
			},
			last: func(l *long) {
				l.add(history.Op{Type: history.OK, F: history.Apply, Node: "n2", Value: &history.Update{Term: 1, Counter: 3, From: "n3"}})
			},
			ops: []int{4},
		},
		{
			name: "a token", property: "fencing", says: "token 2 was presented by n1 and by n2: no fence can tell them apart",
			each: func(l *long, i int) { write(l, "n1", uint64(i+1), int64(i+1)) },
			last: func(l *long) {
				op := history.Op{Process: 2, Type: history.Invoke, F: history.Write, Node: "n2", Access: history.Access{Token: 2, Value: -1}}
				l.add(op)
				op.Type = history.Fail
				l.add(op)
			},
			ops: []int{4},
		},
		{
			name: "a stale write", property: "fencing", says: "n1's write with token 3 was accepted by",
			each: func(l *long, i int) { write(l, "n1", uint64(3+i/1000), int64(i+1)) },
			last: func(l *long) { write(l, "n1", 3, -1) },
		},
		{
			name: "a stale read", property: "fencing", says: "no order explains",
			each: func(l *long, i int) { write(l, "n1", uint64(3+i/30_000), int64(i+1)) },
			last: func(l *long) {
				op := history.Op{Process: 2, Type: history.Invoke, F: history.Read, Node: "n2"}
				l.add(op)
				op.Type, op.Access = history.OK, history.Access{Token: 4, Value: 30_001}
				l.add(op)
			},
			ops: []int{60_002},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text bytes.Buffer
			l := long{w: bufio.NewWriter(&text)}
			l.add(history.Op{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{
				Version: "test", Target: "raft", Cluster: "sim", Nodes: []string{"n1", "n2", "n3"},
				Bounds: history.Bounds{Silence: time.Second, Elect: time.Second, Poll: time.Second},
			}})
			for i := range rounds {
				c.each(&l, i)
			}
			first := l.n
			c.last(&l)
			l.add(history.Op{Process: history.Harness, Type: history.OK, F: history.End})
			require.NoError(t, l.w.Flush())
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "history.jsonl"), text.Bytes(), 0o644))
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(text.Bytes())
			require.NoError(t, z.Close())
			require.NoError(t, os.WriteFile(filepath.Join(dir, "other.jsonl.gz"), packed.Bytes(), 0o644))
			for _, file := range []string{"history.jsonl", "other.jsonl.gz"} {
				var out, errs bytes.Buffer
				status := run([]string{"check", "--json", filepath.Join(dir, file)}, &out, &errs)
				require.Equal(t, record.StatusBroken, status, errs.String())
				var got struct{ Verdicts []checkers.Result }
				require.NoError(t, json.Unmarshal(out.Bytes(), &got))
				k := slices.IndexFunc(got.Verdicts, func(r checkers.Result) bool { return r.Property == c.property })
				r := got.Verdicts[k]
				require.Equal(t, checkers.Invalid, r.Verdict)
				require.Contains(t, r.Why, c.says)
				late := 0
				for _, op := range r.Ops {
					if op >= first {
						late++
					}
				}
				for _, op := range c.ops {
					require.Contains(t, r.Ops, op, fmt.Sprint(r.Ops))
				}
				require.Positive(t, late)
				require.Less(t, late, len(r.Ops), "what it is at odds with: %v", r.Ops)
			}
		})
	}
}
