package harness

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/whole"
	"recount/targets"
)

// makeFolder makes a run's own folder, results/<target>/<time>. It is empty.
func makeFolder(results, target string) (string, error) {
	if results == "" {
		return "", Usage(hint.Add(errors.New("the results folder has no name"), "%v names one", hint.Set("results", "DIR")))
	}
	return record.NewFolder(results, targets.Label(target), time.Now())
}

// absolute is the whole path of the file that describes a target; "" where none does, or where it cannot be told.
func absolute(target string) string {
	if !targets.IsFile(target) {
		return ""
	}
	path, err := filepath.Abs(target)
	if err != nil {
		return ""
	}
	return path
}

// keepDefinition keeps in a run's folder what the file said that describes its target when the run was made. It may say something else by
// now, and what was promised is looked up in what is kept.
func keepDefinition(dir string, r *record.Run) error {
	if r.Description == "" {
		return nil
	}
	if err := whole.Write(filepath.Join(dir, record.DefinitionFile), []byte(r.Description)); err != nil {
		return fmt.Errorf("keep the definition of %s: %w", r.Target, err)
	}
	return nil
}
