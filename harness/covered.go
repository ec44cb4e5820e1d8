package harness

import (
	"bytes"
	"fmt"
	"path/filepath"

	"recount/harness/record"
	"recount/internal/whole"
	"recount/virtual/cover"
)

// covered keeps which statements of the nodes' programs have run, where they were built to tell, and says how many.
func (r *run) covered(rep *record.Run) error {
	if r.ran == nil {
		return nil
	}
	rep.Code = r.ran
	if rep.Dir == "" {
		return nil
	}
	name := filepath.Join(rep.Dir, record.CoverageFile)
	if err := WriteCoverage(name, r.ran); err != nil {
		return err
	}
	ran, all := r.ran.Statements()
	words := cover.Words(ran, all)
	if all > 0 {
		words += fmt.Sprintf("; go tool cover -html=%s shows which", name)
	}
	rep.Notes = append(rep.Notes, words)
	return nil
}

// WriteCoverage writes which statements have run to a file, as go tool cover reads it.
func WriteCoverage(name string, p *cover.Profile) error {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	return whole.Write(name, b.Bytes())
}
