package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/history/jepsen"
	"recount/internal/hint"
)

// replay is a stored run that is to be made again.
type replay struct {
	stored *record.Run
	*harness.Replay
}

// openReplay reads the stored run at a path, a folder or a history, and plans it again with what the flags change.
func openReplay(cmd *cobra.Command, args []string, path string, with record.Plan) (*replay, error) {
	for _, name := range []string{"nodes", "time", "nemesis", "workload", "goroutines"} {
		if cmd.Flags().Changed(name) {
			return nil, hint.Add(fmt.Errorf("--%s does not go with --replay", name),
				"a replay may be given another --target, --opt, --seed or place to run --on")
		}
	}
	if len(args) > 0 {
		return nil, hint.Add(fmt.Errorf("scenario %q does not go with --replay", args[0]), "the recorded faults are the scenario")
	}
	stored, err := readRun(cmd.Context(), path)
	if err != nil {
		return nil, err
	}
	if !cmd.Flags().Changed("seed") {
		with.Seed = stored.Seed
	}
	again, err := harness.PlanReplay(stored, with)
	if err != nil {
		return nil, err
	}
	for _, note := range again.Notes {
		say(cmd)(note)
	}
	return &replay{stored, again}, nil
}

// readRun reads a stored run from its folder, or from a history.
func readRun(ctx context.Context, path string) (*record.Run, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return record.Read(path)
	}
	c := checking{Options: jepsen.Options{Cut: true}, whole: true}
	read, err := c.load(newReading(ctx, path), path, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	r := read.run
	stored, err := record.Read(filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.Setup() != nil && !r.History.Complete():
		return nil, hint.Add(fmt.Errorf("%s is cut off, and no %s lies beside it to tell what was to come", path, record.RunFile),
			"name the run's folder; recount check --cut judges what is there")
	case errors.Is(err, fs.ErrNotExist): // a history away from its run's folder
		return r, nil
	case err != nil:
		return nil, err
	}
	r.Plan, r.PlanHash, r.Verdicts, r.DescribedBy, r.Built = stored.Plan, stored.PlanHash, stored.Verdicts, stored.DescribedBy, stored.Built
	return r, nil
}

// compare tells how the run that was made differs from the stored one, if it does. One that was to be the same and is not shows nothing.
func (r *replay) compare(cmd *cobra.Command, made *record.Run) error {
	if was := r.stored.Built; r.stored.Cluster == made.Cluster && len(was) > 0 && len(made.Built) > 0 && !slices.Equal(was, made.Built) {
		say(cmd)(fmt.Sprintf("the nodes ran %s; in the recorded run they ran %s", strings.Join(made.Built, ", "), strings.Join(was, ", ")))
	}
	if r.Exact {
		if err := r.same(made); err != nil {
			err = r.explained(cmd, made, err)
			made.Standing = record.Standing{Status: record.StatusFailed, Flaw: record.Another}
			cause := hint.Of(err)
			if r.Edited != "" {
				cause = r.Edited + " is not what it was, or " + cause
			}
			return hint.Add(err, "%s; to see whether a repaired server holds, run the scenario file instead", cause)
		}
		say(cmd)(fmt.Sprintf("the same history as recorded, all %d ops of it", made.History.Happened()))
		return nil
	}
	for _, v := range made.Verdicts {
		i := slices.IndexFunc(r.stored.Verdicts, func(w record.Verdict) bool { return w.Property == v.Property })
		if i >= 0 && r.stored.Verdicts[i].Verdict != v.Verdict && v.Verdict != checkers.Unknown {
			say(cmd)(fmt.Sprintf("%s was %v in the recorded run and is %v here", v.Property, r.stored.Verdicts[i].Verdict, v.Verdict))
		}
	}
	return nil
}

// explained is why a run is another, where what its nodes ran is not: what they do may not follow from the seed alone, and then where it
// parts is told.
func (r *replay) explained(cmd *cobra.Command, made *record.Run, err error) error {
	if len(made.Built) == 0 || !slices.Equal(r.stored.Built, made.Built) {
		return err
	}
	say(cmd)("the nodes ran what they ran then, so the run is made again, to see where it parts")
	why := harness.Twice(cmd.Context(), made)
	if why == nil {
		return err
	}
	for line := range strings.Lines(why.Error()) {
		say(cmd)(strings.TrimRight(line, "\n"))
	}
	return hint.Add(err, "what its nodes do does not follow from the seed alone: where two runs of it part is told above")
}

// same names the first thing that the run that was made did otherwise than the stored one.
func (r *replay) same(made *record.Run) error {
	if err := harness.Same(r.stored.History, made.History); err != nil {
		return err
	}
	if was := r.stored.Events; was != "" && was != made.Events {
		return hint.Add(fmt.Errorf("the same ops as recorded, but the nodes did not do the same: events %s, recorded %s", made.Events, was),
			"the server is not what it was, or the Go release or the Recount that builds it")
	}
	return nil
}
