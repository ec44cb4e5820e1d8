package overlay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// most is how many bytes of programs and of their sources are kept for the next time. What was used longest ago goes first, and nothing
// goes that a process uses. The patches of each Go release (std) and copies of releases (goroot) are not counted, and stay.
const most = 4 << 30

// usedName is a file in each folder that is kept: as old as the last use, and locked by those who use the folder.
const usedName = "used"

// held are the folders that this process uses, until it ends.
var held = struct {
	sync.Mutex
	files map[string]*os.File
}{files: map[string]*os.File{}}

// hold keeps a folder of the cache from being removed as long as this process lives. One that is not there it makes, if it may.
func hold(dir string, makes bool) error {
	held.Lock()
	defer held.Unlock()
	for held.files[dir] == nil {
		if makes {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		f, err := os.OpenFile(filepath.Join(dir, usedName), os.O_CREATE|os.O_RDWR, 0o644)
		if makes && errors.Is(err, fs.ErrNotExist) {
			continue // somebody removes it
		}
		if err != nil {
			return err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
			return errors.Join(err, f.Close())
		}
		locked, err := f.Stat()
		is, gone := os.Stat(f.Name())
		if err != nil || gone != nil || !os.SameFile(locked, is) { // somebody has removed it meanwhile
			f.Close()
			continue
		}
		held.files[dir] = f
	}
	now := time.Now()
	return os.Chtimes(held.files[dir].Name(), now, now)
}

// kept is one folder of the cache.
type kept struct {
	dir  string
	size int64
	used time.Time
}

// prune removes from a cache what was used longest ago, until no more is left than so many bytes, or all that is left is in use.
func prune(cache string, most int64) error {
	var all []kept
	total := int64(0)
	for _, kind := range []string{"bin", "sources"} {
		dirs, err := os.ReadDir(filepath.Join(cache, kind))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, d := range dirs {
			k := measured(filepath.Join(cache, kind, d.Name()))
			all, total = append(all, k), total+k.size
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return a.used.Compare(b.used) })
	for _, k := range all {
		if total <= most {
			break
		}
		removed, err := k.remove()
		if err != nil {
			return err
		}
		if removed {
			total -= k.size
		}
	}
	return nil
}

// measured is a folder with its size. What cannot be read is not counted: somebody removes it.
func measured(dir string) kept {
	k := kept{dir: dir}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			if k.size += info.Size(); path == dir && k.used.IsZero() || path == filepath.Join(dir, usedName) {
				k.used = info.ModTime()
			}
		}
		return nil
	})
	return k
}

// remove removes a folder that nobody uses.
func (k kept) remove() (removed bool, err error) {
	f, err := os.OpenFile(filepath.Join(k.dir, usedName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false, ignored(err, fs.ErrNotExist)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return false, ignored(err, unix.EWOULDBLOCK)
	}
	return true, os.RemoveAll(k.dir)
}

// ignored is nil for an error that says no more than that others are at work.
func ignored(err, others error) error {
	if errors.Is(err, others) {
		return nil
	}
	return err
}
