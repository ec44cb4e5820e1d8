package claims

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/batch"

	"recount/internal/hint"
)

func quiet(batch.Progress) {}

// everything is all experiments with few trials, made once for all tests.
var everything = func() func(t *testing.T) *Report {
	var r *Report
	return func(t *testing.T) *Report {
		if r == nil {
			var err error
			r, err = Measure(context.Background(), Plan{Experiments: All(), Seed: 1, Effort: Quick, Jobs: 2}, quiet)
			require.NoError(t, err)
		}
		return r
	}
}()

func TestEveryExperimentConcludes(t *testing.T) {
	for _, e := range everything(t).Results {
		require.NotEmpty(t, e.Claims, e.Name)
		require.NotEmpty(t, e.Tables, e.Name)
		require.Equal(t, e.Planned, e.Trials, e.Name)
		for _, table := range e.Tables {
			require.NotEmpty(t, table.Rows, "%s, %s", e.Name, table.Title)
			for _, row := range table.Rows {
				require.Len(t, row, len(table.Head), "%s, %s: %v", e.Name, table.Title, row)
			}
		}
		for _, c := range e.Claims {
			require.Equal(t, Unknown, c.Verdict, "a quick look settles nothing: %s", c.Says)
			require.NotContains(t, c.Measured, "NaN", c.Says)
		}
	}
}

func TestTheSameSeedFindsTheSame(t *testing.T) {
	var pages [2]bytes.Buffer
	for i, jobs := range []int{1, 4} {
		r, err := Measure(context.Background(), Plan{Experiments: []*Experiment{quorums, leaderless}, Seed: 7, Effort: Quick, Jobs: jobs}, quiet)
		require.NoError(t, err)
		require.NoError(t, Markdown(&pages[i], r, "plots"))
	}
	require.Equal(t, pages[0].String(), pages[1].String())
}

func TestAnySeedDrawsAMember(t *testing.T) {
	for _, seed := range []uint64{1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<63 + 2, 1<<64 - 2, 1<<64 - 1} {
		_, err := survives("raft", 5, 3, seed)
		require.NoError(t, err)
		_, err = splitBrain("raft", 5, seed)
		require.NoError(t, err)
	}
}

func TestWhatWasMeasuredBeforeAnInterruptionIsKept(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r, err := Measure(ctx, Plan{Experiments: []*Experiment{quorums, cascade}, Seed: 1, Effort: Quick, Jobs: 1}, func(p batch.Progress) {
		if p.Done == 10 {
			stop()
		}
	})
	require.NoError(t, err)
	require.True(t, r.Interrupted)
	require.Equal(t, 10, r.Results[0].Trials)
	require.Equal(t, Unknown, r.Results[0].Claims[0].Verdict)
	require.Contains(t, r.Results[0].Claims[0].Why, "Interrupted after 10 of")
	require.Zero(t, r.Results[1].Trials)
	require.Empty(t, r.Results[1].Claims)
	var text bytes.Buffer
	require.NoError(t, Text(&text, r))
	require.Contains(t, text.String(), "Interrupted.")
}

func TestAnExperimentThatFailsSaysWhere(t *testing.T) {
	broken := &Experiment{Name: "broken", series: func(Effort) []series {
		return []series{{"panics", 3, func(uint64) (sample, error) { panic("ouch") }}}
	}}
	_, err := Measure(context.Background(), Plan{Experiments: []*Experiment{broken}, Effort: Full, Jobs: 1}, quiet)
	require.ErrorContains(t, err, "broken, panics, trial 1: ouch")
	broken.series = func(Effort) []series {
		return []series{{"fails", 3, func(uint64) (sample, error) { return nil, errors.New("no leader") }}}
	}
	_, err = Measure(context.Background(), Plan{Experiments: []*Experiment{broken}, Effort: Full, Jobs: 1}, quiet)
	require.ErrorContains(t, err, "no leader")
}

func TestAReportIsWrittenInEveryForm(t *testing.T) {
	r := everything(t)
	dir, err := MakeFolder(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, Write(r, dir))
	page, err := os.ReadFile(filepath.Join(dir, PageFile))
	require.NoError(t, err)
	for _, line := range strings.Split(string(page), "\n") {
		if strings.HasPrefix(line, "|") {
			require.True(t, strings.HasSuffix(line, "|"), line)
		}
	}
	for i := range r.Results {
		for _, p := range r.Results[i].Plots {
			require.Contains(t, string(page), "(measurements/"+p.Name+".svg)")
			svg, err := os.ReadFile(filepath.Join(dir, "measurements", p.Name+".svg"))
			require.NoError(t, err)
			d := xml.NewDecoder(bytes.NewReader(svg))
			for err == nil {
				_, err = d.Token()
			}
			require.ErrorIs(t, err, io.EOF, "%s is XML", p.Name)
		}
	}
	var back Report
	b, err := os.ReadFile(filepath.Join(dir, jsonFile))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, r.Results[0].Claims, back.Results[0].Claims)
}

func TestDisagreementsAreSaidPlainly(t *testing.T) {
	r := &Report{Effort: Full, Results: []Result{{Name: "x", Title: "X"}}}
	r.Results[0].claim("It takes 3 s.", false, "It does not.", "%d s", 5)
	r.Results[0].claim("It takes 5 s.", true, "never shown", "%d s", 5)
	var text, page bytes.Buffer
	require.NoError(t, Text(&text, r))
	require.NoError(t, Markdown(&page, r, "plots"))
	require.Contains(t, text.String(), "DISAGREES. It does not.")
	require.Contains(t, page.String(), "## Where measurement and claim disagree")
	require.Contains(t, page.String(), "**disagrees**. It does not.")
	require.NotContains(t, text.String()+page.String(), "never shown")
	require.Equal(t, 1, r.Disagreements())
}

func TestExperimentsAreFoundByName(t *testing.T) {
	all, err := Find(nil)
	require.NoError(t, err)
	require.Len(t, all, len(All()))
	one, err := Find([]string{"quorum"})
	require.NoError(t, err)
	require.Equal(t, []*Experiment{quorums}, one)
	_, err = Find([]string{"quorums"})
	require.ErrorContains(t, err, `unknown experiment "quorums"`)
	require.Contains(t, hint.Of(err), "quorum")
}

func TestStatistics(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	require.Equal(t, []float64{1, 2, 4, 2.5}, []float64{least(v), median(v), most(v), mean(v)})
	require.InDelta(t, 4, quantile(v, 0.99), 1e-9)
	require.True(t, math.IsNaN(median(nil)))
	var x, y []float64
	for n := 3.0; n < 100; n *= 2 {
		x, y = append(x, n), append(y, 7*n*n)
	}
	require.InDelta(t, 2, exponent(x, y), 1e-9)
	require.Equal(t, "35 ms", seconds(0.035))
	require.Equal(t, "–", seconds(math.NaN()))
	require.Equal(t, "99.99 %", percent(0.9999))
}

// What the full measurement says of quorums must be what everybody knows.
func TestQuorumsAreMajorities(t *testing.T) {
	r, err := Measure(context.Background(), Plan{Experiments: []*Experiment{quorums}, Seed: 3, Effort: Full, Jobs: 2}, quiet)
	require.NoError(t, err)
	require.Equal(t, Agrees, r.Results[0].Claims[0].Verdict, r.Results[0].Claims[0].Measured)
}
