package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"recount/internal/hint"
	"recount/targets"
)

// folderName is what a target's runs lie under: its name, or that of the file that describes it.
func folderName(target string) string {
	if targets.IsFile(target) {
		return strings.TrimSuffix(filepath.Base(target), filepath.Ext(target))
	}
	return target
}

// makeFolder makes a run's own folder, results/<target>/<time>.
func makeFolder(results, target string) (string, error) {
	if results == "" {
		return "", Usage(hint.Add(errors.New("harness: the results folder has no name"), "--results DIR names one"))
	}
	dir, err := NewFolder(results, folderName(target), time.Now())
	if err != nil {
		return "", fmt.Errorf("harness: %w", err)
	}
	return dir, keepDefinition(dir, target)
}

// NewFolder makes results/<kind>/<time>, with a number behind it where another began in the same millisecond.
func NewFolder(results, kind string, began time.Time) (string, error) {
	parent := filepath.Join(results, kind)
	err := os.MkdirAll(parent, 0o755)
	stamp := began.Format("20060102-150405.000")
	for i := 1; err == nil; i++ {
		dir := filepath.Join(parent, stamp)
		if i > 1 {
			dir = fmt.Sprintf("%s-%d", dir, i)
		}
		if err = os.Mkdir(dir, 0o755); err == nil {
			return dir, nil
		}
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return "", hint.Add(fmt.Errorf("results folder: %w", err), "--results DIR names another place")
}

// definitionFile is a copy of the file that describes a run's target, in the run's folder: wherever that is judged again, it
// is known what was promised.
const definitionFile = "target.yaml"

func keepDefinition(dir, target string) error {
	if !targets.IsFile(target) {
		return nil
	}
	t, err := targets.Find(target)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, definitionFile), t.Definition, 0o644)
	}
	if err != nil {
		return fmt.Errorf("harness: keep the definition of %s: %w", target, err)
	}
	return nil
}

// latest lets results/latest point to a run's folder. It is a convenience: where links cannot be made there is none.
func latest(results, dir string) {
	link := filepath.Join(results, "latest")
	to, err := filepath.Rel(results, dir)
	if err != nil {
		return
	}
	if info, err := os.Lstat(link); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return // somebody's own file
	}
	tmp := fmt.Sprintf("%s.%d", link, os.Getpid())
	if os.Symlink(to, tmp) == nil {
		if os.Rename(tmp, link) != nil {
			os.Remove(tmp)
		}
	}
}

// encode is the plan as it is kept with the run, its drawn schedule included.
func (s *subject) encode() (json.RawMessage, error) {
	b, err := json.Marshal(s.Plan)
	if err != nil {
		return nil, fmt.Errorf("harness: encode the plan: %w", err)
	}
	return b, nil
}

// RunID names the containers of the run whose folder this is. Runs may begin in the same millisecond, in different places.
func RunID(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	h := fnv.New32a()
	h.Write([]byte(dir)) // never fails
	return filepath.Base(dir) + "-" + strconv.FormatUint(uint64(h.Sum32()), 36)
}
