package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/bugs"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/whole"
)

// trackFlags are what the command line says of a track record.
type trackFlags struct {
	docs, results string
	on            string
	runs          int
	asJSON        bool
}

func init() { register(trackRecordCommand) }

func trackRecordCommand() *cobra.Command {
	var given trackFlags
	cmd := &cobra.Command{
		Use:   "track-record [ROW…]",
		Short: "Make published bugs of real elections happen, and measure how reliably",
		Long: `Make published bugs of real elections happen, and measure how reliably: so many runs of each row on what the bug affects,
and as many on each control, where it is fixed. Without a name, all rows are measured. The page lies in track-record below --results, or
in the folder that --docs names, such as Recount's own docs. What was measured before of other rows is kept there; the page is
written anew after each row. A row of servers that a file of the examples describes is made in Recount's own folder, which
has their sources.

A run counts as showing the bug only if the checker found the property broken. Runs that could not be made or decided, and
those in which a server ended by itself, are counted apart. Runs that are not what the row says are kept under --results.

Exit status: 0 every row showed in at least 4 of 5 runs on what it affects and in none on a control; 1 one did not;
2 interrupted.`,
		Example: `  recount track-record
  recount track-record etcd-rejoin --runs 10
  recount track-record --on virtual --runs 20 --docs docs
  recount track-record soak --time 10m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := bugs.Find(args)
			if err != nil {
				return err
			}
			rows = slices.DeleteFunc(rows, func(r bugs.Row) bool {
				away := r.Here()
				if away != nil && len(args) > 0 {
					err = errors.Join(err, away)
				} else if away != nil {
					say(cmd)(fmt.Sprintf("%s is left out: %s is not here; Recount's own folder has it", r.Name, r.File))
				}
				return away != nil
			})
			if err != nil {
				return err
			}
			if given.runs < 1 {
				return hint.Add(fmt.Errorf("--runs %d: a rate takes at least one run", given.runs), "--runs 5")
			}
			if all := []string{record.OnSim, record.OnVirtual, record.OnDocker}; given.on != "" && !slices.Contains(all, given.on) {
				return hint.Unknown("place to run on", given.on, all)
			}
			rows = slices.DeleteFunc(rows, func(r bugs.Row) bool { return given.on != "" && !slices.Contains(r.On, given.on) })
			if len(rows) == 0 {
				return hint.Add(fmt.Errorf("--on %s: nothing that was asked for runs there", given.on), "leave --on out: each row says where it runs")
			}
			return given.measure(cmd, rows)
		},
	}
	cmd.PersistentFlags().StringVar(&given.docs, "docs", "", "`folder` for "+bugs.PageFile+" and "+bugs.JSONFile+" (default track-record below --results)")
	cmd.PersistentFlags().StringVar(&given.results, "results", "results", "folder under which runs that surprise are kept")
	cmd.PersistentFlags().BoolVar(&given.asJSON, "json", false, "print what was measured as one JSON object")
	cmd.Flags().IntVar(&given.runs, "runs", 5, "runs of each side of each row, with the seeds from 1")
	cmd.Flags().StringVar(&given.on, "on", "", "measure only the sides that run there: sim, virtual or docker")
	cmd.AddCommand(soakCommand(&given))
	return cmd
}

func soakCommand(given *trackFlags) *cobra.Command {
	var length time.Duration
	var seed uint64
	cmd := &cobra.Command{
		Use:   "soak [SYSTEM…]",
		Short: "Run real systems under mixed faults for long",
		Long: `Run real systems under mixed faults for long, one after the other, and write into the track record what came of it.

Exit status: 0 every promise held and every cluster was healthy in the end; 1 not so; 2 interrupted.`,
		Example: `  recount track-record soak
  recount track-record soak etcd nats --time 3m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := bugs.Soaks(args)
			if err != nil {
				return err
			}
			if length < time.Second {
				return hint.Add(fmt.Errorf("--time %v: that is no time to see anything in", length), "--time 10m")
			}
			return given.soak(cmd, all, length, seed)
		},
	}
	cmd.Flags().DurationVar(&length, "time", 10*time.Minute, "how long each system is under faults")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "decides which faults come when")
	return cmd
}

func (g *trackFlags) measure(cmd *cobra.Command, rows []bugs.Row) error {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return g.fill(cmd, "row", names, func(i int, runs *trackRuns) (entry, error) {
		runs.of = fmt.Sprintf(" of %d", g.runs)
		m := bugs.Measurer{Runs: g.runs, On: g.on, Make: runs.make, Tell: func(o bugs.Outcome) {
			runs.say(fmt.Sprintf("%s on %s: %s: %s", runs.doing, o.About, o.Word, o.Why))
			if o.Surprising() {
				runs.keep(o.Run)
			}
		}}
		counts, err := m.Measure(cmd.Context(), rows[i])
		return entry{func(r *bugs.Record) error { return r.Put(rows[i], counts) }, bugs.Reliable(counts)}, err
	})
}

func (g *trackFlags) soak(cmd *cobra.Command, all []bugs.SoakSystem, length time.Duration, seed uint64) error {
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = l.About
	}
	return g.fill(cmd, "system", names, func(i int, runs *trackRuns) (entry, error) {
		var run *record.Run
		s, err := all[i].Soak(cmd.Context(), length, seed, func(ctx context.Context, p record.Plan) (_ *record.Run, err error) {
			run, err = runs.make(ctx, p)
			return run, err
		})
		if err == nil && !s.Good() {
			runs.keep(run)
		}
		return entry{func(r *bugs.Record) error { r.PutSoak(s); return nil }, s.Good()}, err
	})
}

// entry is what came of a row or a system.
type entry struct {
	put  func(*bugs.Record) error // writes it into a record
	good bool                     // it is as it should be
}

// fill makes the entries of these names, one after the other, and writes the record anew after each. In the end it prints
// those that it made. The kind of entry is a word for people.
func (g *trackFlags) fill(cmd *cobra.Command, kind string, names []string, one func(i int, runs *trackRuns) (entry, error)) error {
	if err := g.folder(); err != nil {
		return err
	}
	done, err := bugs.Load(g.docs)
	if err != nil {
		return failure{err}
	}
	runs, err := openTrackRuns(cmd, g.results)
	if err != nil {
		return failure{err}
	}
	defer runs.close()
	var now bugs.Record
	status := record.StatusHeld
	for i, name := range names {
		runs.doing = fmt.Sprintf("%s %d of %d, %s", kind, i+1, len(names), name)
		e, err := one(i, runs)
		runs.bar.end()
		if cmd.Context().Err() != nil {
			say(cmd)("interrupted: nothing is written of " + name)
			status = record.StatusUnknown
			break
		}
		if err != nil {
			return failure{err}
		}
		if err := errors.Join(e.put(&now), e.put(&done)); err != nil {
			return failure{err}
		}
		if err := done.Write(g.docs); err != nil {
			return failure{err}
		}
		if !e.good {
			status = record.StatusBroken
		}
	}
	if err := g.print(cmd.OutOrStdout(), &now); err != nil {
		return failure{err}
	}
	return verdict(status)
}

// folder sees to it that the page has a folder, before the hours are spent that it takes to fill.
func (g *trackFlags) folder() error {
	if g.docs == "" {
		g.docs = filepath.Join(g.results, "track-record")
		if err := os.MkdirAll(g.docs, 0o755); err != nil {
			return failure{hint.Add(fmt.Errorf("track record: %w", err), "--results DIR names a folder that can be written")}
		}
		return nil
	}
	if info, err := os.Stat(g.docs); err != nil || !info.IsDir() {
		return hint.Add(fmt.Errorf("--docs %s: there is no such folder", g.docs), "make it, or leave --docs out: the page lies below --results then")
	}
	return nil
}

func (g *trackFlags) print(w io.Writer, now *bugs.Record) error {
	if g.asJSON {
		return whole.JSON(w, now)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range now.Rows {
		fmt.Fprintf(t, "%s\t%s\tshown %d of %d\tundecided %d\tfailed %d\n", c.Row, c.About, c.Shown, c.Runs(), c.Unknown, c.Failed)
	}
	for _, s := range now.Soaks {
		fmt.Fprintf(t, "%s\t%d nodes, %s\t%d faults, %d leaderships\tbroken %d\tat the end %s\n",
			s.About, s.Nodes, s.Time, s.Faults, s.Leaderships, len(s.Broken), s.End)
	}
	err := t.Flush()
	if err == nil {
		_, err = fmt.Fprintf(w, "written: %s\n", filepath.Join(g.docs, bugs.PageFile))
	}
	return err
}

// trackRuns makes the runs of a track record, in a folder of which only what surprises is kept.
type trackRuns struct {
	cmd     *cobra.Command
	scratch *harness.Scratch
	bar     *progress
	doing   string
	of      string // how many seeds a side has, in words
}

func openTrackRuns(cmd *cobra.Command, results string) (*trackRuns, error) {
	s, err := harness.OpenScratch(record.OnDocker, results)
	return &trackRuns{cmd: cmd, scratch: s, bar: newProgress(cmd)}, err
}

func (t *trackRuns) make(ctx context.Context, p record.Plan) (*record.Run, error) {
	defer processors(p.On, 1)()
	return t.scratch.Run(t.bar.building(ctx), p, func(line string) {
		t.bar.tell(func() string { return fmt.Sprintf("%s, seed %d%s: %s", t.doing, p.Seed, t.of, line) })
	})
}

// keep moves a run on containers to where people find it.
func (t *trackRuns) keep(r *record.Run) {
	if r == nil || r.Dir == "" {
		return
	}
	if err := t.scratch.Keep(t.cmd.Context(), r); err != nil {
		t.say(err.Error())
		return
	}
	t.say("kept in " + r.Dir)
}

// say prints a line that stays.
func (t *trackRuns) say(line string) {
	t.bar.end()
	say(t.cmd)(line)
}

func (t *trackRuns) close() {
	t.bar.end()
	discard(t.cmd, t.scratch)
}
