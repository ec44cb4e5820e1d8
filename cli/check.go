package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"recount/checkers/linear"
	"recount/harness"
	"recount/harness/batch"
	"recount/harness/record"
	"recount/history"
	"recount/history/jepsen"
	"recount/internal/hint"
)

// checking is what histories are judged by.
type checking struct {
	jepsen.Options
	initial   string // what registers hold at first, in EDN
	timeLimit time.Duration
	memory    byteSize // for all files together
	whole     bool     // the ops themselves are needed, not only what is said of them
	edn       string   // where to write a history for Jepsen's tools
	drawings  string   // the folder to write pictures to of what was decided
	demand    []string // properties that must hold
	bounds    []string // thresholds to judge by instead of the target's: "elect=10s"
}

func init() { register(checkCommand) }

func checkCommand() *cobra.Command {
	c := checking{timeLimit: 2 * time.Minute, memory: 4 << 30}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Judge stored histories again, Recount's and other people's; no cluster is needed",
		Long: `Judge stored histories again; no cluster is needed. Each FILE is a run's folder, a history.jsonl of Recount's, a
history.edn of Jepsen's (a vector of maps, or one map after the other), its history.txt, or a log of operations as Knossos
and porcupine have them (INFO jepsen.util - 3 :invoke :cas [1 2]); each of them may be compressed by gzip.

What the target of one of Recount's runs promises, and what the run expected, is known from the history and from the
run.json and the target.yaml beside it, wherever one stands. Where it is not known, what --require names must hold: this
alone can be seen to hold, and where nothing is named, every property that is seen to be violated is something that broke.
Of other people's histories --model says what the operations were on:

  register                   :read and :write; without --model, these and :cas mean cas-register
  cas-register               and :cas [old new]
  compare-exchange-register  a :cas that :fail-s tells what it found instead
  revisioned-register        values are [revision value], as etcd has them
  revisioned-store           values are [key [revision value]]; revisions count all writes, as etcd's do
  multi-register             a :txn of [[:read key value] [:write key value]]
  mutex                      :acquire and :release
  owned-mutex                and only who took it gives it back
  fenced                     :read and :write of [token value], or an :acquire that tells its fencing token
  leader                     any :f whose value is [leader term], or {:role :leader, :term 3, :leader "n1"}

Several files are judged at the same time. The exit status is the worst of all: 0 all held, 2 something is unknown, 1
something broke, 254 a file is malformed, 255 Recount failed over one. Nothing is ever said of half a file unasked.`,
		Example: `  recount check results/latest                        # a run of Recount's, or its history.jsonl
  recount check store/latest/history.edn              # a run of Jepsen's
  recount check --model mutex --time-limit 30s locks/*.edn
  recount check --model cas-register --independent history.edn   # values are [key value]
  recount check --initial 0 history.edn               # registers held 0 before the first write
  recount check --bound elect=10s,moves=6 results/latest         # by other thresholds than the target's
  recount check --require single-leader-per-term,monotonic-term mine.jsonl   # by a history made by hand
  recount check --edn history.edn results/latest      # and write it for Jepsen's tools
  recount check --drawings pictures history.edn       # and draw what was decided: pictures/linearizable.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.valid(args); err != nil {
				return err
			}
			defer sparing(int64(c.memory), args)()
			return c.run(cmd, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&c.Cut, "cut", false, "judge what comes before the place where a history was cut off: it may be invalid, not valid")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON objects, one a file")
	cmd.Flags().StringVar(&c.initial, "initial", "", "what registers held at first, in EDN: 0, or for a multi-register {:x 0, :y 0} (default what a test.edn beside the history tells, or else nothing)")
	cmd.Flags().StringVar(&c.Model, "model", "", "what the operations of other people's histories were on")
	cmd.Flags().BoolVar(&c.Independent, "independent", false, "values of other people's histories are [key value], each key an object of its own")
	cmd.Flags().DurationVar(&c.timeLimit, "time-limit", c.timeLimit, "of the processor, for deciding one file, however busy the machine is; what is undecided then is unknown")
	cmd.Flags().Var(&c.memory, "memory-limit", "for all files together; a history that does not fit is refused, what cannot be decided within it is unknown")
	cmd.Flags().StringSliceVar(&c.bounds, "bound", nil, "judge by this threshold instead of the target's: silence, elect, moves, returns or terms=VALUE")
	cmd.Flags().StringSliceVar(&c.demand, "require", nil, "properties that must hold, promised or not (recount list checkers)")
	cmd.Flags().StringVar(&c.edn, "edn", "", "write the history to this file, too, for Jepsen's tools")
	cmd.Flags().StringVar(&c.drawings, "drawings", "", "write porcupine's pictures of what was decided to this folder, too: PROPERTY.html, open where the last order ended")
	return cmd
}

// valid finds what is wrong with the flags.
func (c *checking) valid(args []string) error {
	if c.Model != "" {
		if _, err := jepsen.FindModel(c.Model); err != nil {
			return err
		}
	}
	if c.initial != "" {
		var err error
		if c.Initial, err = jepsen.ParseInitial(strings.NewReader(c.initial)); err != nil {
			return hint.Add(fmt.Errorf("initial value %q: %w", c.initial, err), `want a value of EDN, such as 0, :a, "a" or [1 2]`)
		}
	}
	for _, property := range c.demand {
		if err := harness.KnownProperty(property); err != nil {
			return err
		}
	}
	if _, err := c.bounded(history.Bounds{}); err != nil {
		return err
	}
	switch {
	case c.timeLimit <= 0:
		return hint.Add(fmt.Errorf("time limit %v", c.timeLimit), "a limit is a positive time, such as 30s")
	case c.memory < 16<<20:
		return hint.Add(fmt.Errorf("memory limit %v", &c.memory), "a limit is 16MiB or more, such as 2GiB")
	case c.edn != "" && len(args) > 1:
		return hint.Add(errors.New("--edn writes one history"), "name one file to check")
	case c.drawings != "" && len(args) > 1:
		return hint.Add(errors.New("--drawings draws one history"), "name one file to check")
	}
	return nil
}

// run judges all files, as many at a time as there are cores, and shows them in order. No more wait to be shown than are
// judged at a time: the memory is for all that is held.
func (c *checking) run(cmd *cobra.Command, paths []string, asJSON bool) error {
	jobs, bar := min(len(paths), batch.Workers(0)), newProgress(cmd)
	b := batch.Batch[string, *record.Run]{Jobs: jobs, Ordered: true, Do: func(ctx context.Context, path string) (*record.Run, error) {
		of := newReading(ctx, path)
		defer batch.KeepTelling(func() { bar.tell(of.String) })()
		return c.judge(of, path, int64(c.memory)/int64(jobs))
	}}
	worst := record.StatusHeld
	for d := range b.Each(cmd.Context(), slices.Values(paths)) {
		bar.end()
		status, err := tellChecked(cmd, d, asJSON)
		if err != nil {
			return failure{err}
		}
		worst = worse(worst, status)
	}
	if cmd.Context().Err() != nil { // files may be left that nobody looked at
		worst = worse(worst, record.StatusUnknown)
	}
	return verdict(worst)
}

// tellChecked shows what came of a file, and returns its status. What was decided is told though something that was to be written of it
// could not be.
func tellChecked(cmd *cobra.Command, d batch.Done[string, *record.Run], asJSON bool) (status int, err error) {
	if d.Result != nil {
		status, err = d.Result.Status, show(cmd, d.Result, asJSON)
	}
	if d.Err == nil || err != nil {
		return status, err
	}
	failed := crashOver(d.Job, d.Err)
	instead := statusOf(failed)
	if errors.Is(d.Err, context.Canceled) {
		failed, instead = errors.New(interrupted(d.Err)), record.StatusUnknown
	}
	complain(cmd.ErrOrStderr(), failed)
	switch {
	case status == record.StatusBroken:
		return status, nil
	case asJSON && d.Result == nil:
		err = excuse(cmd.OutOrStdout(), d.Job, failed, instead)
	}
	return instead, err
}

// worse is the status of two files together.
func worse(a, b int) int {
	order := []int{record.StatusHeld, record.StatusUnknown, record.StatusBroken, record.StatusUsage, record.StatusFailed}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// excuse prints what is wrong with a file, for scripts.
func excuse(w io.Writer, path string, err error, status int) error {
	return json.NewEncoder(w).Encode(struct {
		File   string `json:"file"`
		Status int    `json:"status"`
		Error  string `json:"error"`
		Hint   string `json:"hint,omitempty"`
	}{path, status, err.Error(), hint.Of(err)})
}

// crashOver is the error of a file. What crashes over one does not keep the others from their verdicts.
func crashOver(path string, err error) error {
	var crash *batch.Panic
	if !errors.As(err, &crash) {
		return err
	}
	return failure{hint.Add(fmt.Errorf("%s: recount crashed: %v (%s)", path, crash.Value, crash.Site),
		"this is a defect of Recount's: report it with the file")}
}

// judge reads one history and has it judged. An error beside the run is of what was to be written of it.
func (c *checking) judge(of *reading, path string, memory int64) (*record.Run, error) {
	s, err := c.load(of, path, memory)
	if err != nil && of.ctx.Err() != nil {
		return nil, fmt.Errorf("reading %s: %w", path, of.ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	of.deciding.Store(true)
	var unwritten error
	if c.edn != "" {
		unwritten = export(c.edn, s.run.History)
	}
	held := int64(0)
	if s.run.History != nil {
		held = int64(len(s.run.History.Ops)) * history.OpSize
	} else {
		held = s.judging.Size()
	}
	ctx := linear.WithMemory(of.ctx, max(memory-held, memory/8))
	switch foreign := s.model.Name != ""; {
	case s.judging != nil && foreign:
		harness.ConcludeForeign(ctx, s.run, s.judging, c.timeLimit)
	case s.judging != nil:
		harness.Conclude(ctx, s.run, s.judging, c.timeLimit)
	case foreign:
		harness.JudgeForeign(ctx, s.run, s.model.Properties, c.timeLimit)
	default:
		harness.JudgeWithin(ctx, s.run, c.timeLimit)
	}
	if ctx.Err() != nil {
		s.run.Notes = append(s.run.Notes, "deciding was interrupted: what was not decided by then is unknown")
	}
	if strangers := s.run.Frame().Strangers(); len(strangers) > 0 {
		s.run.Notes = append(s.run.Notes, fmt.Sprintf("faults are told of %s, and the nodes are %s: what befell those counts for none of these",
			strings.Join(strangers, ", "), strings.Join(s.run.Setup().Nodes, ", ")))
	}
	if c.drawings != "" {
		unwritten = errors.Join(unwritten, draw(c.drawings, s.run))
	}
	if unwritten != nil {
		return s.run, failure{unwritten}
	}
	return s.run, nil
}
