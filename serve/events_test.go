package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
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

// follow asks for the events of a run that come after one, and returns them with what ends it.
func follow(t *testing.T, address, last string) (*bufio.Scanner, func() error) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, nil)
	require.NoError(t, err)
	req.Header.Set("Last-Event-ID", last)
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<22)
	return lines, answer.Body.Close
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
		return follow(t, site.URL+"/api/v1/runs/"+id(t, results, r)+"/events", last)
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

// pack compresses a run's history, as those of suites are, and returns it.
func pack(t *testing.T, r *record.Run) []byte {
	t.Helper()
	history, err := os.ReadFile(filepath.Join(r.Dir, record.HistoryFile))
	require.NoError(t, err)
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	_, err = z.Write(history)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.Remove(filepath.Join(r.Dir, record.HistoryFile)))
	return b.Bytes()
}

func TestWhoFollowsACompressedHistoryMissesNothing(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	packed := pack(t, r)
	verdicts := filepath.Join(r.Dir, record.VerdictsFile)
	judged, err := os.ReadFile(verdicts)
	require.NoError(t, err)
	require.NoError(t, os.Remove(verdicts))
	f, err := os.Create(filepath.Join(r.Dir, record.HistoryFile+record.Compressed))
	require.NoError(t, err)
	defer f.Close()
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	defer site.Close()
	at := site.URL + "/api/v1/runs/" + id(t, results, r) + "/events"
	write := func(b []byte) {
		_, err := f.Write(b)
		require.NoError(t, err)
	}
	write(packed[:len(packed)/3])
	stream, leave := follow(t, at, "")
	e := next(t, stream)
	seen := e.ops(t)
	require.NotEmpty(t, seen)
	require.NoError(t, leave()) // the browser loses its connection, and comes again
	stream, leave = follow(t, at, e.ID)
	defer leave()
	write(packed[len(packed)/3 : len(packed)/2])
	seen = append(seen, next(t, stream).ops(t)...)
	write(packed[len(packed)/2:])
	require.NoError(t, os.WriteFile(verdicts, judged, 0o644))
	for e = next(t, stream); e.Event != "end"; e = next(t, stream) {
		seen = append(seen, e.ops(t)...)
	}
	require.JSONEq(t, `{"state": "held"}`, e.Data)
	require.Len(t, seen, len(r.History.Ops))
	for i, index := range seen {
		require.Equal(t, i, index, "each op once, in order")
	}
}

// Each end of the file that is met is one for now: not even its first bytes need be there.
func TestACompressedHistoryIsSentAsFarAsItGoes(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	packed := pack(t, r)
	f, err := os.Create(filepath.Join(r.Dir, record.HistoryFile+record.Compressed))
	require.NoError(t, err)
	defer f.Close()
	var sent bytes.Buffer
	from := &tail{folder: os.DirFS(r.Dir), w: &sent, flush: func() error { return nil }}
	require.NoError(t, from.open())
	defer from.close()
	var seen []int
	for left, some := packed, 0; ; some = min(4+(len(packed)-len(left))/3, len(left)) {
		_, err := f.Write(left[:some])
		require.NoError(t, err)
		left = left[some:]
		for more := true; more; {
			sent.Reset()
			more, err = from.send()
			require.NoError(t, err)
			if more {
				lines := bufio.NewScanner(&sent)
				lines.Buffer(nil, 1<<22)
				seen = append(seen, next(t, lines).ops(t)...)
			}
		}
		if len(left) == 0 {
			break
		}
	}
	require.Len(t, seen, len(r.History.Ops))
	require.True(t, slices.IsSorted(seen))
}

func TestACompressedHistoryThatWasCutOffEnds(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	packed := pack(t, r)
	file := filepath.Join(r.Dir, record.HistoryFile+record.Compressed)
	require.NoError(t, os.WriteFile(file, packed[:2*len(packed)/3], 0o644))
	cut, err := record.Read(r.Dir)
	require.NoError(t, err)
	require.Less(t, len(cut.History.Ops), len(r.History.Ops))
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	defer site.Close()
	at := site.URL + "/api/v1/runs/" + id(t, results, r) + "/events"
	stream, leave := follow(t, at, "")
	var seen []int
	e := next(t, stream)
	for ; e.Event != "end"; e = next(t, stream) {
		seen = append(seen, e.ops(t)...)
	}
	require.NoError(t, leave())
	require.Len(t, seen, len(cut.History.Ops), "all whole lines")
	for _, last := range []string{e.ID, "999999999"} {
		stream, leave = follow(t, at, last)
		require.Equal(t, "end", next(t, stream).Event, "there is no more, and never will be")
		require.NoError(t, leave())
	}
	for _, garbled := range []string{"x", "-1"} {
		stream, leave = follow(t, at, garbled)
		require.Zero(t, next(t, stream).ops(t)[0], "whose browser has lost its place gets all")
		require.NoError(t, leave())
	}
}
