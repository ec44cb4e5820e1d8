package linear

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The notation of tests has one operation a line: when it began and, after a dash, returned; who acts; what was done, and
// what became of it if it is not the usual.
//
//	1s-2s c1 put 3 revision 7
//	2s    c2 get nothing
//	3s    c1 cas 3 4 unknown
//	1s    n1 write 2 20 rejected
//	2s    client read 2 20
type line struct {
	call, ret time.Duration
	who, did  string
	args      []string
	outcome   string
}

func parseLines(t testing.TB, text string) (all []line) {
	t.Helper()
	for s := range strings.Lines(text) {
		words := strings.Fields(s)
		if len(words) == 0 {
			continue
		}
		from, to, lasts := strings.Cut(words[0], "-")
		if !lasts {
			to = from
		}
		l := line{who: words[1], did: words[2], args: words[3:]}
		var err error
		l.call, err = time.ParseDuration(from)
		require.NoError(t, err)
		l.ret, err = time.ParseDuration(to)
		require.NoError(t, err)
		if n := len(l.args); n > 0 && (l.args[n-1] == "unknown" || l.args[n-1] == "rejected") {
			l.args, l.outcome = l.args[:n-1], l.args[n-1]
		}
		all = append(all, l)
	}
	return all
}

// oneObject is what lines tell of a register or a lock.
func oneObject(t testing.TB, text string) *Object {
	t.Helper()
	lines := parseLines(t, text)
	o := NewObject(lines[0].did == "acquire" || lines[0].did == "release")
	for i, l := range lines {
		u := Op{Call: l.call, Return: l.ret, Begin: int32(i), End: int32(i)}
		if l.outcome == "unknown" {
			u.Return, u.End = Never, -1
		}
		fmt.Sscanf(l.who, "c%d", &u.Client)
		if n := len(l.args); n > 1 && l.args[n-2] == "revision" {
			r, err := strconv.ParseUint(l.args[n-1], 10, 64)
			require.NoError(t, err)
			u.Revision, l.args = r, l.args[:n-2]
		}
		value := func(k int) int32 {
			if l.args[k] == "nothing" {
				return 0
			}
			return o.Number(l.args[k])
		}
		switch l.did {
		case "get":
			u.Kind, u.Value = Get, value(0)
		case "put":
			u.Kind, u.Value = Put, value(0)
		case "cas":
			u.Kind, u.Old, u.Value = CAS, value(0), value(1)
		case "acquire":
			u.Kind, u.Value = Take, o.Number("taken")
		case "release":
			u.Kind = Give
		default:
			t.Fatalf("what is %q?", l.did)
		}
		o.Add(u)
	}
	return o
}

// accesses are what lines tell of a fenced resource.
func accesses(t testing.TB, text string) (all []Access) {
	t.Helper()
	for i, l := range parseLines(t, text) {
		a := Access{Call: l.call, Return: l.ret, At: int32(i), Node: strings.TrimPrefix(l.who, "client")}
		_, err := fmt.Sscanf(strings.Join(l.args, " "), "%d %d", &a.Token, &a.Value)
		require.NoError(t, err)
		switch {
		case l.did == "read":
			a.Kind = Read
		case l.outcome == "rejected":
			a.Kind = Rejected
		case l.outcome == "unknown":
			a.Kind, a.Return = Maybe, Never
		}
		all = append(all, a)
	}
	return all
}

// hard is what no way of deciding finds easy: n values written twice, all at once, with nothing to tell them apart.
func hard(t testing.TB, n int) []Access {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "1s-9s n1 write 1 %d\n1s-9s n2 write 1 %d\n", i, i)
	}
	return accesses(t, b.String()+"10s client read 1 1\n11s client read 1 2\n12s n1 write 2 1")
}
