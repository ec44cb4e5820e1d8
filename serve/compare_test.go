package serve

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/report"
)

// simulateAs is simulate with another target, and options of it.
func simulateAs(t *testing.T, results, scenario, target string, options map[string]string, seed uint64) *record.Run {
	t.Helper()
	s, err := harness.LoadScenario(scenario)
	require.NoError(t, err)
	p := s.Plan(record.Plan{On: record.OnSim, Seed: seed, Target: target, Options: options})
	p.Expect = nil
	r, err := harness.Run(context.Background(), p, harness.Config{Results: results, Repeat: "recount run " + scenario})
	require.NoError(t, err)
	return r
}

func TestRunsThatAreTheSameDoNotDiffer(t *testing.T) {
	results := t.TempDir()
	for _, by := range []string{"", byName, byRole} {
		c := compare(simulate(t, results, "ping-pong", 7), simulate(t, results, "ping-pong", 7), by)
		require.Empty(t, c.Differences, by)
		require.Len(t, c.Pairs, 4)
	}
}

func TestFirstDifferenceIsWhereTheHistoriesPart(t *testing.T) {
	results := t.TempDir()
	a := simulate(t, results, "ping-pong", 7)
	b := simulateAs(t, results, "ping-pong", "blazingmq-scouting", nil, 7)
	c := compare(a, b, byName)
	require.NotEmpty(t, c.Differences)
	first := c.Differences[0]
	// Until then the nodes have said the same of themselves at the same times; at that time they have not.
	say := func(r *record.Run, until time.Duration) (said []history.Op) {
		last := map[string]history.View{}
		for _, op := range r.History.Ops {
			if op.F == history.Announce && op.Time <= until && last[op.Node] != op.View {
				last[op.Node] = op.View
				said = append(said, history.Op{Time: op.Time, Node: op.Node, View: op.View})
			}
		}
		return said
	}
	require.Equal(t, say(a, first.Time-1), say(b, first.Time-1))
	require.NotEqual(t, say(a, first.Time), say(b, first.Time))
}

func TestRunsOfOtherSeedsAreComparedByRole(t *testing.T) {
	results := t.TempDir()
	a, b := simulate(t, results, "ping-pong", 7), simulateAs(t, results, "ping-pong", "blazingmq-scouting", nil, 8)
	require.Equal(t, byRole, compare(a, simulateAs(t, results, "ping-pong", "blazingmq-scouting", nil, 7), "").By)
	require.Equal(t, byName, compare(a, simulate(t, results, "ping-pong", 7), "").By)
	c := compare(a, b, "")
	require.Equal(t, byRole, c.By)
	require.Positive(t, c.Within)
	leads := func(r *record.Run) (leader string) {
		for _, op := range r.History.Ops {
			if op.F == history.Settle {
				break
			}
			if op.F == history.Announce && op.View.Role == history.Leader {
				leader = op.Node
			}
		}
		return leader
	}
	require.Equal(t, [2]string{leads(a), leads(b)}, c.Pairs[0], "leaders are paired")
	require.NotEmpty(t, c.Differences, "one bounces, the other does not")
	for _, d := range c.Differences {
		require.NotEqual(t, "fault", d.What, "both cut the same link at the same time")
	}
	require.Equal(t, c.Differences, compare(a, b, byRole).Differences)
}

func TestCompareAnswers(t *testing.T) {
	results := t.TempDir()
	a, b := simulate(t, results, "ping-pong", 7), simulateAs(t, results, "ping-pong", "blazingmq-scouting", nil, 7)
	_, h := open(t, Config{Results: results})
	q := "?" + url.Values{"a": {id(t, results, a)}, "b": {id(t, results, b)}}.Encode()
	var c Comparison
	require.NoError(t, json.Unmarshal(get(h, "/api/v1/compare"+q).Body.Bytes(), &c))
	require.NotEmpty(t, c.Differences)
	require.Contains(t, get(h, "/compare"+q).Body.String(), "They part at")
	require.Contains(t, get(h, "/compare"+q).Body.String(), "follows the node of that colour", "its legend")
	svg := get(h, "/compare.svg"+q+"&from=1000&to=2000")
	require.Equal(t, "image/svg+xml", svg.Header().Get("Content-Type"))
	require.Contains(t, svg.Body.String(), `class="lead id0"`)
	require.Equal(t, 404, get(h, "/api/v1/compare?a=nothing").Code)
	require.Contains(t, get(h, "/compare?a="+id(t, results, a)).Body.String(), "blazingmq-scouting")
	for far, want := range map[string]int{
		"&from=5&to=-5": 200, "&from=-1e9&to=1e9": 200, "&from=1e12": 200, "&to=-1e12": 200, "&from=NaN&to=5": 400, "&from=1e300&to=1e301": 400, "&to=Inf": 400,
	} {
		require.Equal(t, want, get(h, "/compare"+q+far).Code, far)
	}
}

func TestCompareSaysFirstWhatBecameOfTheRuns(t *testing.T) {
	results := t.TempDir()
	a, b := simulate(t, results, "ping-pong", 7), simulateAs(t, results, "ping-pong", "blazingmq-scouting", nil, 7)
	other := simulate(t, results, "dead-leader", 3) // of five nodes
	_, h := open(t, Config{Results: results})
	page := func(a, b *record.Run) string {
		return get(h, "/compare?"+url.Values{"a": {id(t, results, a)}, "b": {id(t, results, b)}}.Encode()).Body.String()
	}
	differ := page(a, b)
	require.Contains(t, differ, "no-ping-pong: A invalid, B valid.")
	require.Regexp(t, `A: n\d lost the post at [\d.]+ s; B: n\d kept it\.`, differ)
	require.Less(t, strings.Index(differ, "Their outcomes differ"), strings.Index(differ, "They part at"))
	require.NotContains(t, differ, "Faults begin at different times")
	same := page(a, a)
	require.NotContains(t, same, "Their outcomes differ")
	require.NotContains(t, same, `class="warn"`)
	require.Contains(t, page(a, other), "The clusters differ in size: A has 4 nodes, B has 5.")
}

func TestCompareWarnsOfFaultsAtDifferentTimes(t *testing.T) {
	const s = time.Second
	lines := func(starts ...time.Duration) *report.Timeline {
		tl := &report.Timeline{}
		for _, at := range starts {
			tl.Faults = append(tl.Faults, report.FaultBar{Span: report.Span{From: at, To: at + s}})
		}
		return tl
	}
	for _, c := range []struct {
		a, b *report.Timeline
		want []string
	}{
		{lines(), lines(), nil},
		{lines(3 * s), lines(4*s, 5*s), nil}, // both a second after their zero
		{lines(3 * s), lines(5 * s), []string{"Faults begin at different times: in A at 1.00 s, in B at 2.00 s."}},
		{lines(3 * s), lines(), []string{"Only one of the two had a fault."}},
	} {
		p := comparePage{Comparison: &Comparison{Zero: [2]time.Duration{2 * s, 3 * s}, Within: s / 2, lines: [2]*report.Timeline{c.a, c.b}}}
		require.Equal(t, c.want, p.Doubts())
	}
}
