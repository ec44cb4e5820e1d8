package virtual

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// pattern is what the folders of clusters are called.
const pattern = "recount-virtual-*"

// folder makes the folder of a cluster below another one. Its lock ends with the process that holds it, however that ends.
func folder(below string) (*os.File, error) {
	for {
		dir, err := os.MkdirTemp(below, pattern)
		if err != nil {
			return nil, err
		}
		f, err := os.Open(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue // somebody cleans, and took it for a dead run's before it was locked
		}
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(err, f.Close(), os.RemoveAll(dir))
		}
		if there, err := os.Stat(dir); err == nil {
			if locked, err := f.Stat(); err == nil && os.SameFile(there, locked) {
				return f, nil
			}
		}
		f.Close()
	}
}

// Clean removes the files of clusters whose run was killed, and of those that are alive too if all is set. It returns which folders
// are gone.
func Clean(all bool) (removed []string, err error) { return clean(scratch(""), all) }

func clean(below string, all bool) (removed []string, err error) {
	err = folders(below, func(dir string, alive bool) error {
		if alive && !all {
			return nil
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove what a run in virtual time left behind: %w", err)
		}
		removed = append(removed, dir)
		return nil
	})
	return removed, err
}

// Left returns the folders of clusters whose run was killed.
func Left() (dead []string, err error) { return left(scratch("")) }

func left(below string) (dead []string, err error) {
	err = folders(below, func(dir string, alive bool) error {
		if !alive {
			dead = append(dead, dir)
		}
		return nil
	})
	return dead, err
}

// folders calls f with each folder of a cluster of this user's, and whether its run is alive. One that is not stays as it is until f returns.
func folders(below string, f func(dir string, alive bool) error) error {
	names, err := fs.Glob(os.DirFS(below), pattern)
	for _, name := range names {
		dir := filepath.Join(below, name)
		at, opened := os.Open(dir)
		if errors.Is(opened, os.ErrNotExist) {
			continue // its run has ended meanwhile
		}
		if errors.Is(opened, os.ErrPermission) {
			continue // another user's, who alone can tell whether its run is alive
		}
		if opened != nil {
			err = errors.Join(err, opened)
			continue
		}
		alive := errors.Is(syscall.Flock(int(at.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
		err = errors.Join(err, f(dir, alive), at.Close())
	}
	return err
}
