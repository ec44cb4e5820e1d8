package matrix

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"recount/harness/record"
	"recount/internal/whole"
)

// The files of a matrix's folder.
const (
	PageFile     = "matrix.html"
	DataFile     = "matrix.json"
	textFile     = "matrix.txt"
	markdownFile = "matrix.md"
)

// MakeFolder makes a matrix's own folder, results/matrix/<time>.
func MakeFolder(results string) (string, error) {
	dir, err := record.NewFolder(results, "matrix", time.Now())
	if err != nil {
		return "", err
	}
	return dir, nil
}

// Write writes a matrix into its folder in every form.
func Write(t *Table, dir string) error {
	return whole.WriteForms(dir, map[string]func(io.Writer, *Table) error{
		PageFile: HTML, DataFile: whole.JSON[*Table], textFile: Text, markdownFile: Markdown,
	}, t)
}

// Read reads a matrix that was written as JSON.
func Read(b []byte) (*Table, error) {
	t := &Table{}
	if err := json.Unmarshal(b, t); err != nil {
		return nil, fmt.Errorf("read the matrix: %w", err)
	}
	if len(t.Pairs) != len(t.Rows)*len(t.Columns) {
		return nil, fmt.Errorf("read the matrix: %d pairs of %d rows and %d columns", len(t.Pairs), len(t.Rows), len(t.Columns))
	}
	for i := range t.Pairs {
		if p := &t.Pairs[i]; len(p.Cells) != len(t.Properties) {
			return nil, fmt.Errorf("read the matrix: %s under %s has %d cells for %d properties", p.Row, p.Column, len(p.Cells), len(t.Properties))
		}
	}
	return t, nil
}
