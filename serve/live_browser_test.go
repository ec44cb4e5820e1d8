package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// A proxy whose server is away answers with an error, first or in the midst of a run: the page comes back, and misses nothing.
func TestALivePageComesBackAfterAnErrorOfAProxy(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	_, h := open(t, Config{Results: results})
	var asked atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			switch asked.Add(1) {
			case 1, 3:
				http.Error(w, "the server is away", http.StatusBadGateway)
				return
			case 2: // it goes away when it has sent something
				h.ServeHTTP(&leaving{ResponseWriter: w, left: 200_000}, r)
				return
			}
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.run(chromedp.Navigate(site.URL + "/runs/" + id(t, results, r) + "/live"))
	b.until(`document.getElementById('status').textContent.startsWith('over: held')`)
	b.until(`document.querySelectorAll('.node.leader').length === 1`)
}

// leaving is an answer that breaks off.
type leaving struct {
	http.ResponseWriter
	left int
}

func (l *leaving) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return l.ResponseWriter.Write(b)
}

func (l *leaving) Unwrap() http.ResponseWriter { return l.ResponseWriter }
