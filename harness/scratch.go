package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"recount/harness/record"
	"recount/internal/hint"
)

// Scratch is where many runs are made of which few are kept. Those on containers get folders in a scratch folder, which
// goes in the end; what is kept is moved out of it before. Runs in virtual time leave nothing on disk.
type Scratch struct {
	results, dir string
}

// OpenScratch opens a place for runs under the results folder.
func OpenScratch(on, results string) (*Scratch, error) {
	s := &Scratch{results: results}
	var err error
	if record.Repeats(on) {
		err = creatable(results)
	} else if err = os.MkdirAll(results, 0o755); err == nil {
		s.dir, err = os.MkdirTemp(results, record.Scratch)
	}
	if err != nil {
		return nil, hint.Add(fmt.Errorf("results folder: %w", err), "%v names another place", hint.Set("results", "DIR"))
	}
	return s, nil
}

// creatable tells why a folder cannot be made, or nothing in it, if that is so: what is found in the end has to be kept.
func creatable(dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		made, err := os.MkdirTemp(at, record.Scratch)
		if err == nil {
			return os.Remove(made)
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return err
		}
	}
}

// Run makes a run. Progress may be nil.
func (s *Scratch) Run(ctx context.Context, plan record.Plan, progress func(string)) (*record.Run, error) {
	if record.Repeats(plan.On) {
		return Simulate(ctx, plan)
	}
	return Run(ctx, plan, Config{Results: s.dir, Progress: progress})
}

// Keep gives a run a folder under the results folder, as harness.Keep does.
func (s *Scratch) Keep(ctx context.Context, r *record.Run) error { return Keep(ctx, r, s.results) }

// Close removes what was not kept.
func (s *Scratch) Close() error {
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}
