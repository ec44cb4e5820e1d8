package linear

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cases are histories of a register that once took a hundred times as long as with porcupine, and were undecided: 10,000
// operations of 5 clients, 1 % of them of unknown outcome, and 1,000 of 10 clients, 10 %.
var cases = []string{"10k-c5-u01-11", "worse-than-porcupine"}

// TestCases decides them, in a hundred times as much of the processor's time as that takes.
func TestCases(t *testing.T) {
	for _, name := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := WithTime(WithMemory(context.Background(), 1<<30), 10*time.Second)
			defer cancel()
			require.Equal(t, legal, readCase(t, name).Decide(ctx).Answer)
		})
	}
}

// readCase reads a case: a line is a client that reads (0r4), writes (0w4) or compares and sets (0c1>4), the same with "?" where
// the outcome is unknown, or one that is done (0.). With "=" before it, it happens at the time of the line before.
func readCase(t *testing.T, name string) *Object {
	f, err := os.Open("testdata/" + name + ".txt.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	o := NewObject(false)
	under := map[string]int{} // of each client
	now := time.Duration(0)
	for line := range strings.Lines(string(text)) {
		line, same := strings.CutPrefix(strings.TrimSpace(line), "=")
		if !same {
			now++
		}
		k := strings.IndexAny(line, "rwc.")
		client, what := line[:k], line[k+1:]
		if line[k] == '.' {
			o.Ops[under[client]].Return = now
			continue
		}
		n, err := strconv.Atoi(client)
		require.NoError(t, err)
		under[client] = len(o.Ops)
		old, value, _ := strings.Cut(strings.TrimSuffix(what, "?"), ">")
		u := Op{Call: now, Return: Never, Kind: map[byte]Kind{'r': Get, 'w': Put, 'c': CAS}[line[k]], Client: int32(n), Begin: int32(len(o.Ops))}
		if u.Kind == CAS {
			u.Old, u.Value = o.Number(old), o.Number(value)
		} else {
			u.Value = o.Number(old)
		}
		o.Add(u)
	}
	return o
}
