package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"recount/harness/record"
)

// Keep gives a run a folder under results, with its history: a run that left nothing on disk, or one whose folder lies elsewhere
// and is moved. One in virtual time is made again for it, so that the nodes' logs and messages are there, too, unless ctx ends. The
// reports are the caller's to write.
func Keep(ctx context.Context, r *record.Run, results string) error {
	dir, err := makeFolder(results, r.Target)
	if err != nil {
		return err
	}
	if r.Dir == "" {
		if err = written(ctx, r, dir); err != nil {
			return errors.Join(err, os.RemoveAll(dir)) // half of a run is of no use to anybody
		}
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

// KeepAs gives a run the folder dir, with its history and what else write puts into the folder that the run names. The folder
// is there with all of it, or not at all. One that is there already stays as it is. When ctx ends while a run
// in virtual time is made again, it is not, and the error is that of ctx: whoever goes on keeps it whole.
func KeepAs(ctx context.Context, r *record.Run, dir string, write func(r *record.Run) error) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	return appears(dir, func(scratch string) (string, error) {
		kept := *r
		kept.Dir, kept.Verdicts = scratch, slices.Clone(r.Verdicts)
		err := os.Chmod(scratch, 0o755)
		switch {
		case err != nil:
		case r.Dir == "":
			if err = written(ctx, &kept, scratch); err == nil {
				err = ctx.Err() // whoever goes on keeps it whole
			}
		default:
			err = os.CopyFS(scratch, os.DirFS(r.Dir))
		}
		if err == nil {
			err = write(&kept)
		}
		return scratch, err
	})
}

// appears has a folder dir there at once, with all that fill has made for it, or not at all. Fill is given a folder beside it, and returns
// the one to be taken: that, or one below. If another process has made dir meanwhile, that one stays.
func appears(dir string, fill func(scratch string) (made string, err error)) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(dir), record.Scratch)
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	made, err := fill(scratch)
	if err != nil {
		return err
	}
	if err := os.Rename(made, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
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
