package serve

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

func TestComparingInABrowser(t *testing.T) {
	results := t.TempDir()
	a := simulate(t, results, "ping-pong", 7)
	b := simulateAs(t, results, "ping-pong", "blazingmq-scouting", nil, 7)
	spoil(t, a, results)
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	page := browse(t, site.URL)

	page.open("/compare")
	require.Contains(t, page.text("main"), "Choose run A")
	page.open("/runs/" + id(t, results, a) + "/")
	page.click(`.views a[href^="/compare"]`)
	page.run(chromedp.WaitVisible(".runs"))
	require.Contains(t, page.text(".runs tbody tr"), "blazingmq-scouting", "the control comes first")
	page.shoot("compare-with")
	page.click(".runs tbody tr a")
	page.run(chromedp.WaitVisible(".two"))
	require.Contains(t, page.text(".first"), "They part at")
	page.until(`document.querySelectorAll('.two .difference').length === 1`)
	page.shoot("compare")
	page.run(chromedp.KeyEvent("n"))
	page.until(`location.search.includes('from=')`)
	page.until(`document.readyState === 'complete'`) // else nobody listens to keys yet
	page.run(chromedp.WaitVisible(".two"), chromedp.KeyEvent("0"))
	page.until(`!location.search.includes('from=')`)
	page.until(`document.readyState === 'complete'`)
	page.run(chromedp.WaitVisible(".two"), chromedp.KeyEvent("+"))
	page.until(`location.search.includes('from=')`)
	page.open("/compare?" + url.Values{"a": {id(t, results, b)}, "b": {"spoilt/20260101-000000.000"}}.Encode())
	page.until(`document.body.textContent.includes('<script>')`)
	page.check("spoilt compare")
}
