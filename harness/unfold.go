package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"recount/harness/record"
)

// written writes a run that left nothing on disk into its folder. When ctx ends it is kept as it is, without what it would have to be made
// again for.
func written(ctx context.Context, r *record.Run, dir string) error {
	if err := keepDefinition(dir, r); err != nil {
		return err
	}
	if r.Cluster != record.OnVirtual || !r.Plan.Known() || !r.History.Complete() {
		return record.WriteHistory(dir, r.History)
	}
	err := unfold(ctx, r, dir)
	if err == nil {
		return nil
	}
	r.Notes = append(slices.Clone(r.Notes), fmt.Sprintf("the nodes' logs and messages are missing: %v", err))
	return record.WriteHistory(dir, r.History)
}

// errInterrupted is why a run was not made again. What repeats it brings them about.
var errInterrupted = errors.New("interrupted before it was made again; what repeats the run writes them")

// unfold makes a run in virtual time once more, now with its nodes' logs and their messages, and has these and the history in its
// folder; or nothing of it, if it was another run, or ctx ended.
func unfold(ctx context.Context, r *record.Run, dir string) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	s, err := resolve(r.Plan)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(dir), record.Scratch)
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	again := &run{subject: s, Config: Config{}.heard(ctx)}
	err = again.record(ctx, scratch)
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return err
	}
	h, err := again.recorder.History()
	if err != nil {
		return err
	}
	if Same(r.History, h) != nil || again.events() != r.Events {
		return fmt.Errorf("the run of seed %d was another when it was made again", r.Seed)
	}
	r.Notes, r.LastWords = slices.Concat(again.notes, again.told), again.lastWords
	return move(scratch, dir)
}
