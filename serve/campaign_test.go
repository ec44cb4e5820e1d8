package serve

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"recount/harness/batch"
	"recount/harness/campaign"
)

// campaigned makes a folder as a campaign leaves it, with a run, and returns that run's ID.
func campaigned(t *testing.T, results, name, state, word string) string {
	t.Helper()
	dir := filepath.Join(results, "campaigns", name)
	r := simulate(t, filepath.Join(dir, "runs"), "ping-pong", 7)
	rel, err := filepath.Rel(dir, r.Dir)
	require.NoError(t, err)
	quoted, err := json.Marshal(word)
	require.NoError(t, err)
	files := map[string]string{
		campaign.CampaignFile: fmt.Sprintf(`{"name":%s,"command":"recount campaign run nightly.yaml","started":"2026-01-02T03:04:05Z","took":90000000000,
			"runs":1200,"planned":4000,"version":"0.1.0","state":%q,
			"targets":[{"target":"raft","version":"1","runs":1200,"no_effect":["squeeze-memory"],"vain":{"squeeze-memory":{"times":34,"why":"memory is not simulated"}},
			"unstarted":{"runs":7,"nodes":4,"seed":5,"why":"n2 is not ready after 10s","run":"runs/x","repeat":"recount run --replay runs/x"}}]}`, quoted, state),
		campaign.FindingsFile: fmt.Sprintf(`{"findings":[{"signature":"no-ping-pong under cut-link","sentence":%s,"target":"blazingmq-term","version":"1","options":{},
			"property":"no-ping-pong","state":"new","runs":12,"of":1200,"low":0.005,"high":0.017,"first":"2026-01-02T03:04:05Z",
			"last":"2026-01-02T03:04:05Z","repeat":"recount run x.yaml","run":%q,"faults":["cut-link n1 n2"]},
			{"signature":"gone","sentence":"once","target":"raft","property":"elects","state":"gone","run":"","faults":null}]}`, quoted, filepath.ToSlash(rel)),
		campaign.CoverageFile: `{"runs":100,"keys":40,"chance":0.2,"low":0.1,"high":0.3}` + "\n" + `{"runs":1200,"keys":90,"chance":0.01,"low":0.005,"high":0.02}` + "\n" + `{"runs":13`,
		campaign.TrendsFile:   `{"time":"2026-01-02T03:04:05Z","target":"blazingmq-term","version":"1","leaderless_p50":1.5,"leaderless_p99":4,"failover_p50":2,"failover_p99":6,"elections_per_hour":80,"findings":1,"runs":1200}` + "\n",
	}
	for file, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "store", "shards"), 0o755))
	return id(t, results, r)
}

// A bar that is full is as wide as half a page: it looks as if half was done.
func TestCampaignsThatAreOverHaveNoBar(t *testing.T) {
	results := t.TempDir()
	campaigned(t, results, "nightly", "done", "x")
	_, h := open(t, Config{Results: results})
	require.NotContains(t, get(h, "/campaigns").Body.String(), "<progress")
	require.NotContains(t, get(h, "/campaigns/nightly").Body.String(), "<progress")
	results = t.TempDir()
	campaigned(t, results, "nightly", "running", "x")
	_, h = open(t, Config{Results: results})
	require.Contains(t, get(h, "/campaigns").Body.String(), `<progress max="100" value="30"`)
	require.Contains(t, get(h, "/campaigns/nightly").Body.String(), `<progress max="100" value="30"`)
}

// What a campaign's file says is known is said to be among all findings, too.
func TestFindingsTellWhatCampaignsKnow(t *testing.T) {
	f := Finding{Kind: Promise, Campaign: &CampaignFinding{campaign.Finding{State: campaign.Seen}}}
	require.Equal(t, "promise broken", f.Standing(), "it was found before: nobody has said that it may be")
	f.Campaign.Known = true
	require.Equal(t, "promise broken, known to its campaign", f.Standing())
}

func TestCampaignsTellWhatTheyFound(t *testing.T) {
	results := t.TempDir()
	run := campaigned(t, results, "nightly", "done", "leadership bounced")
	_, h := open(t, Config{Results: results})
	page := get(h, "/campaigns/nightly").Body.String()
	require.Contains(t, page, "leadership bounced")
	require.Contains(t, page, "12 of 1200 runs, 1.0 % (0.6 to 1.7 %)")
	require.Contains(t, page, link(run))
	require.Contains(t, page, "never seen to take effect: squeeze-memory (tried 34 times, for one: memory is not simulated)")
	require.Contains(t, page, "Runs that did not start: 7.")
	require.Contains(t, page, "7 runs did not start, one of them with 4 nodes, seed 5: n2 is not ready after 10s")
	require.Contains(t, page, "it is kept, and repeated by: recount run --replay runs/x")
	require.Contains(t, get(h, "/api/v1/campaigns/nightly").Body.String(), `"why":"memory is not simulated"`)
	require.Contains(t, page, "90 different things reached in 1200 runs", "a line that is being written is left out")
	require.NotContains(t, get(h, "/campaigns/nightly?state=gone").Body.String(), "12 of 1200")
	require.Equal(t, 404, get(h, "/campaigns/weekly").Code)

	var found struct{ Findings []Finding }
	require.NoError(t, json.Unmarshal(get(h, "/api/v1/findings?state=new").Body.Bytes(), &found))
	require.Len(t, found.Findings, 1, "the campaign's finding is among all")
	require.Equal(t, "no-ping-pong", found.Findings[0].Property)
	require.Equal(t, 1200, found.Findings[0].Campaign.Of)

	var trends struct{ Trends []Trend }
	require.NoError(t, json.Unmarshal(get(h, "/api/v1/trends?target=blazingmq-term").Body.Bytes(), &trends))
	require.Len(t, trends.Trends, 1, "runs of a campaign are in its own trends")
	require.Equal(t, "campaigns/nightly", trends.Trends[0].Of)
	require.InDelta(t, 6, trends.Trends[0].FailoverP99, 0)

	var active struct{ Total int }
	require.NoError(t, json.Unmarshal(get(h, "/api/v1/activities").Body.Bytes(), &active))
	require.Zero(t, active.Total)
}

func TestWorkUnderWayShows(t *testing.T) {
	results, now := t.TempDir(), time.Now()
	_, h := open(t, Config{Results: results, Now: func() time.Time { now = now.Add(time.Second); return now }})
	n := batch.NewNotes(filepath.Join(results, "hunt", "20260102-030405.000"), batch.Noted{Kind: "hunt", Name: "raft", Command: "recount hunt --target raft"})
	note := func(runs, keys int) {
		time.Sleep(time.Until(n.Started.Add(time.Second))) // it notes nothing before
		n.Note(batch.Progress{Done: runs, Planned: 1000}, 2, keys)
	}
	note(250, 31)
	require.Contains(t, get(h, "/").Body.String(), "250 of 1000 runs")
	require.Contains(t, get(h, "/live").Body.String(), "2 findings")
	page := get(h, "/under-way/hunt/20260102-030405.000").Body.String()
	require.Contains(t, page, "coverage 31")
	require.Contains(t, page, `value="25"`)
	now = now.Add(time.Hour)
	require.Contains(t, get(h, "/live").Body.String(), "no sign of life for")
	n.End()
	require.NotContains(t, get(h, "/").Body.String(), "250 of 1000")
	require.Equal(t, 404, get(h, "/under-way/hunt/20260102-030405.000").Code)
}

func TestCampaignsInABrowser(t *testing.T) {
	results := t.TempDir()
	campaigned(t, results, "nightly", "done", "leadership bounced between n1 and n2 6 times in 1.5 s while only the link n1–n2 was cut")
	campaigned(t, results, "hostile", "running", hostile)
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.open("/campaigns")
	b.shoot("campaigns")
	b.open("/campaigns/nightly")
	b.until(`document.querySelectorAll('.plot .line').length === 2`)
	b.shoot("campaign")
	b.open("/campaigns/hostile")
	b.until(`document.body.textContent.includes('<script>')`)
	b.run(chromedp.Evaluate(`document.querySelector('h1').textContent = 'old'`, nil))
	b.until(`document.querySelector('h1').textContent !== 'old'`) // it is asked for again
	b.check("a campaign under way")
	b.open("/live")
	b.until(`document.querySelectorAll('.under-way').length === 1`)
	b.shoot("under-way")
	file := filepath.Join(results, "campaigns", "hostile", campaign.CampaignFile)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "running", "stopped", 1)), 0o644))
	b.until(`document.querySelectorAll('.under-way').length === 0`)

	n := batch.NewNotes(filepath.Join(results, "hunt", "20260102-030405.000"), batch.Noted{Kind: "hunt", Name: "raft"})
	time.Sleep(time.Until(n.Started.Add(time.Second))) // it notes nothing before
	n.Note(batch.Progress{Done: 250, Planned: 1000}, 2, 31)
	b.until(`document.querySelectorAll('.under-way').length === 1`)
	b.run(chromedp.Navigate(site.URL + "/under-way/hunt/20260102-030405.000"))
	b.until(`document.querySelector('h1').textContent.includes('a hunt under way')`)
	n.End()
	b.until(`document.getElementById('content').textContent.includes('Nothing is under way there any more')`)
}
