package bugs

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
)

var update = flag.Bool("update", false, "write the page anew from what was measured")

// Every row can be run, and its scenario expects what the row counts.
func TestRows(t *testing.T) {
	t.Chdir(filepath.Join("..", "..")) // where the files are that rows name
	require.NotEmpty(t, All())
	for _, r := range All() {
		t.Run(r.Name, func(t *testing.T) {
			s, err := harness.LoadScenario(r.Scenario())
			require.NoError(t, err)
			if r.File == "" { // a file of the examples is about several versions
				require.Equal(t, checkers.Invalid, s.Expect[r.Property])
			}
			require.NotEmpty(t, r.Sources)
			require.NotEmpty(t, r.Controls)
			require.NotEmpty(t, r.On)
			keys := map[string]bool{}
			sides, err := r.sides()
			require.NoError(t, err)
			for _, side := range sides {
				p, err := r.plan(side, 1)
				require.NoError(t, err)
				require.NotEmpty(t, p.Schedule)
				key, err := r.key(side)
				require.NoError(t, err)
				require.False(t, keys[key], "two sides are the same run")
				require.NotContains(t, p.Options["version"]+side.About, "3.4.23, in virtual time", "it is a package of Debian's")
				keys[key] = true
			}
		})
	}
	for _, l := range soakSystems {
		require.NoError(t, harness.Check(record.Plan{Target: l.Target, Options: l.Options, On: record.OnDocker, Nodes: l.Nodes}))
	}
}

// A row that is built from Recount's sources is one there alone; elsewhere the page still has what was measured.
func TestARowOfAFile(t *testing.T) {
	rows, err := Find([]string{"river-short-lease"})
	require.NoError(t, err)
	r := rows[0]
	require.ErrorContains(t, r.Here(), "examples/river/slow.yaml")
	require.Contains(t, hint.Of(r.Here()), "Recount's own folder")
	_, err = Measurer{Runs: 1}.Measure(t.Context(), r)
	require.Error(t, err)

	t.Chdir(filepath.Join("..", ".."))
	require.NoError(t, r.Here())
	var made []record.Plan
	m := Measurer{Runs: 2, Tell: func(Outcome) {}, Make: func(_ context.Context, p record.Plan) (*record.Run, error) {
		made = append(made, p)
		return &record.Run{History: &history.History{}, Verdicts: []record.Verdict{{Result: checkers.Result{
			Property: "exclusive-leadership", Verdict: map[string]checkers.Verdict{"0.0.20": checkers.Invalid, "0.0.22": checkers.Valid}[p.Options["version"]],
		}}}}, nil
	}}
	counts, err := m.Measure(t.Context(), r)
	require.NoError(t, err)
	require.True(t, Reliable(counts))
	require.Len(t, made, 4)
	for _, p := range made {
		require.Equal(t, "examples/river/election.yaml", p.Target)
		require.Equal(t, "delay", p.Schedule[0].Fault)
	}
	var rec Record
	require.NoError(t, rec.Put(r, counts))
	for _, dir := range []string{".", t.TempDir()} {
		t.Chdir(dir)
		page, err := rec.Page()
		require.NoError(t, err)
		require.Contains(t, page, "| [river-short-lease](#river-short-lease) | `exclusive-leadership` | **River 0.0.20 over PostgreSQL 15** | **2 of 2** | 0 | 0 |")
		require.Contains(t, page, "`recount run examples/river/slow.yaml --on docker --target examples/river/election.yaml --opt version=0.0.20`")
	}

	require.Error(t, r.Here(), "nor is it here any more")
	side := side{Control: Control{About: r.Affected, Options: r.Options}, on: record.OnDocker}
	_, measured, err := rec.count(r, side)
	require.NoError(t, err)
	require.True(t, measured)
	for what, change := range map[string]func(r *Row){
		"another property": func(r *Row) { r.Property = "agreement" },
		"another schedule": func(r *Row) { r.File = "examples/river/slower.yaml" },
	} {
		other := r
		change(&other)
		_, measured, err = rec.count(other, side)
		require.NoError(t, err)
		require.False(t, measured, what)
	}
	side.Options = map[string]string{"version": "0.0.21"}
	_, measured, err = rec.count(r, side)
	require.NoError(t, err)
	require.False(t, measured, "another version, in the same words")
}

func TestFind(t *testing.T) {
	all, err := Find(nil)
	require.NoError(t, err)
	require.Equal(t, All(), all)
	rows, err := Find([]string{"etcd-rejoin"})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	_, err = Find([]string{"etcd-rejoinn"})
	require.Equal(t, `did you mean "etcd-rejoin"?`, hint.Of(err))
}

func ran(v checkers.Verdict, besides ...checkers.Result) *record.Run {
	r := &record.Run{History: &history.History{}}
	for _, res := range append([]checkers.Result{{Property: "sticky-leader", Verdict: v, Why: "why"}}, besides...) {
		r.Verdicts = append(r.Verdicts, record.Verdict{Result: res})
	}
	return r
}

// Only a property that the checker found broken counts as shown.
func TestJudge(t *testing.T) {
	crash := checkers.Result{Property: targets.StaysUp, Verdict: checkers.Invalid, Why: "n2 ended by itself"}
	left := checkers.Result{Property: targets.StaysUp, Verdict: checkers.Valid, Why: "but for once, when it was to leave the cluster"}
	for _, c := range []struct {
		run       *record.Run
		err       error
		word, why string
	}{
		{ran(checkers.Invalid), nil, shown, "why"},
		{ran(checkers.Valid), nil, held, "why"},
		{ran(checkers.Unknown), nil, unknown, "why"},
		{ran(checkers.Invalid, crash), nil, failed, "n2 ended by itself"},
		{ran(checkers.Invalid, left), nil, shown, "why"},
		{nil, errors.New("go build: exit status 1"), failed, "go build: exit status 1"},
		{nil, nil, failed, "no run"},
		{&record.Run{History: &history.History{}}, nil, failed, "nobody judged sticky-leader"},
	} {
		word, why := judge(c.run, c.err, "sticky-leader")
		require.Equal(t, c.word, word)
		require.Equal(t, c.why, why)
	}
}

func TestMeasure(t *testing.T) {
	rows, err := Find([]string{"etcd-rejoin"})
	require.NoError(t, err)
	r, told := rows[0], 0
	m := Measurer{
		Runs: 3, On: record.OnDocker,
		Make: func(_ context.Context, p record.Plan) (*record.Run, error) {
			switch {
			case p.Options["version"] == "3.6.16":
				return ran(checkers.Valid), nil
			case p.Options["pre-vote"] == "true" && p.Seed == 2:
				return nil, errors.New("no engine")
			case p.Options["pre-vote"] == "true":
				return ran(checkers.Unknown), nil
			}
			return ran(checkers.Invalid), nil
		},
		Tell: func(Outcome) { told++ },
	}
	counts, err := m.Measure(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, 9, told)
	require.Len(t, counts, 3)
	require.Equal(t, []int{3, 0, 0, 0}, []int{counts[0].Shown, counts[0].Held, counts[0].Unknown, counts[0].Failed})
	require.Equal(t, []int{0, 0, 2, 1}, []int{counts[1].Shown, counts[1].Held, counts[1].Unknown, counts[1].Failed})
	require.Equal(t, []int{0, 3, 0, 0}, []int{counts[2].Shown, counts[2].Held, counts[2].Unknown, counts[2].Failed})
	require.False(t, Reliable(counts), "a control that was never seen to hold controls nothing")
	require.True(t, Reliable([]Count{counts[0], counts[2]}))

	var rec Record
	require.NoError(t, rec.Put(r, counts))
	require.NoError(t, rec.Put(r, counts[:1]), "what is measured again takes the place of itself alone")
	require.Len(t, rec.Rows, 3)
	page, err := rec.Page()
	require.NoError(t, err)
	require.Contains(t, page, "| [etcd-rejoin](#etcd-rejoin) | `sticky-leader` | **etcd 3.4.23** | **3 of 3** | 0 | 0 |")
	require.Contains(t, page, "|  |  | etcd 3.4.23, pre-vote on | 0 of 3 | 2 | 1 |")
	require.Contains(t, page, "a run failed: no engine")
	require.Contains(t, page, "not measured", "of the other rows")

	dir := t.TempDir()
	require.NoError(t, rec.Write(dir))
	again, err := Load(dir)
	require.NoError(t, err)
	require.Equal(t, rec.Rows, again.Rows)
}

func TestMeasureInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	m := Measurer{Runs: 3, Tell: func(Outcome) {}, Make: func(context.Context, record.Plan) (*record.Run, error) {
		cancel(enough)
		return ran(checkers.Invalid), nil
	}}
	_, err := m.Measure(ctx, All()[0])
	require.ErrorIs(t, err, enough)
}

// Where no run can be made, nothing is measured.
func TestMeasureNothing(t *testing.T) {
	none := errors.New("no engine")
	m := Measurer{Runs: 2, Tell: func(Outcome) {}, Make: func(context.Context, record.Plan) (*record.Run, error) { return nil, none }}
	_, err := m.Measure(t.Context(), All()[0])
	require.ErrorIs(t, err, none)
}

// What the docs say was measured, of what the rows are today.
func TestPageIsWhatWasMeasured(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	docs := "docs"
	rec, err := Load(docs)
	require.NoError(t, err)
	want, err := rec.Page()
	require.NoError(t, err)
	if *update {
		require.NoError(t, rec.Write(docs))
	}
	got, err := os.ReadFile(filepath.Join(docs, PageFile))
	require.NoError(t, err)
	require.Equal(t, want, string(got), "make golden writes it; rows that have changed must be measured again")
}

// The rows that are simulated as well are measured here, too: they show on what the bug affects, and nowhere else.
func TestSimulatedRows(t *testing.T) {
	m := Measurer{Runs: 5, Make: harness.Simulate, Tell: func(o Outcome) {
		require.False(t, o.Surprising(), "%s on %s: %s: %s", o.Row.Name, o.About, o.Word, o.Why)
	}}
	seen := 0
	for _, r := range All() {
		if !slices.Contains(r.On, record.OnSim) {
			continue
		}
		r.On = []string{record.OnSim}
		counts, err := m.Measure(t.Context(), r)
		require.NoError(t, err)
		require.True(t, Reliable(counts))
		seen++
	}
	require.Positive(t, seen)
}
