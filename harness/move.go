package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"recount/harness/record"
)

// Move takes a run out of the folder that it was made under, and gives it one under results.
func Move(r *record.Run, results string) error {
	dir, err := makeFolder(results, r.Target)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(r.Dir)
	errs := []error{err}
	for _, e := range entries {
		errs = append(errs, os.Rename(filepath.Join(r.Dir, e.Name()), filepath.Join(dir, e.Name())))
	}
	if err := errors.Join(append(errs, os.Remove(r.Dir))...); err != nil {
		return fmt.Errorf("harness: move %s to %s: %w", r.Dir, dir, err)
	}
	r.Dir = dir
	record.Latest(results, dir)
	return nil
}
