package record

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"recount/internal/hint"
)

// Scratch begins the name of a folder under results that goes in the end: of runs of which few are kept.
const Scratch = ".many-"

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
	return "", hint.Add(fmt.Errorf("results folder: %w", err), "%v names another place", hint.Set("results", "DIR"))
}

// stamped is what NewFolder's folders are called.
var stamped = strings.Repeat("[0-9]", 8) + "-" + strings.Repeat("[0-9]", 6) + ".[0-9][0-9][0-9]*"

// IsResults tells whether something is a folder of results, or a part of one, by what it is called and holds.
func IsResults(name string) bool {
	if strings.HasPrefix(filepath.Base(name), Scratch) {
		return true
	}
	if to, err := os.Readlink(name); err == nil {
		is, _ := path.Match("*/"+stamped, filepath.ToSlash(to))
		return is
	}
	for _, of := range []string{stamped, "*/" + stamped, Scratch + "*"} {
		if found, _ := fs.Glob(os.DirFS(name), of); found != nil {
			return true
		}
	}
	return false
}

// Latest lets results/latest point to a run's folder, once the run is over. It is a convenience: where links cannot be made there is none.
func Latest(results, dir string) {
	link := filepath.Join(results, "latest")
	to, err := filepath.Rel(results, dir)
	if err != nil {
		return
	}
	if info, err := os.Lstat(link); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return // somebody's own file
	}
	tmp := fmt.Sprintf("%s.%d", link, os.Getpid())
	os.Remove(tmp) // of a process that was killed, and had the same number
	if os.Symlink(to, tmp) == nil {
		if os.Rename(tmp, link) != nil {
			os.Remove(tmp)
		}
	}
}

// Drop removes a run's folder of which nothing is worth keeping, and results/latest if that points to it.
func Drop(results, dir string) error {
	link := filepath.Join(results, "latest")
	if to, err := os.Readlink(link); err == nil && filepath.Join(results, to) == filepath.Clean(dir) {
		os.Remove(link) // like Latest, it is a convenience
	}
	return os.RemoveAll(dir)
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
