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
	"math"
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
	q := queryOf(r)
	from := int64(q.whole("from", 0, 0, math.MaxInt))
	if s.refuses(w, r, q) {
		return
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		from, _ = strconv.ParseInt(last, 10, 64) // of one that is garbled all: a browser that is refused never comes again
	}
	t := &tail{folder: s.folder(run), w: w, flush: http.NewResponseController(w).Flush, at: max(0, from)}
	if err := t.open(); err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, run.problem(err))
		return
	}
	defer func() { t.close() }()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if t.flush() != nil { // before there is anything to tell: who follows is to know that it does
		return
	}
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
		if !sent || t.ended {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(max(poll, t.rest)):
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

// tail sends lines as they are written.
type tail struct {
	folder fs.FS
	w      io.Writer
	flush  func() error
	file   fs.File
	lines  *bufio.Reader
	part   []byte // of a line that is not whole yet
	at     int64  // where in the history the part begins

	// Of a compressed history. Who has met the end of one stays there, also when the file grows: it is opened again.
	packed bool
	ended  bool
	size   int64         // the file's when it was opened
	rest   time.Duration // until it may be opened again: all before its place is unpacked for nothing
}

// open opens the history at its place.
func (t *tail) open() error {
	began := time.Now()
	f, err := t.folder.Open(record.HistoryFile)
	packed := errors.Is(err, fs.ErrNotExist)
	if packed {
		f, err = t.folder.Open(record.HistoryFile + record.Compressed)
	}
	if err != nil {
		return err
	}
	var r io.Reader
	info, err := f.Stat() // before it is read: what is written from here on makes another size of it
	if err == nil {
		r, err = behind(f, packed, t.at)
	}
	ended := packed && atEnd(err)
	if err != nil && !ended {
		return errors.Join(err, f.Close())
	}
	err = t.close()
	t.file, t.lines, t.part = f, bufio.NewReaderSize(r, 1<<16), t.part[:0]
	t.packed, t.ended, t.size, t.rest = packed, ended, info.Size(), rest*time.Since(began)
	return err
}

func (t *tail) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// behind returns what the file of a history has behind a place.
func behind(f fs.File, packed bool, at int64) (r io.Reader, err error) {
	if packed {
		z, err := gzip.NewReader(f)
		if err == nil {
			_, err = io.CopyN(io.Discard, z, at)
		}
		return z, err
	}
	if s, ok := f.(io.Seeker); ok {
		_, err = s.Seek(at, io.SeekStart)
	}
	return f, err
}

// atEnd reports whether reading has met the end: of the history, or of as much as was written of a compressed one.
func atEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// send sends the whole lines that there are, up to a number, and reports whether there were any.
func (t *tail) send() (sent bool, err error) {
	if t.ended {
		info, err := t.file.Stat()
		if err == nil && info.Size() != t.size {
			err = t.open()
		}
		if err != nil || t.ended {
			return false, err
		}
	}
	var ops []json.RawMessage
	bad, n := 0, 0
	for n < linesEach && err == nil {
		var b []byte
		b, err = t.lines.ReadSlice('\n')
		t.part = append(t.part, b...)
		if errors.Is(err, bufio.ErrBufferFull) && len(t.part) < longest {
			err = nil
			continue
		}
		if err != nil {
			break
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
	if atEnd(err) {
		t.ended, err = t.packed, nil
	}
	if n > 0 { // also those before what cannot be read
		err = errors.Join(t.say("ops", map[string]any{"ops": ops, "bad": bad}), err)
	}
	return n > 0, err
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
