package claims

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"recount/harness/record"
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
	for name, write := range map[string]func(io.Writer, *Report) error{textFile: Text, jsonFile: JSON} {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			return err
		}
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
	err := os.MkdirAll(plots, 0o755)
	if err == nil {
		err = os.WriteFile(file, b.Bytes(), 0o644)
	}
	for i := range r.Results {
		for _, p := range r.Results[i].Plots {
			if err == nil {
				err = os.WriteFile(filepath.Join(plots, p.Name+".svg"), p.svg, 0o644)
			}
		}
	}
	if err != nil {
		return err
	}
	return nil
}

// JSON writes a report as one object.
func JSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write the object: %w", err)
	}
	return nil
}
