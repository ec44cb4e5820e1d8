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
		PageFile: HTML, DataFile: JSON, textFile: Text, markdownFile: Markdown,
	}, t)
}

// Read reads what JSON wrote.
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

// JSON writes the matrix as one object.
func JSON(w io.Writer, t *Table) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		return fmt.Errorf("write the object: %w", err)
	}
	return nil
}
