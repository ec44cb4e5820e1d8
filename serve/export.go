package serve

import (
	"bytes"
	"encoding/csv"
	"io"
	"net/http"
	"strconv"

	"recount/harness/record"
	"recount/history"
	"recount/report"
)

// exports are the forms in which a run can be taken away, by the file's name.
var exports = map[string]struct {
	kind  string
	write func(io.Writer, *record.Run) error
}{
	"ops.csv":      {"text/csv; charset=utf-8", writeCSV},
	"run.perfetto": {"application/octet-stream", writePerfetto},
}

func (s *Server) export(w http.ResponseWriter, r *http.Request, run *Run, name string) {
	full, err := s.runs.run(run.ID)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, problem(err))
		return
	}
	w.Header().Set("Content-Type", exports[name].kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_ = exports[name].write(w, full) // as it is made: a million ops are more than to hold; a browser that has gone away is none of ours
}

// writeCSV writes every op on a row. A cell that a spreadsheet would take for a formula is made text.
func writeCSV(w io.Writer, r *record.Run) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"index", "seconds", "process", "type", "f", "node", "role", "term", "leader", "words", "error"}); err != nil {
		return err
	}
	for i := range r.History.Ops {
		op := &r.History.Ops[i]
		row := []string{
			strconv.Itoa(op.Index), strconv.FormatFloat(op.Time.Seconds(), 'f', 9, 64), op.Process.String(), op.Type.String(), string(op.F),
			plainCell(op.Node), "", "", "", plainCell(report.Words(op)), plainCell(op.Error),
		}
		if (op.F == history.Observe || op.F == history.Announce) && op.Type == history.OK {
			row[6], row[7], row[8] = op.View.Role.String(), strconv.FormatUint(op.View.Term, 10), plainCell(op.View.Leader)
		}
		if err := c.Write(row); err != nil {
			return err
		}
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
