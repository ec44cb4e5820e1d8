// Package harness makes runs: it brings a cluster up, lets clients and the nemesis loose on it, heals it, and has what
// was recorded judged.
package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
	"recount/report"
	"recount/sim"
	_ "recount/targets/specfile" // makes targets of files
	"recount/virtual"
	"recount/virtual/cover"
	"recount/workloads"
)

// Version is Recount's own, stored with every run.
const Version = "0.1.0"

// Config is what a run needs besides its plan.
type Config struct {
	Results  string            // folder under which the run gets its own
	Repeat   string            // the command that repeats the run
	Progress func(line string) // told what goes on; nil for silence
	Compress bool              // the history becomes history.jsonl.gz, about a tenth as long
	building func(line string) // told what is built
	// Executable is the program that containers are to run beside what the target brings: one that offers the commands of
	// package inside, and knows the target. "" is this process's own.
	Executable string
}

// run is one run under way.
type run struct {
	*subject
	Config
	wants
	base      Cluster // as it was opened: what only some can do besides is asked of it
	cluster   Cluster // with what stands between it and those who use it
	recorder  *history.Recorder
	judging   *checkers.Judging
	views     *nemesis.Views
	nemesis   *nemesis.Nemesis
	observers *workloads.Observers
	fence     *workloads.Fence
	rest      func() // stops what clients do besides
	noticed
}

// wants are what is wanted of a run besides its verdicts, by those who make it; nothing by default.
type wants struct {
	unkept   *history.Frame          // what is to be left of the history; nil if all of it is kept in memory
	watches  []func(*history.Op)     // told of all that is recorded
	messages func(m *record.Message) // keeps what nodes send each other elsewhere
	prepare  func(*sim.Cluster)      // is given the cluster before it starts, in simulation
	related  *sim.Relations          // what happened before what, in simulation
	trace    *virtual.Trace          // takes down what nodes did, in virtual time
	stop     *virtual.Stop           // is where the run ends before its end, in virtual time
	moment   *virtual.Look           // is when somebody looks at what nodes do, in virtual time
}

// noticed is what a run comes to know of its nodes besides its history.
type noticed struct {
	told         []string                 // notes on what happened; those on the plan are the subject's
	news         news                     // what is told of it while it is made
	built        []string                 // what nodes run, of a target that a file describes
	ran          *cover.Profile           // which statements of theirs have run, in virtual time; nil where they do not tell
	unread       *unread                  // answers of real systems that could not be read, or came late
	ended        map[string]bool          // nodes that have ended by themselves
	alarms       map[string]time.Duration // when each node has raised its last alarm
	lastWords    []string                 // what nodes wrote before they ended by themselves
	lastMessages func()                   // keeps those of which only the end of a run tells what became of them; nil for none
}

// newRun is a run that has not begun. In simulation it sums up what happens before what.
func newRun(s *subject, cfg Config) *run {
	r := &run{subject: s, Config: cfg}
	r.prepare = func(c *sim.Cluster) { r.related = c.Relate() }
	return r
}

// Run makes a run by a plan and returns it judged, with its reports written. When ctx ends, the run is cut short: it is
// healed and cleaned up, and what was recorded up to there is judged. An error means that the harness or the engine
// failed, and says nothing about the target; the history is kept all the same.
func Run(ctx context.Context, p record.Plan, cfg Config) (*record.Run, error) {
	s, err := resolve(p)
	if err != nil {
		return nil, Usage(err)
	}
	cfg = cfg.heard(ctx)
	for _, n := range s.notes {
		cfg.Progress(n)
	}
	r := newRun(s, cfg)
	rep, err := r.open()
	if err != nil {
		return nil, err
	}
	started := time.Now()
	err = r.record(ctx, rep.Dir)
	if err != nil && (r.recorder == nil || r.recorder.Len() == 0) {
		return nil, errors.Join(err, os.RemoveAll(rep.Dir))
	}
	defer record.Latest(r.Results, rep.Dir) // not before: one that is killed in its middle is half written
	if err != nil {
		err = errors.Join(err, r.fail(rep, err))
		return nil, fmt.Errorf("%w (what was recorded lies in %s)", err, rep.Dir)
	}
	r.sumUp(rep)
	if err := r.judged(ctx, rep); err != nil {
		return nil, fmt.Errorf("%w (what was recorded lies in %s)", err, rep.Dir)
	}
	rep.Took = time.Since(started)
	if err := report.Write(rep); err != nil {
		return nil, err
	}
	return rep, nil
}

// carryOut does what the plan says, and has it recorded.
func (r *run) carryOut(ctx context.Context, dir string) (err error) {
	kept, err := r.keepMessages(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept()) }()
	if r.cluster, err = r.openCluster(ctx, dir); err != nil {
		return err
	}
	defer func() { err = r.closed(err, r.cluster.Close(ctx)) }()
	r.begin()
	failed := r.proceed(ctx)
	var endless *sim.Endless
	if errors.As(failed, &endless) {
		r.append(history.Op{Process: history.Harness, Type: history.Info, F: history.Endless, Error: endless.Error()})
		r.note("cut short: %v", endless)
		return r.recorder.Flush()
	}
	logs := filepath.Join(dir, record.NodeLogs)
	still := dir != "" && r.stood(failed) // who keeps nothing is to hear of it by the error
	if still {
		failed = nil
	}
	if failed != nil && ctx.Err() == nil {
		if dir != "" {
			failed = r.explained(ctx, failed, logs)
		}
		if err := r.recorder.Flush(); !errors.Is(failed, err) {
			failed = errors.Join(failed, err)
		}
		return failed
	}
	switch {
	case still: // the history ends there
	case failed == nil:
		r.append(history.Op{Process: history.Harness, Type: history.OK, F: history.End})
	default:
		r.note("interrupted after %v: the history ends there", r.cluster.Now().Round(time.Millisecond))
	}
	if err := r.recorder.Flush(); err != nil || dir == "" { // where it is "" nobody is to keep anything
		return err
	}
	r.keepLogs(context.WithoutCancel(ctx), logs)
	return nil
}

// proceed is the run itself. Whatever happens once the nodes are up, it ends with a healed cluster, if there is one left.
func (r *run) proceed(ctx context.Context) error {
	defer func() {
		r.observers.Stop()
		r.rest()
	}()
	if err := r.cluster.Start(ctx); err != nil {
		return err // nothing was done to it: nodes that did not come up are not to be waited for
	}
	r.observers.Up()
	err := r.settle(ctx)
	if err == nil && r.gone() {
		r.note("no node was left to break after %v", r.cluster.Now().Round(time.Millisecond))
		return nil
	}
	if err == nil {
		err = r.hear(ctx)
	}
	if err == nil {
		r.append(history.Op{Process: history.Harness, Type: history.OK, F: history.Settle})
		r.nemesis.Start(r.Schedule)
		r.nemesis.Repeat(r.Recorded)
		err = r.pass(ctx, r.Time)
	}
	if err == nil {
		err = r.hear(ctx)
	}
	if err == nil {
		err = r.compare(ctx)
	}
	if failed := r.heal(context.WithoutCancel(ctx)); !errors.Is(err, failed) { // else what was lost stays lost
		err = errors.Join(err, failed)
	}
	if err == nil {
		err = r.recover(ctx)
	}
	return err
}

func (r *run) append(op history.Op) {
	op.Time = r.cluster.Now()
	r.recorder.Append(op)
}

// note tells of something each time that it happens, and keeps it once.
func (r *run) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !slices.Contains(r.told, line) {
		r.told = append(r.told, line)
	}
	r.Progress(line)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
