package serve

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"strconv"

	"recount/history"
	"recount/report"
)

// exports are the forms in which a run can be taken away, by the file's name.
var exports = map[string]struct {
	kind  string
	write func(w io.Writer, runs *cache, id string) error
}{
	"ops.csv": {"text/csv; charset=utf-8", func(w io.Writer, runs *cache, id string) error {
		ops, err := runs.history(id)
		if err != nil {
			return err
		}
		defer ops.Close()
		return writeCSV(w, ops)
	}},
	"run.perfetto": {"application/octet-stream", func(w io.Writer, runs *cache, id string) error {
		full, err := runs.run(id)
		if err != nil {
			return err
		}
		return writePerfetto(w, full)
	}},
}

// export writes a run as it is made, op by op where the form lets it; a trace of Perfetto's is put together in memory. What fails half way ends the connection, so that
// nobody takes a part for the whole.
func (s *Server) export(w http.ResponseWriter, r *http.Request, run *Run, name string) {
	w.Header().Set("Content-Type", exports[name].kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	out := &counting{to: w}
	switch err := exports[name].write(out, s.runs, run.ID); {
	case err == nil:
	case out.written > 0:
		panic(http.ErrAbortHandler)
	default:
		w.Header().Del("Content-Disposition")
		s.fail(w, r, http.StatusUnprocessableEntity, run.problem(err))
	}
}

// counting knows how much was written.
type counting struct {
	to      io.Writer
	written int
}

func (c *counting) Write(b []byte) (n int, err error) {
	n, err = c.to.Write(b)
	c.written += n
	return n, err
}

// writeCSV writes every op of a stored history on a row, and keeps none. A cell that a spreadsheet would take for a formula is
// made text. A history that was cut off is written up to there.
func writeCSV(w io.Writer, ops io.Reader) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"index", "seconds", "process", "type", "f", "node", "role", "term", "leader", "words", "error"}); err != nil {
		return err
	}
	err := history.Stream(ops, func(op *history.Op) error {
		row := []string{
			strconv.Itoa(op.Index), strconv.FormatFloat(op.Time.Seconds(), 'f', 9, 64), op.Process.String(), op.Type.String(), string(op.F),
			plainCell(op.Node), "", "", "", plainCell(report.Words(op)), plainCell(op.Error),
		}
		if (op.F == history.Observe || op.F == history.Announce) && op.Type == history.OK {
			row[6], row[7], row[8] = op.View.Role.String(), strconv.FormatUint(op.View.Term, 10), plainCell(op.View.Leader)
		}
		return c.Write(row)
	})
	if err != nil && !errors.Is(err, history.ErrCut) {
		return err
	}
	c.Flush()
	return c.Error()
}

func plainCell(s string) string {
	if s != "" && bytes.ContainsAny([]byte(s[:1]), "=+-@\t\r") {
		return "'" + s
	}
	return s
}
