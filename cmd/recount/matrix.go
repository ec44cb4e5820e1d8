package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"recount/harness"
	"recount/hint"
	"recount/matrix"
	"recount/report"
)

func matrixCommand() *cobra.Command {
	var (
		elections, faults, names, sizes []string
		p                               matrix.Plan
		results                         string
		keep, asJSON                    bool
	)
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Measure what every election keeps under every fault",
		Long: `Measure what every election keeps under every fault and in every scenario, simulated, over many seeds on all cores. A table
says for each property whether it held, broke a promise, or is a known weakness, with the smallest seed that shows it.

An election is a target, or a target with options: raft, raft:vote-twice, raft:pre-vote=true:scale=2. The word all stands for
every target and for every foot-gun, targets and foot-guns for either alone. Among faults, none is a run without any and mixed one
with all of them. Ctrl-C stops and keeps what was found.

Exit status: 0 every promise held; 1 a promise broke; 2 unknown, or interrupted before one did.`,
		Example: `  recount matrix
  recount matrix --targets raft,raft-prevote --seeds 1000
  recount matrix --targets foot-guns --budget 60s
  recount matrix --targets raft:pre-vote=true --faults isolate,cut-link --scenarios none --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if p.Rows, err = matrix.ParseRows(elections); err != nil {
				return err
			}
			if p.Columns, err = matrix.ParseColumns(faults, names); err != nil {
				return err
			}
			for _, s := range sizes {
				n, err := strconv.Atoi(s)
				if err != nil {
					return hint.Add(fmt.Errorf("--nodes %q is not a number", s), "--nodes 3,4,5")
				}
				p.Nodes = append(p.Nodes, n)
			}
			if p.Budget > 0 && !cmd.Flags().Changed("seeds") {
				p.Seeds = 0
			}
			if err := p.Check(); err != nil {
				return err
			}
			return measureMatrix(cmd, p, results, keep, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&elections, "targets", []string{matrix.AllRows}, "elections to measure (recount list targets)")
	f.StringSliceVar(&faults, "faults", []string{matrix.AllColumns}, "faults to draw from, one at a time, or none, or mixed (recount list faults)")
	f.StringSliceVar(&names, "scenarios", []string{matrix.AllColumns}, "scenarios to go through, or none (recount list scenarios)")
	f.IntVar(&p.Seeds, "seeds", 8, "runs of each election under each fault, with the seeds from 1")
	f.StringSliceVar(&sizes, "nodes", []string{"3", "4", "5"}, "sizes that clusters take in turn, where no scenario decides")
	f.DurationVar(&p.Time, "time", 0, "simulated time of a run, where no scenario decides (default: about a dozen faults)")
	f.StringSliceVar(&p.Workloads, "workload", []string{"fence", "register", "updates"},
		"what clients do, where an election can and no scenario decides (recount list workloads)")
	f.DurationVar(&p.Budget, "budget", 0, "real time after which no more runs begin; without --seeds, go on until then")
	f.IntVar(&p.Jobs, "jobs", runtime.GOMAXPROCS(0), "runs at a time")
	f.BoolVar(&keep, "keep", true, "keep a run of every violation, for the page to link to")
	f.StringVar(&results, "results", "results", "folder under which the matrix gets its own")
	f.BoolVar(&asJSON, "json", false, "print the matrix as one JSON object")
	return cmd
}

func measureMatrix(cmd *cobra.Command, p matrix.Plan, results string, keep, asJSON bool) error {
	debug.SetGCPercent(400) // short runs make much garbage and keep little: this halves the time
	dir, err := matrix.MakeFolder(results)
	if err != nil {
		return failure{err}
	}
	bar := newProgress(cmd)
	t, err := matrix.Measure(cmd.Context(), p, bar.matrix)
	bar.end()
	if err != nil {
		return failure{err}
	}
	t.Command = commandLine(cmd)
	if keep && !t.Interrupted {
		err = matrix.Keep(cmd.Context(), p, t, dir, bar.matrix)
		bar.end()
	}
	if err == nil {
		err = matrix.Write(t, dir)
	}
	if err != nil {
		return failure{err}
	}
	out := cmd.OutOrStdout()
	if asJSON {
		err = matrix.JSON(out, t)
	} else {
		file, ok := out.(*os.File)
		if err = matrix.Summarise(out, t, ok && report.Colours(file)); err == nil {
			_, err = fmt.Fprintf(out, "\nreport: %s\nrepeat: %s\n", filepath.Join(dir, matrix.PageFile), t.Command)
		}
	}
	if err != nil {
		return failure{err}
	}
	return verdict(t.Status())
}

// progress tells how far long work is: in one line that is written anew on a terminal, else a line now and then.
type progress struct {
	cmd      *cobra.Command
	terminal bool
	told     time.Time
	open     bool // the line on the terminal has no end yet
}

func newProgress(cmd *cobra.Command) *progress {
	file, ok := cmd.ErrOrStderr().(*os.File)
	return &progress{cmd: cmd, terminal: ok && report.Colours(file), told: time.Now()}
}

func (p *progress) matrix(m matrix.Progress) {
	p.tell(func() string {
		line := fmt.Sprintf("%s: %d", m.Doing, m.Done)
		if m.Planned > 0 {
			line += fmt.Sprintf(" of %d runs, %d %%", m.Planned, 100*m.Done/m.Planned)
		} else {
			line += " runs"
		}
		if left := m.Left.Round(time.Second); left > 0 {
			line += fmt.Sprintf(", %v left", left)
		}
		return line
	})
}

// tell says something if it is time to.
func (p *progress) tell(line func() string) {
	every := 10 * time.Second
	if p.terminal {
		every = 200 * time.Millisecond
	}
	if time.Since(p.told) < every {
		return
	}
	p.told = time.Now()
	if !p.terminal {
		say(p.cmd)(line())
		return
	}
	fmt.Fprintf(p.cmd.ErrOrStderr(), "\r\x1b[Krecount: %s", line())
	p.open = true
}

// end clears the line on a terminal.
func (p *progress) end() {
	if p.open {
		fmt.Fprint(p.cmd.ErrOrStderr(), "\r\x1b[K")
		p.open = false
	}
}

// commandLine is the command as it was given, without what only says where its results go.
func commandLine(cmd *cobra.Command, args ...string) string {
	words := strings.Fields(cmd.CommandPath())
	for _, a := range args {
		words = append(words, harness.Quote(a))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		switch {
		case f.Name == "json" || f.Name == "results" || f.Name == "jobs":
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+value)
		default:
			words = append(words, "--"+f.Name, harness.Quote(value))
		}
	})
	return strings.Join(words, " ")
}
