package virtual

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// pattern is what the folders of clusters are called.
const pattern = "recount-virtual-*"

// folder makes the folder of a cluster below another one. Its lock ends with the process that holds it, however that ends.
func folder(below string) (*os.File, error) {
	dir, err := os.MkdirTemp(below, pattern)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(dir)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return f, nil
}

// Clean removes the files of clusters whose run was killed, and of those that are alive too if all is set. It returns which folders
// are gone.
func Clean(all bool) (removed []string, err error) { return clean(scratch(""), all) }

func clean(below string, all bool) (removed []string, err error) {
	dirs, err := filepath.Glob(filepath.Join(below, pattern))
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		f, opened := os.Open(dir)
		if errors.Is(opened, os.ErrNotExist) {
			continue // its run has ended meanwhile
		}
		if opened != nil {
			err = errors.Join(err, opened)
			continue
		}
		alive := errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
		if !alive || all {
			if failed := os.RemoveAll(dir); failed != nil {
				err = errors.Join(err, fmt.Errorf("remove what a run in virtual time left behind: %w", failed))
			} else {
				removed = append(removed, dir)
			}
		}
		f.Close()
	}
	return removed, err
}
