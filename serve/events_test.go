package serve

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// event is one server-sent event.
type event struct{ ID, Event, Data string }

// next reads an event; signs of life are none.
func next(t *testing.T, r *bufio.Scanner) (e event) {
	t.Helper()
	for r.Scan() {
		switch name, value, _ := strings.Cut(r.Text(), ": "); name {
		case "id":
			e.ID = value
		case "event":
			e.Event = value
		case "data":
			e.Data = value
		case "":
			if e.Event != "" {
				return e
			}
		}
	}
	require.Fail(t, "the stream ended")
	return e
}

func (e event) ops(t *testing.T) []int {
	t.Helper()
	var data struct {
		Ops []struct{ Index int }
		Bad int
	}
	require.NoError(t, json.Unmarshal([]byte(e.Data), &data))
	var all []int
	for _, op := range data.Ops {
		all = append(all, op.Index)
	}
	return all
}

func TestWhoFollowsARunMissesNothing(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	history, err := os.ReadFile(filepath.Join(r.Dir, record.HistoryFile))
	require.NoError(t, err)
	verdicts, err := os.ReadFile(filepath.Join(r.Dir, record.VerdictsFile))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(r.Dir, record.VerdictsFile)))
	f, err := os.Create(filepath.Join(r.Dir, record.HistoryFile))
	require.NoError(t, err)
	defer f.Close()
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	defer site.Close()
	follow := func(last string) (*bufio.Scanner, func() error) {
		req, err := http.NewRequest(http.MethodGet, site.URL+"/api/v1/runs/"+id(t, results, r)+"/events", nil)
		require.NoError(t, err)
		req.Header.Set("Last-Event-ID", last)
		answer, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<22)
		return lines, answer.Body.Close
	}

	stream, leave := follow("")
	half := len(history) / 2 // in the middle of a line
	_, err = f.Write(history[:half])
	require.NoError(t, err)
	var seen []int
	last := ""
	for whole := strings.Count(string(history[:half]), "\n"); len(seen) < whole; {
		e := next(t, stream)
		seen, last = append(seen, e.ops(t)...), e.ID
	}
	require.NoError(t, leave()) // the browser loses its connection, and comes again
	stream, leave = follow(last)
	defer leave()
	_, err = f.Write(history[half:])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, record.VerdictsFile), verdicts, 0o644))
	for {
		e := next(t, stream)
		if e.Event == "end" {
			require.JSONEq(t, `{"state": "held"}`, e.Data)
			break
		}
		seen = append(seen, e.ops(t)...)
	}
	require.Len(t, seen, len(r.History.Ops))
	for i, index := range seen {
		require.Equal(t, i, index, "each op once, in order")
	}
}
