package serve

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/report"
)

const second = time.Second

func from(a, b time.Duration) report.Span { return report.Span{From: a, To: b} }

func leads(node int, a, b time.Duration) report.Claim {
	return report.Claim{Span: from(a, b), Node: node, Seen: b}
}

// told asks a form of one digest, and returns when.
func told(d *digest, name string, fill url.Values) (at []time.Duration) {
	asked := &query{Values: maps.Clone(fill)}
	if asked.Values == nil {
		asked.Values = url.Values{}
	}
	asked.Set("form", name)
	q := asked.question()
	q.find(d, q, func(t time.Duration, _ string, _ ...any) { at = append(at, t) })
	return at
}

func TestFormsFindWhatTheySay(t *testing.T) {
	base := digest{end: 60 * second, silence: second, elect: 3 * second, names: []string{"n1", "n2", "n3"}}
	cut := brokenBy{Span: from(10*second, 12*second), name: "cut-link", nodes: []int{0, 1}, roles: []string{"leader", "follower"}, cut: []int{0, 1}, took: history.OK}
	failed := cut
	failed.took = history.Fail
	for _, c := range []struct {
		name, form string
		fill       url.Values
		change     func(d *digest)
		want       []time.Duration
	}{
		{"a change near a fault", "change-without-fault", nil, func(d *digest) {
			d.claims = []report.Claim{leads(0, 1*second, 13*second), leads(1, 13*second, 60*second)}
			d.faults = []brokenBy{cut}
		}, nil},
		{"a change long after a fault", "change-without-fault", nil, func(d *digest) {
			d.claims = []report.Claim{leads(0, 1*second, 15*second), leads(1, 15*second, 60*second)}
			d.faults = []brokenBy{cut}
		}, []time.Duration{15 * second}},
		{"… which more silences excuse", "change-without-fault", url.Values{"n": {"4"}}, func(d *digest) {
			d.claims = []report.Claim{leads(0, 1*second, 15*second), leads(1, 15*second, 60*second)}
			d.faults = []brokenBy{cut}
		}, nil},
		{"a change near a fault that did not happen", "change-without-fault", nil, func(d *digest) {
			d.claims = []report.Claim{leads(0, 1*second, 13*second), leads(1, 13*second, 60*second)}
			d.faults = []brokenBy{failed}
		}, []time.Duration{13 * second}},
		{"the same leader again", "change-without-fault", nil, func(d *digest) {
			d.claims = []report.Claim{leads(0, 1*second, 13*second), leads(0, 14*second, 60*second)}
		}, nil},
		{"two leaders, one of them paused", "two-leaders", url.Values{"while": {"paused"}, "node": {"n1"}}, func(d *digest) {
			d.both = []report.Span{from(20*second, 21*second), from(30*second, 31*second)}
			d.away = []stretch{{from(29*second, 40*second), 0, history.Paused}, {from(19*second, 25*second), 1, history.Paused}}
		}, []time.Duration{30 * second}},
		{"any node paused", "two-leaders", url.Values{"while": {"paused"}, "node": {"any"}}, func(d *digest) {
			d.both = []report.Span{from(20*second, 21*second), from(30*second, 31*second), from(50*second, 51*second)}
			d.away = []stretch{{from(29*second, 40*second), 0, history.Frozen}, {from(19*second, 25*second), 1, history.Paused}, {from(49*second, 55*second), 1, history.Down}}
		}, []time.Duration{20 * second, 30 * second}},
		{"cut off", "two-leaders", url.Values{"while": {"cut off"}}, func(d *digest) {
			d.both = []report.Span{from(11*second, 13*second), from(30*second, 31*second)}
			d.faults = []brokenBy{cut}
		}, []time.Duration{11 * second}},
		{"another node cut off", "two-leaders", url.Values{"while": {"cut off"}, "node": {"n3"}}, func(d *digest) {
			d.both = []report.Span{from(11*second, 13*second)}
			d.faults = []brokenBy{cut}
		}, nil},
		{"under no fault", "two-leaders", url.Values{"while": {"under no fault"}}, func(d *digest) {
			d.both = []report.Span{from(11*second, 13*second), from(30*second, 31*second)}
			d.faults = []brokenBy{cut}
		}, []time.Duration{30 * second}},
		{"nobody leads", "no-leader", nil, func(d *digest) {
			d.claims = []report.Claim{leads(0, 5*second, 13*second), leads(1, 15*second, 20*second), leads(0, 24*second, 60*second)}
		}, []time.Duration{20 * second}},
		{"nobody leads at the end", "no-leader", nil, func(d *digest) {
			d.claims = []report.Claim{leads(0, 5*second, 13*second)}
		}, []time.Duration{13 * second}},
		{"there and back", "returned", nil, func(d *digest) {
			d.claims = []report.Claim{leads(0, 5*second, 13*second), leads(1, 13*second, 15*second), leads(0, 15*second, 30*second), leads(1, 30*second, 60*second)}
		}, []time.Duration{15 * second}},
		{"terms", "terms-rise", nil, func(d *digest) {
			d.rises = []rise{{1 * second, 7}, {20 * second, 8}, {20*second + 1, 9}, {20*second + 2, 10}, {40 * second, 11}, {42 * second, 13}}
		}, []time.Duration{20*second + 2}},
		{"unmoved", "unmoved", nil, func(d *digest) {
			d.claims = []report.Claim{leads(0, 5*second, 13*second)}
			d.faults = []brokenBy{cut}
		}, []time.Duration{12 * second}},
		{"moved", "unmoved", nil, func(d *digest) {
			d.claims = []report.Claim{leads(0, 5*second, 11*second)}
			d.faults = []brokenBy{cut}
		}, nil},
		{"candidates", "candidate", nil, func(d *digest) {
			d.runs = []stretch{{from(2*second, 7*second), 0, ""}, {from(2*second, 8*second), 1, ""}}
		}, []time.Duration{2 * second}},
		{"stale", "stale-write", nil, func(d *digest) { d.writes = []time.Duration{9 * second} }, []time.Duration{9 * second}},
		{"no effect", "no-effect", nil, func(d *digest) { d.faults = []brokenBy{cut, failed} }, []time.Duration{10 * second}},
		{"ended", "ended", nil, func(d *digest) { d.exits = []stretch{{from(3*second, 9*second), 0, report.Exited}} }, []time.Duration{3 * second}},
	} {
		d := base
		c.change(&d)
		require.Equal(t, c.want, told(&d, c.form, c.fill), c.name)
		for i := range forms {
			require.Empty(t, told(&base, forms[i].Name, nil), "nothing is found in nothing: %s", forms[i].Name)
		}
	}
}

func TestFailoversAreOfLeadersThatStopped(t *testing.T) {
	d := digest{end: 60 * second, names: []string{"n1", "n2", "n3"}}
	d.claims = []report.Claim{leads(0, 1*second, 10*second), leads(1, 12*second, 20*second), leads(2, 20*second, 60*second)}
	d.away = []stretch{{from(10*second, 15*second), 0, history.Down}, {from(16*second, 18*second), 0, history.Down}}
	require.Equal(t, []time.Duration{2 * second}, d.failovers(), "a follower that stops, and a leader that is deposed, are none")
	require.Equal(t, []report.Span{from(10*second, 12*second)}, d.gaps())
}

func TestSearchAcrossRuns(t *testing.T) {
	results := t.TempDir()
	pong := simulate(t, results, "ping-pong", 7)
	simulate(t, results, "dead-leader", 3)
	_, h := open(t, Config{Results: results})
	var got struct {
		Hits                 []Hit
		Searched, More, Left int
	}
	ask := func(q string) {
		t.Helper()
		require.Eventually(t, func() bool {
			got.Hits = nil
			require.NoError(t, json.Unmarshal(get(h, "/api/v1/search?"+q).Body.Bytes(), &got))
			return got.Left == 0
		}, time.Minute, 20*time.Millisecond)
	}
	ask("form=returned")
	require.Equal(t, 2, got.Searched)
	require.Len(t, got.Hits, mostEach)
	require.Positive(t, got.More)
	require.Equal(t, id(t, results, pong), got.Hits[0].Run)
	ask("form=two-leaders&while=cut+off&node=any")
	require.NotEmpty(t, got.Hits)
	ask("form=two-leaders&while=paused")
	require.Empty(t, got.Hits)
	ask("form=change-without-fault")
	require.Empty(t, got.Hits)
	require.Equal(t, 400, get(h, "/api/v1/search?form=select+*").Code)
}

func TestSearchAndTrendsInABrowser(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	for seed := range uint64(4) {
		simulate(t, results, "dead-leader", seed)
	}
	spoil(t, r, results)
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.open("/search")
	b.click(`form.ask:nth-child(4) button`)
	b.run(chromedp.WaitVisible(`[aria-label=results]`))
	b.until(`document.querySelectorAll('[aria-label=results] tbody tr').length === 2`)
	b.shoot("search")
	b.click(`[aria-label=results] td p a`)
	b.run(chromedp.WaitVisible("#found"))
	b.until(`document.querySelector('#picture .pointer').childNodes.length > 0`)
	b.open("/search?form=two-leaders&while=cut+off&node=" + url.QueryEscape(hostile))
	b.open("/trends")
	b.shoot("trends")
	b.open("/trends?by=version&target=" + url.QueryEscape("blazingmq-term"))
	b.until(`document.querySelectorAll('.plot circle').length >= 2`)
}
