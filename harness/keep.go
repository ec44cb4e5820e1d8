package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"recount/harness/record"
)

// Keep gives a run a folder under results, with its history: a simulated run that left nothing on disk, or one whose folder
// lies elsewhere and is moved. The reports are the caller's to write.
func Keep(r *record.Run, results string) error {
	dir, err := makeFolder(results, r.Target)
	if err != nil {
		return err
	}
	if r.Dir == "" {
		err = record.WriteHistory(dir, r.History)
	} else {
		err = move(r.Dir, dir)
	}
	if err != nil {
		return err
	}
	r.Dir = dir
	record.Latest(results, dir)
	return nil
}

// move moves all that is in a folder.
func move(from, to string) error {
	entries, err := os.ReadDir(from)
	errs := []error{err}
	for _, e := range entries {
		errs = append(errs, os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
	}
	if err := errors.Join(append(errs, os.Remove(from))...); err != nil {
		return fmt.Errorf("move %s to %s: %w", from, to, err)
	}
	return nil
}
