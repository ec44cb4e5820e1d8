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

// makeFolder makes a run's own folder, results/<target>/<time>.
func makeFolder(results, target string) (string, error) {
	if results == "" {
		return "", Usage(hint.Add(errors.New("the results folder has no name"), "--results DIR names one"))
	}
	dir, err := record.NewFolder(results, targets.Label(target), time.Now())
	if err != nil {
		return "", err
	}
	return dir, keepDefinition(dir, target)
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

func keepDefinition(dir, target string) error {
	if !targets.IsFile(target) {
		return nil
	}
	t, err := targets.Find(target)
	if err == nil {
		err = whole.Write(filepath.Join(dir, record.DefinitionFile), t.Definition)
	}
	if err != nil {
		return fmt.Errorf("keep the definition of %s: %w", target, err)
	}
	return nil
}
