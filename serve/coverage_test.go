package serve

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/internal/whole"
	"recount/report"
)

// coverageRead is the coverage when all runs were read.
func coverageRead(t *testing.T, h http.Handler, target string) (c Coverage) {
	require.Eventually(t, func() bool {
		c = Coverage{}
		require.NoError(t, json.Unmarshal(get(h, "/api/v1/coverage?target="+target).Body.Bytes(), &c))
		return c.Left == 0
	}, time.Minute, 20*time.Millisecond, "a run is tried without end")
	return c
}

func TestCoverageCountsWhomFaultsHitAndWhen(t *testing.T) {
	results := t.TempDir()
	a := simulate(t, results, "ping-pong", 7) // cuts the link of the leader and a follower, once
	simulate(t, results, "dead-leader", 3)    // another target
	_, h := open(t, Config{Results: results})
	c := coverageRead(t, h, "blazingmq-term")
	require.Equal(t, 1, c.Runs)
	var when time.Duration
	for _, op := range a.History.Ops {
		if op.F == history.Inject && op.Type == history.OK {
			when = op.Time
		}
	}
	require.Equal(t, []CoverageCell{
		{"cut-link", "leader", "settled", 1, id(t, results, a), when},
		{"cut-link", "follower", "settled", 1, id(t, results, a), when},
	}, c.Cells)
	require.Equal(t, 2, coverageRead(t, h, "").Runs)
	page := get(h, "/coverage?target=blazingmq-term&fault=pause&role=candidate&phase=electing").Body.String()
	require.Contains(t, page, "recount hunt --target blazingmq-term --nemesis pause --runs 200 --keep-going")
}

// What is offered to be pasted into a shell is made of names that strangers can choose.
func TestCommandsToPaste(t *testing.T) {
	results := t.TempDir()
	simulate(t, results, "ping-pong", 7)
	_, h := open(t, Config{Results: results})
	of := func(target, fault string) string {
		q := url.Values{"target": {target}, "fault": {fault}, "role": {"candidate"}, "phase": {"electing"}}
		return get(h, "/coverage?"+q.Encode()).Body.String()
	}
	const offered = "recount hunt --target"
	require.Contains(t, of("", "pause"), offered+" blazingmq-term --nemesis pause")
	require.NotContains(t, of("x; touch y", "pause"), offered, "no run has that target")
	require.NotContains(t, of("", "pause; touch y"), offered, "no fault is called so")
	f := filling("it's; touch y", record.OnSim, "pause", "candidate", "electing")
	require.Contains(t, f.Hunt, "--target "+record.Quote("it's; touch y")+" --nemesis")
	require.Contains(t, f.Run, "--target "+record.Quote("it's; touch y")+" --nemesis")
	require.Contains(t, f.Run, "'", "it is quoted")
	for on, want := range map[string]string{record.OnDocker: " --on docker", record.OnVirtual: " --on virtual", record.OnSim: "", "; touch y": ""} {
		f := filling("etcd", on, "pause", "candidate", "electing")
		require.Regexp(t, "^recount hunt --target etcd --nemesis pause"+want+" --runs [0-9]+ --keep-going$", f.Hunt)
		require.Equal(t, "recount run --target etcd --nemesis pause"+want+" --time 2m", f.Run)
	}
	require.Equal(t, record.OnDocker, clusterOf([]*Run{{Target: "raft", Cluster: record.OnSim}, {Target: "etcd", Cluster: record.OnDocker}}, "etcd"))
}

func TestPhasesOfAnElection(t *testing.T) {
	const ms = time.Millisecond
	at := func(from, to int) brokenBy {
		b := brokenBy{took: history.OK}
		b.From, b.To = time.Duration(from)*ms, time.Duration(to)*ms
		return b
	}
	r := simulate(t, t.TempDir(), "ping-pong", 7)
	d := newDigest(r)
	require.Positive(t, d.silence)
	lead := d.claims[0]
	lead.From, lead.To = 1000*ms, 5000*ms
	d = &digest{silence: 200 * ms, elect: 500 * ms}
	d.faults = []brokenBy{at(300, 400), at(1100, 1150), at(2000, 4000), at(3000, 3500), at(4300, 4400), at(4990, 4995), at(6000, 7000)}
	d.date([]report.Claim{lead})
	var got []string
	for _, f := range d.faults {
		got = append(got, f.phase)
	}
	require.Equal(t, []string{"electing", "just elected", "settled", "under another fault", "just healed", "settled", "electing"}, got)
}

func TestDigestsOfRunsThatCannotBeRead(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	require.NoError(t, whole.WriteAll(r.Dir, map[string][]byte{record.HistoryFile: []byte("no history\n")}))
	_, h := open(t, Config{Results: results})
	require.Zero(t, coverageRead(t, h, "").Runs)
}

func TestCoverageInABrowser(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	spoil(t, r, results)
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.open("/coverage")
	b.until(`document.querySelectorAll('.grid .c3').length >= 2`)
	b.shoot("coverage")
	b.run(chromedp.Focus(".grid td a"), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#fill"))
	require.Contains(t, b.text("#fill"), "recount hunt --target")
	b.shoot("coverage-fill")
	b.click(".grid .c3")
	b.run(chromedp.WaitVisible("#found"))
	b.until(`document.querySelector('#picture .pointer').childNodes.length > 0`)
	b.run(chromedp.ScrollIntoView("#all"))
	b.until(`document.querySelectorAll('#all-rows tr').length > 100 && document.querySelector('#all-rows td').textContent !== '0'`)
	b.check("an instant")
}
