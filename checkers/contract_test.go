package checkers

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"recount/checkers/linear"
	"recount/history"
)

// TestContract walks the registry: what must hold for every checker.
func TestContract(t *testing.T) {
	require.NotEmpty(t, All())
	for i, c := range All() {
		t.Run(c.Property, func(t *testing.T) {
			require.NotEmpty(t, c.Holds)
			if i > 0 {
				require.LessOrEqual(t, order(All()[i-1].Property), order(c.Property))
			}
		})
		t.Run(c.Property+"/empty", func(t *testing.T) {
			none, err := history.New(nil)
			require.NoError(t, err)
			bare, err := parseHistory("nodes n1 n2 n3\nbounds silence=1s elect=4s poll=100ms\n9s end")
			require.NoError(t, err)
			for _, h := range []*history.History{none, bare} {
				r := c.Check(context.Background(), h)
				require.Equal(t, c.Property, r.Property)
				require.Equal(t, Unknown, r.Verdict)
				require.NotEmpty(t, r.Why)
				require.Empty(t, r.Stack)
			}
		})
		t.Run(c.Property+"/golden", func(t *testing.T) {
			seen := map[string]bool{}
			for _, file := range files(t, c.Property) {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				_, result, _ := strings.Cut(string(text), separator)
				verdict, _, _ := strings.Cut(filepath.Base(file), "-")
				require.Equal(t, verdict, strings.Fields(result)[0], "%s is named after another verdict than it has", file)
				seen[verdict] = true
			}
			for _, v := range verdictNames {
				require.True(t, seen[v], "no golden history that is %s", v)
			}
		})
		t.Run(c.Property+"/deterministic", func(t *testing.T) {
			for _, h := range goldens(t) {
				first := c.Check(context.Background(), h)
				for _, again := range []Result{c.Check(context.Background(), h), CheckAll(context.Background(), h)[i]} {
					first.Drawing, again.Drawing = nil, nil // porcupine draws what is equal in any order
					require.Equal(t, first, again)
				}
			}
		})
	}
	folders, err := filepath.Glob(filepath.Join("testdata", "*", "*"))
	require.NoError(t, err)
	for _, f := range folders {
		property := filepath.Base(filepath.Dir(f))
		known := property == "cases" || slices.ContainsFunc(All(), func(c Checker) bool { return c.Property == property })
		require.True(t, known, "%s belongs to no checker", f)
	}
}

// goldens returns all golden histories, whatever their property.
func goldens(t *testing.T) (all []*history.History) {
	for _, file := range files(t, "*") {
		all = append(all, given(t, file))
	}
	return all
}

func TestEvidence(t *testing.T) {
	for _, h := range goldens(t) {
		for _, r := range CheckAll(context.Background(), h) {
			require.NotContains(t, r.Why, "\n")
			if r.Verdict != Invalid {
				require.Empty(t, r.Ops)
				continue
			}
			require.NotEmpty(t, r.Ops)
			require.True(t, slices.IsSorted(r.Ops))
			require.LessOrEqual(t, r.From, r.To)
			for _, i := range r.Ops {
				require.Equal(t, i, h.Ops[i].Index)
			}
		}
	}
}

func TestCrash(t *testing.T) {
	crash := Checker{Property: "fencing", check: func(context.Context, *facts) Result { panic("out of ink") }}
	h, err := parseHistory("nodes n1 n2\n1s n1 leader 1\n2s n2 follower 1\n3s end")
	require.NoError(t, err)
	r := crash.Check(context.Background(), h)
	require.Equal(t, Unknown, r.Verdict)
	require.Equal(t, "the checker crashed: out of ink", r.Why)
	require.Contains(t, r.Stack, "contract_test.go")

	// What was never a history leaves every checker without a verdict.
	var nodes []string
	for range maxNodes + 1 {
		nodes = append(nodes, "n"+strings.Repeat("x", len(nodes)))
	}
	setup := &history.Setup{Nodes: nodes}
	h = &history.History{Ops: []history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: setup}}}
	for _, r := range CheckAll(context.Background(), h) {
		require.Equal(t, Unknown, r.Verdict)
		require.Equal(t, "the checker crashed: more than 256 nodes", r.Why)
		require.NotEmpty(t, r.Stack)
	}
}

// TestFaultWithoutName has a nemesis that does not tell what it did.
func TestFaultWithoutName(t *testing.T) {
	h, err := parseHistory("nodes n1 n2\n1s nemesis inject kill n1: kill n1\n2s nemesis heal kill n1: start n1\n3s end")
	require.NoError(t, err)
	for i := range h.Ops {
		h.Ops[i].Fault = nil
	}
	for _, r := range CheckAll(context.Background(), h) {
		require.Equal(t, Unknown, r.Verdict)
		require.Empty(t, r.Stack)
	}
}

func TestCheckSome(t *testing.T) {
	h, err := parseHistory("nodes n1 n2\n1s n1 leader 1\n2s n2 follower 1\n3s end")
	require.NoError(t, err)
	results := CheckSome(context.Background(), h, []string{"fencing", "single-leader-per-term"})
	require.Len(t, results, 2)
	require.Equal(t, "single-leader-per-term", results[0].Property)
	require.Equal(t, Valid, results[0].Verdict)
	require.Equal(t, "fencing", results[1].Property)
	require.PanicsWithValue(t, `checkers: not all of ["fencing" "fancing"] are properties`, func() {
		CheckSome(context.Background(), h, []string{"fencing", "fancing"})
	})
}

func TestVerdictText(t *testing.T) {
	for _, v := range []Verdict{Unknown, Valid, Invalid} {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		var back Verdict
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, v, back)
	}
	var v Verdict
	require.ErrorContains(t, v.UnmarshalText([]byte("vald")), `unknown verdict "vald"`)
}

// hard is a history of n pairs of equal writes that all overlap, and of reads that no order of them explains: porcupine
// has to try them all.
func hard(n int) string {
	var b strings.Builder
	b.WriteString("nodes n1 n2\n")
	for i := range n {
		fmt.Fprintf(&b, "1s-9s n1 write 1 %d\n1s-9s n2 write 1 %d\n", i, i)
	}
	b.WriteString("10s client read 1 1\n11s client read 1 2\n12s n1 write 2 1\n13s end")
	return b.String()
}

func TestLimits(t *testing.T) {
	h, err := parseHistory(hard(20))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r := find("fencing").Check(ctx, h)
	require.Equal(t, Unknown, r.Verdict)
	require.False(t, r.Untested)
	require.Contains(t, r.Why, "time ran out in the search for an order of 42 operations")

	ctx = linear.WithMemory(context.Background(), 1<<20)
	r = find("fencing").Check(ctx, h)
	require.Equal(t, Unknown, r.Verdict)
	require.Contains(t, r.Why, "the search for an order of 42 operations grew beyond 1 MiB")
}

// TestDrawings has porcupine draw what it confirmed, and what was legal and is not too much.
func TestDrawings(t *testing.T) {
	for _, c := range []struct{ property, text, shows string }{
		{"single-leader-per-term", "1s n1 leader 1\n2s n2 leader 1", "n2 leads in term 1"},
		{"single-leader-per-term", "1s n1 leader 1\n2s n2 leader 2", "n2 leads in term 2"},
		{"exclusive-leadership", "1s n1 leader 1\n3s n1 leader 1\n2s n2 leader 2\n4s n2 leader 2", "n1 takes the lead"},
		{"exclusive-leadership", "1s n1 leader 1\n3s n1 leader 1\n2s n2 leader 2\n4s n2 leader 2", "n1 gives it up"},
		{"fencing", "1s n1 write 1 1\n2s n2 write 2 2\n3s n1 write 1 3", "n2's write with token 2, value 2: accepted"},
		{"fencing", "1s n1 write 1 1\n2s n2 write 2 2\n3s n1 write 1 3", "the last order"},
		{"fencing", "1s n1 write 1 1\n2s n2 write 2 2\n3s client read 2 2", "token 2, value 2: seen"},
		{"linearizable", "1s c1 put 1\n2s c2 get 1", "read 1"},
		{"linearizable", "1s c1 put 1\n2s c2 cas 1 2 unknown\n3s c3 get 1", "set 1 to 2 (outcome unknown)"},
		{"linearizable", "1s c1 put 1 revision 3\n2s c2 get 1", "wrote 1 (revision 3)"},
		{"linearizable", "1s c1 get\n2s c2 put 1", `"StateDescription":"nothing"`},
		{"linearizable", "1s c1 acquire\n2s c2 acquire", "took the lock"},
		{"linearizable", "1s c1 acquire\n2s c2 acquire", "the last order"},
		{"linearizable", "1s c1 acquire\n2s c2 release", "released the lock"},
		{"linearizable", "1s c1 acquire\n2s c2 release", `"StateDescription":"free"`},
		{"linearizable", "1s c1 acquire\n2s c2 release", `"StateDescription":"taken"`},
	} {
		h, err := parseHistory("nodes n1 n2\n" + c.text + "\n5s end")
		require.NoError(t, err)
		r := find(c.property).Check(context.Background(), h)
		require.NotEqual(t, Unknown, r.Verdict)
		require.Contains(t, string(r.Drawing), "<html")
		require.Contains(t, string(r.Drawing), "#jump-link').click()", "it opens where no order goes on")
		require.Contains(t, html.UnescapeString(string(r.Drawing)), c.shows)
		b, err := json.Marshal(r)
		require.NoError(t, err)
		require.NotContains(t, string(b), "html", "drawings are files of their own")
	}
	terms := []porcupine.Operation{{Input: claim{"n1", 1}}, {Input: claim{"n2", 2}, Call: 1, Return: 1}}
	require.Equal(t, 2, strings.Count(string(linear.Draw(context.Background(), claimModel, terms)), `"PartialLinearizations":`), "part by part")

	r := judged(t, "1s c1 put 1 key x\n2s c2 get 1 key x\n1s c3 put 1 key y\n2s c4 get 1 key y")
	require.Equal(t, Valid, r.Verdict)
	require.Nil(t, r.Drawing, "there is more than one")
}

// TestInterrupted wants no verdict of a check that was interrupted: what porcupine did not confirm accuses nobody.
func TestInterrupted(t *testing.T) {
	interrupted, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	for property, text := range map[string]string{
		"single-leader-per-term": "1s n1 leader 1\n2s n2 leader 1",
		"exclusive-leadership":   "1s n1 leader 1\n3s n1 leader 1\n2s n2 leader 2\n4s n2 leader 2",
		"fencing":                "1s n1 write 1 1\n2s n2 write 2 2\n3s n1 write 1 3",
	} {
		h, err := parseHistory("nodes n1 n2\n" + text + "\n5s end")
		require.NoError(t, err)
		r := find(property).Check(interrupted, h)
		require.Equal(t, Unknown, r.Verdict, property)
		require.Contains(t, r.Why, "time ran out before the search")
		require.Equal(t, Invalid, find(property).Check(late, h).Verdict, "%s was found in time", property)
	}
}

// TestNoSignOfTheEnd leaves nothing valid in a history of which nobody knows whether it is complete.
func TestNoSignOfTheEnd(t *testing.T) {
	h, err := parseHistory("nodes n1 n2\nbounds silence=1s elect=4s poll=100ms\n1s n1 leader 1\n2s n2 follower 1\n3s end")
	require.NoError(t, err)
	end := &h.Ops[len(h.Ops)-1]
	end.Type, end.Error = history.Info, "2 operations never ended"
	r := find("single-leader-per-term").Check(context.Background(), h)
	require.Equal(t, Unknown, r.Verdict)
	require.True(t, strings.HasPrefix(r.Why, "no sign that the history is complete (2 operations never ended): up to there, "), r.Why)
}

// TestFaultToldByItsEndAlone is in doubt since it began, though only its end tells what it was.
func TestFaultToldByItsEndAlone(t *testing.T) {
	h := given(t, "testdata/elects/valid-change-of-more-than-was-said.txt")
	for i := range h.Ops {
		if op := &h.Ops[i]; op.F == history.Change && op.Type == history.Invoke {
			op.Fault = nil
		}
	}
	r := find("elects").Check(context.Background(), h)
	require.Equal(t, Valid, r.Verdict, r.Why)
}
