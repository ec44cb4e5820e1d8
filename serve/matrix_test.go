package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"recount/harness/batch"
	"recount/harness/matrix"
	"recount/harness/record"
)

// measure makes a small matrix and keeps it. It returns its ID.
func measure(t *testing.T, results string, seeds int, words ...string) string {
	t.Helper()
	rows, err := matrix.ParseRows(words, record.OnSim)
	require.NoError(t, err)
	columns, err := matrix.ParseColumns([]string{"none", "cut-link"}, []string{"ping-pong"})
	require.NoError(t, err)
	dir, err := matrix.MakeFolder(results)
	require.NoError(t, err)
	p := matrix.Plan{On: record.OnSim, Rows: rows, Columns: columns, Seeds: seeds, Nodes: []int{3}, Jobs: 2}
	table, err := matrix.Measure(context.Background(), p, func(batch.Progress) {})
	require.NoError(t, err)
	require.NoError(t, matrix.Keep(context.Background(), p, table, dir, 0, func(batch.Progress) {}))
	require.NoError(t, matrix.Write(table, dir))
	rel, err := filepath.Rel(results, dir)
	require.NoError(t, err)
	return filepath.ToSlash(rel)
}

func TestChangesBetweenMatrices(t *testing.T) {
	results := t.TempDir()
	old, now := measure(t, results, 1, "blazingmq-scouting", "blazingmq-term"), measure(t, results, 2, "blazingmq-term")
	_, h := open(t, Config{Results: results})
	var got struct {
		Total   int
		Changes []Change
	}
	ask := "/api/v1/matrices/" + now + "?with="
	require.NoError(t, json.Unmarshal(get(h, ask+now).Body.Bytes(), &got))
	require.Zero(t, got.Total, "nothing has changed since itself")

	// What a matrix says is made worse by hand: just that is a change.
	file := filepath.Join(results, filepath.FromSlash(now), matrix.DataFile)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	table, err := matrix.Read(b)
	require.NoError(t, err)
	before, err := os.ReadFile(filepath.Join(results, filepath.FromSlash(old), matrix.DataFile))
	require.NoError(t, err)
	was, err := matrix.Read(before)
	require.NoError(t, err)
	n := len(changes(was, table))
	cell := &table.Pair(0, 0).Cells[0]
	require.Equal(t, matrix.Valid, cell.Verdict)
	cell.Verdict = matrix.Broken
	all := changes(was, table)
	require.Len(t, all, n+1)
	require.Equal(t, Change{"blazingmq-term", "none", table.Properties[0].Name, matrix.Valid, matrix.Broken, cell}, all[0], "what got worse comes first")

	require.Equal(t, 404, get(h, "/matrix/"+url.PathEscape("../etc")).Code)
	require.Equal(t, 404, get(h, "/api/v1/matrices/"+now+"?with=nothing").Code)
	require.NoError(t, os.WriteFile(file, []byte(`{"rows":[{}],"columns":[{}]}`), 0o644))
	require.Equal(t, 422, get(h, "/matrix/"+now).Code)
}

func TestMatrixSaysWhatItDoesNotKnow(t *testing.T) {
	results := t.TempDir()
	at := measure(t, results, 1, "blazingmq-term")
	_, h := open(t, Config{Results: results})
	require.NotContains(t, get(h, "/matrix/"+at).Body.String(), "Unfinished")
	table, err := matrix.Read(get(h, "/api/v1/matrices/"+at).Body.Bytes())
	require.NoError(t, err)
	table.Stopped, table.Planned = "The budget of 1m40s was spent", 1000
	table.Pairs[0].Barred, table.Pairs[1].Runs = "too few nodes", 0
	for i := range 2 {
		clear(table.Pairs[i].Cells)
	}
	require.NoError(t, matrix.Write(table, filepath.Join(results, filepath.FromSlash(at))))
	page := get(h, "/matrix/"+at).Body.String()
	require.Contains(t, page, "<b>Unfinished.</b> The budget of 1m40s was spent after")
	require.Regexp(t, `aria-label="[^"]*does not apply, no run is possible: too few nodes">–<`, page)
	require.Regexp(t, `aria-label="[^"]*not put to the test, no run was made">·<`, page)
	require.NotContains(t, page, "of which nothing")

	for c := range table.Columns {
		table.Pair(0, c).Runs = 0
		clear(table.Pair(0, c).Cells)
	}
	require.NoError(t, matrix.Write(table, filepath.Join(results, filepath.FromSlash(at))))
	page = get(h, "/matrix/"+at).Body.String()
	require.Regexp(t, `(?s)<summary>1 election of which nothing was put to the test</summary>.*>`+table.Rows[0].Word+`<`, page)
	require.NotRegexp(t, `<th scope="row"[^>]*>`+table.Rows[0].Word+`<`, page)
}

func TestMatrixInABrowser(t *testing.T) {
	results, dir := t.TempDir(), t.TempDir()
	old, now := measure(t, results, 1, "raft", "blazingmq-term"), measure(t, results, 3, "raft", "blazingmq-term")
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.run(cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	b.open("/matrix")
	b.shoot("matrices")
	b.click(".places a")
	b.run(chromedp.WaitVisible(".grid"))
	b.open("/matrix/" + now + "?with=" + url.QueryEscape(old))
	require.Contains(t, string(b.download(dir, "[aria-label='heat map'] .save button", "Matrix.svg")), ">promise broken</text>", "it says what its squares mean")
	b.shoot("matrix")
	b.open("/matrix/" + now + "?property=no-ping-pong")
	b.run(chromedp.Focus(".grid td a"), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	b.until(`document.activeElement.textContent === '!'`)
	b.run(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#picture"))
	require.Contains(t, b.text("h1"), "ping-pong", "the cell opens its run")
	b.open("/matrix/" + now + "?row=raft&column=none#cell")
	require.Contains(t, b.text("#cell"), "elects")
	b.shoot("matrix-cell")

	file := filepath.Join(results, filepath.FromSlash(now), matrix.DataFile)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	word, err := json.Marshal(hostile)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), `"blazingmq-term"`, string(word))), 0o644))
	b.open("/matrix/" + now + "?with=" + url.QueryEscape(old))
	b.until(`document.body.textContent.includes('<script>')`)
}

func TestCountsOfAMatrixInWords(t *testing.T) {
	for want, c := range map[string]heatCount{
		"1 known weakness": {N: 1, Of: matrix.Weak}, "2 known weaknesses": {N: 2, Of: matrix.Weak},
		"3 broken promises": {N: 3, Of: matrix.Broken}, "4 valid": {N: 4, Of: matrix.Valid}, "2 unknown": {N: 2, Of: matrix.Unknown},
	} {
		require.Equal(t, want, c.Words())
	}
}

// The page of a matrix that stands by itself is used with keys, too: from cell to cell, into one, and back.
func TestMatrixPageByKeys(t *testing.T) {
	results := t.TempDir()
	at := measure(t, results, 1, "blazingmq-term")
	site := httptest.NewServer(http.FileServer(http.Dir(results)))
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.run(chromedp.Navigate(site.URL+"/"+at+"/matrix.html"), chromedp.WaitVisible("#map"), chromedp.Focus("#map td"))
	b.run(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.Enter))
	require.Equal(t, "blazingmq-term · cut-link", b.text("#inspector h2"))
	b.run(chromedp.KeyEvent(kb.ArrowLeft))
	require.Equal(t, "blazingmq-term · none", b.text("#inspector h2"))
	b.run(chromedp.KeyEvent(kb.Escape))
	b.until(`document.querySelector('#inspector').hidden && document.activeElement.pair.column === 'none'`)
}
