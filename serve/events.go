package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"recount/harness/record"
)

// How a browser follows a history: by server-sent events, each with some of its lines. The id of an event is where in the history,
// in bytes, what follows it begins: whoever comes late or again says it and misses nothing.

const (
	poll      = 80 * time.Millisecond // between two looks at a history that grows
	heartbeat = 10 * time.Second      // between two signs of life to a browser
	linesEach = 500                   // in one event
	longest   = 16 << 20              // bytes of a line
)

// apiEvents is GET /api/v1/runs/{id}/events.
func (s *Server) apiEvents(w http.ResponseWriter, r *http.Request, run *Run) {
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		last = r.URL.Query().Get("from")
	}
	from, err := strconv.ParseInt(last, 10, 64)
	if err != nil || from < 0 {
		from = 0
	}
	f, err := openHistory(s.folder(run), from)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, problem(err))
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	t := &tail{w: w, flush: http.NewResponseController(w).Flush, r: bufio.NewReaderSize(f, 1<<16), at: from}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for alive := time.Now(); ; {
		state := s.stateOf(run.ID) // before the reading: what is written until a run ends is read after it has
		sent, err := t.send()
		switch {
		case err != nil:
			return // the browser is gone, or the file is not a history
		case sent:
			alive = time.Now()
		case state != UnderWay:
			t.say("end", map[string]State{"state": state})
			return
		case time.Since(alive) > heartbeat:
			alive = time.Now()
			fmt.Fprint(w, ": still here\n\n")
			if t.flush() != nil {
				return
			}
		}
		if !sent {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	}
}

// stateOf is a run's state now.
func (s *Server) stateOf(id string) State {
	if run := s.index.run(id); run != nil {
		return run.State
	}
	return Unreadable // its folder is gone
}

// openHistory opens a run's history at a place.
func openHistory(folder fs.FS, from int64) (io.ReadCloser, error) {
	f, err := folder.Open(record.HistoryFile)
	if err == nil {
		if s, ok := f.(io.Seeker); ok {
			_, err = s.Seek(from, io.SeekStart)
		}
		if err != nil {
			err = errors.Join(err, f.Close())
		}
		return f, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if f, err = folder.Open(record.HistoryFile + record.Compressed); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err == nil {
		_, err = io.CopyN(io.Discard, z, from)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// tail sends lines as they are written.
type tail struct {
	w     io.Writer
	flush func() error
	r     *bufio.Reader
	part  []byte // of a line that is not whole yet
	at    int64  // where in the history the part begins
}

// send sends the whole lines that there are, up to a number, and reports whether there were any.
func (t *tail) send() (sent bool, err error) {
	var ops []json.RawMessage
	bad, n := 0, 0
	for n < linesEach {
		b, err := t.r.ReadSlice('\n')
		t.part = append(t.part, b...)
		if errors.Is(err, bufio.ErrBufferFull) && len(t.part) < longest {
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
		n++
		t.at += int64(len(t.part))
		line := bytes.TrimSpace(t.part)
		if json.Valid(line) {
			ops = append(ops, bytes.Clone(line))
		} else if len(line) > 0 {
			bad++ // the run's page tells what is wrong
		}
		t.part = t.part[:0]
	}
	if n == 0 {
		return false, nil
	}
	return true, t.say("ops", map[string]any{"ops": ops, "bad": bad})
}

func (t *tail) say(event string, data any) error {
	b, err := json.Marshal(data) // on one line
	if err == nil {
		_, err = fmt.Fprintf(t.w, "id: %d\nevent: %s\ndata: %s\n\n", t.at, event, b)
	}
	if err == nil {
		err = t.flush()
	}
	return err
}
