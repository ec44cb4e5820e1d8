package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
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

// A run that nobody has written to for a while counts as cut short, and may go on all the same.
func TestALivePageGoesOnWithARunThatSeemedCutShort(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	kept := map[string][]byte{}
	for _, name := range []string{record.HistoryFile, record.VerdictsFile} {
		b, err := os.ReadFile(filepath.Join(r.Dir, name))
		require.NoError(t, err)
		kept[name] = b
	}
	write := func(name string, b []byte) { require.NoError(t, os.WriteFile(filepath.Join(r.Dir, name), b, 0o644)) }
	require.NoError(t, os.Remove(filepath.Join(r.Dir, record.VerdictsFile)))
	write(record.HistoryFile, nil)
	var passed atomic.Int64
	s, h := open(t, Config{Results: results, Now: func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }})
	passed.Store(int64(5 * time.Minute))
	require.Equal(t, UnderWay, s.index.run(id(t, results, r)).State, "its images may be built")
	write(record.HistoryFile, kept[record.HistoryFile][:len(kept[record.HistoryFile])/2])
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.open("/runs/" + id(t, results, r) + "/live")
	b.until(`document.getElementById('status').textContent.startsWith('over: cut short') && document.title.startsWith('Replay')`)
	write(record.HistoryFile, kept[record.HistoryFile])
	b.until(`Number(document.getElementById('scrub').max) > 29000 && document.getElementById('clock').textContent > '29'`)
	write(record.VerdictsFile, kept[record.VerdictsFile])
	passed.Store(int64(10 * time.Minute))
	b.until(`document.getElementById('status').textContent.startsWith('over: held')`)
	b.check("live")

	speaks := func(whether string) {
		b.until(`document.getElementById('status').closest('[role=status]').getAttribute('aria-live') === '` + whether + `'`)
	}
	speaks("polite")
	b.click("#play")
	speaks("off") // while the status changes with every frame
	b.click("#play")
	speaks("polite")
}

func TestALivePageBelievesNoAnswerThatWasOvertaken(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	ops := r.History.Ops[:1]
	op := func(process history.Process, at time.Duration, kind history.Type, f history.F, node string, v history.View) {
		ops = append(ops, history.Op{Index: len(ops), Process: process, Time: at, Type: kind, F: f, Node: node, View: v})
	}
	leads := history.View{Role: history.Leader, Term: 2, Leader: "n1"}
	follows, torn := history.View{Role: history.Follower, Term: 1, Leader: "n3"}, history.View{Role: history.Leader, Term: 3, Leader: "n2", Torn: true}
	for at := time.Second; at < 3*time.Second; at += r.History.Setup().Bounds.Poll {
		for i, node := range []string{"n1", "n2", "n3"} {
			if node == "n3" && at > 2*time.Second {
				continue // it has fallen silent
			}
			op(history.Process(i), at, history.Invoke, history.Observe, node, history.View{})
		}
		op(0, at+1, history.OK, history.Announce, "n1", leads)
		for i, v := range []history.View{follows, torn, follows} {
			if i < 2 || at <= 2*time.Second {
				op(history.Process(i), at+2, history.OK, history.Observe, r.Nodes[i], v)
			}
		}
	}
	ops = append(ops, history.Op{Index: len(ops), Process: history.Harness, Time: 3 * time.Second, Type: history.OK, F: history.End})
	var text []byte
	for i := range ops {
		text = append(ops[i].AppendJSON(text), '\n')
	}
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, record.HistoryFile), text, 0o644))
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.open("/runs/" + id(t, results, r) + "/live")
	b.until(`document.getElementById('status').textContent.startsWith('over')`)
	b.until(`document.getElementById('clock').textContent === '3.000 s'`)
	role := func(n int) string { return b.text(fmt.Sprintf(".node:nth-child(%d) .role", n)) }
	require.Equal(t, []string{"One leader: n1 (term 2)", "leader", "not observed", "not observed"}, []string{b.text("#leaders"), role(1), role(2), role(3)})
	b.run(chromedp.Evaluate(`{const s = document.getElementById('scrub'); s.value = 1900; s.dispatchEvent(new Event('input'))}`, nil))
	b.until(`document.querySelector('.node:nth-child(3) .role').textContent === 'follower'`)
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
