package claims

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"recount/harness/record"
	"recount/internal/whole"
)

// The files of a report.
const (
	PageFile = "measurements.md"
	textFile = "measurements.txt"
	jsonFile = "measurements.json"
)

// MakeFolder makes a report's own folder, results/measure/<time>.
func MakeFolder(results string) (string, error) {
	dir, err := record.NewFolder(results, "measure", time.Now())
	if err != nil {
		return "", err
	}
	return dir, nil
}

// Write writes a report into its folder, in every form.
func Write(r *Report, dir string) error {
	if err := whole.WriteForms(dir, map[string]func(io.Writer, *Report) error{textFile: Text, jsonFile: whole.JSON[*Report]}, r); err != nil {
		return err
	}
	return WritePage(r, filepath.Join(dir, PageFile))
}

// WritePage writes a report as a Markdown page, and its plots into a folder that is named like it.
func WritePage(r *Report, file string) error {
	var b bytes.Buffer
	plots := strings.TrimSuffix(file, filepath.Ext(file))
	if err := Markdown(&b, r, filepath.Base(plots)); err != nil {
		return err
	}
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	drawn := map[string][]byte{}
	for i := range r.Results {
		for _, p := range r.Results[i].Plots {
			drawn[p.Name+".svg"] = p.svg
		}
	}
	if err := whole.WriteAll(plots, drawn); err != nil {
		return err
	}
	return whole.Write(file, b.Bytes())
}
