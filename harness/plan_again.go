package harness

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"recount/harness/record"
	"recount/internal/hint"
	"recount/targets"
)

// PlanAgain is the plan of a stored run, with the path at which the file that describes its target is now, and what is worth knowing
// of that beforehand. file says where it is; "" is for where it was, or its copy in the run's folder.
func PlanAgain(stored *record.Run, file string) (p record.Plan, notes []string, err error) {
	if err := edited(stored); err != nil {
		return p, nil, Usage(err)
	}
	again := &Replay{Plan: stored.Plan}
	instead, err := again.find(stored, file)
	switch {
	case err != nil || instead == "":
	case !targets.IsFile(stored.Plan.Target):
		err = hint.Add(fmt.Errorf("the run's target is %s, which no file describes", stored.Plan.Target), "leave --target out")
	default:
		again.Plan.Target = instead
		again.note("%s does not say what the file said when the run was made", instead)
	}
	return again.Plan, again.Notes, Usage(err)
}

// edited finds that a run's plan is not the one that it was made by. In one of another version's nobody can tell.
func edited(r *record.Run) error {
	setup := r.Setup()
	if r.PlanHash == "" || setup == nil || setup.Version != Version || r.PlanHash == r.Plan.Hash() {
		return nil
	}
	return hint.Add(fmt.Errorf("the plan in %s is not the one that the run was made by", record.RunFile),
		"it was edited since: put it back; flags such as --seed make another run of the same faults, and a scenario file one of other faults")
}

// find has the plan name the file that describes a stored run's target by a path at which it is now: as it was named, or where it lay
// when the run was made if only that says what it said then, or its copy in the run's folder, where nothing else is needed. instead is
// the target that is to take the place of the stored run's, "" for none, and so it returns it; the same file at another path is no
// other target.
func (r *Replay) find(stored *record.Run, instead string) (string, error) {
	named := r.Plan.Target
	if !targets.IsFile(named) {
		return instead, nil
	}
	var kept string
	var text []byte
	if dir := cmp.Or(stored.Dir, stored.From); dir != "" {
		kept = filepath.Join(dir, record.DefinitionFile)
		var err error
		if text, err = os.ReadFile(kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	same := func(path string) bool {
		now, err := os.ReadFile(path)
		return err == nil && text != nil && bytes.Equal(now, text)
	}
	paths := []string{named, stored.DescribedBy}
	switch {
	case instead != "" && instead != named && !same(instead):
		return instead, nil
	case instead != "":
		paths = []string{instead}
	case same(stored.DescribedBy) && !same(named):
		slices.Reverse(paths)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); instead == "" && (err != nil || info.IsDir()) {
			continue
		}
		t, err := targets.Find(path)
		if err != nil {
			return "", err
		}
		if text != nil && !bytes.Equal(t.Definition, text) {
			r.Edited = path
			r.note("%s does not say what it said when the run was made; %s is what it said", path, kept)
		}
		r.Plan.Target = path
		return "", missing(t)
	}
	gone := fmt.Errorf("the file that describes the target is not at %s any more", cmp.Or(stored.DescribedBy, named))
	if text == nil {
		return "", hint.Add(gone, "--target FILE says where it is")
	}
	t, err := targets.Find(kept)
	if err != nil {
		return "", err
	}
	if len(t.Parts) > 0 {
		return "", hint.Add(gone, "--target FILE says where it is; %s is a copy of it, whose paths begin where it lay", kept)
	}
	r.note("%v: its copy in the run's folder takes its place", gone)
	r.Plan.Target = kept
	return "", nil
}

// missing says that something is gone that the nodes of a target are made of.
func missing(t *targets.Target) error {
	for _, path := range t.Parts {
		if _, err := os.Stat(path); err != nil {
			return hint.Add(fmt.Errorf("what the nodes are made of is not there: %w", err),
				"put it back, or say with --target FILE where the file that describes the target lies together with it")
		}
	}
	return nil
}
