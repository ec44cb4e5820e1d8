package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"recount/checkers/linear"
	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/history/jepsen"
	"recount/internal/hint"
)

// checking is what histories are judged by.
type checking struct {
	jepsen.Options
	cut       bool
	timeLimit time.Duration
	memory    byteSize // for all files together
	edn       string   // where to write a history for Jepsen's tools
	bounds    []string // thresholds to judge by instead of the target's: "elect=10s"
}

func checkCommand() *cobra.Command {
	c := checking{timeLimit: 2 * time.Minute, memory: 4 << 30}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Judge stored histories again, Recount's and other people's; no cluster is needed",
		Long: `Judge stored histories again; no cluster is needed. Each FILE is a run's folder, a history.jsonl of Recount's, a
history.edn of Jepsen's (a vector of maps, or one map after the other), or a log of operations as Knossos and porcupine
have them (INFO jepsen.util - 3 :invoke :cas [1 2]); each of them may be compressed by gzip.

What the target of one of Recount's runs promises, and what the run expected, is known from the history and from the
run.json beside it. Of other people's histories --model says what the operations were on:

  register             :read and :write; without --model, these and :cas mean cas-register
  cas-register         and :cas [old new]
  revisioned-register  values are [revision value], as etcd has them
  mutex                :acquire and :release
  fenced               :read and :write of [token value], or an :acquire that tells its fencing token
  leader               any :f whose value is [leader term], or {:role :leader, :term 3, :leader "n1"}

Several files are judged at the same time. The exit status is the worst of all: 0 all held, 2 something is unknown, 1
something broke, 254 a file is malformed. Nothing is ever said of half a file.`,
		Example: `  recount check results/latest                        # a run of Recount's, or its history.jsonl
  recount check store/latest/history.edn              # a run of Jepsen's
  recount check --model mutex --time-limit 30s locks/*.edn
  recount check --model cas-register --independent history.edn   # values are [key value]
  recount check --bound elect=10s,moves=6 results/latest         # by other thresholds than the target's
  recount check --edn history.edn results/latest      # and write it for Jepsen's tools`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.valid(args); err != nil {
				return err
			}
			debug.SetMemoryLimit(int64(c.memory))
			return c.run(cmd, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&c.cut, "cut", false, "judge what comes before the place where a history of Recount's was cut off")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON objects, one a file")
	cmd.Flags().StringVar(&c.Model, "model", "", "what the operations of other people's histories were on")
	cmd.Flags().BoolVar(&c.Independent, "independent", false, "values of other people's histories are [key value], each key an object of its own")
	cmd.Flags().DurationVar(&c.timeLimit, "time-limit", c.timeLimit, "for judging one file; what is undecided then is unknown")
	cmd.Flags().Var(&c.memory, "memory-limit", "for all files together; a history that does not fit is refused, what cannot be decided within it is unknown")
	cmd.Flags().StringSliceVar(&c.bounds, "bound", nil, "judge by this threshold instead of the target's: silence, elect, moves, returns or terms=VALUE")
	cmd.Flags().StringVar(&c.edn, "edn", "", "write the history to this file, too, for Jepsen's tools")
	return cmd
}

// valid finds what is wrong with the flags.
func (c *checking) valid(args []string) error {
	if c.Model != "" {
		if _, err := jepsen.FindModel(c.Model); err != nil {
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
	}
	return nil
}

// judged is what became of one file.
type judged struct {
	run  *record.Run
	err  error
	done chan struct{}
}

// run judges all files, as many at a time as there are cores, and shows them in order.
func (c *checking) run(cmd *cobra.Command, paths []string, asJSON bool) error {
	jobs := min(len(paths), runtime.GOMAXPROCS(0))
	share := int64(c.memory) / int64(jobs)
	all := make([]judged, len(paths))
	turn := make(chan struct{}, jobs)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, path := range paths {
		all[i].done = make(chan struct{})
		wg.Go(func() {
			defer close(all[i].done)
			turn <- struct{}{}
			defer func() { <-turn }()
			all[i].run, all[i].err = c.judge(cmd.Context(), path, share)
		})
	}
	worst := record.StatusHeld
	var first error
	for i := range all {
		<-all[i].done
		r, err := all[i].run, all[i].err
		all[i].run = nil // it may be large
		if err == nil {
			if err := show(cmd, r, asJSON); err != nil {
				return failure{err}
			}
			if r.Status != record.StatusHeld && worst != record.StatusBroken {
				worst = r.Status
			}
			continue
		}
		if first == nil {
			first = err
			continue
		}
		complain(cmd.ErrOrStderr(), err)
	}
	if first != nil {
		return first
	}
	return verdict(worst)
}

// judge reads one history and has it judged.
func (c *checking) judge(ctx context.Context, path string, memory int64) (*record.Run, error) {
	s, err := c.load(path, memory)
	if err != nil {
		return nil, err
	}
	if c.edn != "" {
		if err := export(c.edn, s.run.History); err != nil {
			return nil, err
		}
	}
	left := max(memory-int64(len(s.run.History.Ops))*history.OpSize, memory/8)
	ctx = linear.WithMemory(ctx, min(left, 2<<30))
	if s.model.Name != "" {
		harness.JudgeForeign(ctx, s.run, s.model.Properties, c.timeLimit)
	} else {
		harness.JudgeWithin(ctx, s.run, c.timeLimit)
	}
	return s.run, nil
}

// loaded is a history that was read, and what is known of it.
type loaded struct {
	run   *record.Run
	model jepsen.Model // of somebody else's
}

// load reads a history in any format, and the run that it belongs to if its folder holds one.
func (c *checking) load(path string, memory int64) (*loaded, error) {
	file, err := historyOf(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &loaded{run: &record.Run{Title: path}}
	own, err := c.read(s, f, memory)
	if err != nil {
		return nil, inFile(file, err)
	}
	if !own {
		return s, nil
	}
	if c.Model != "" || c.Independent {
		return nil, hint.Add(fmt.Errorf("%s is a history of Recount's", file), "leave out --model and --independent: they are for other people's")
	}
	r := s.run
	if setup := r.History.Setup(); setup != nil {
		if setup.Bounds, err = c.bounded(setup.Bounds); err != nil {
			return nil, err
		}
		r.Target, r.Cluster, r.Options, r.Seed, r.Nodes = setup.Target, setup.Cluster, setup.Options, setup.Seed, setup.Nodes
	}
	outline, err := record.Outline(filepath.Dir(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, err
	}
	r.Repeat, r.From = outline.Repeat, outline.Dir
	r.Plan = outline.Plan
	return s, nil
}

// historyOf returns the history in a run's folder, or the file itself.
func historyOf(path string) (string, error) {
	info, err := os.Stat(path)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return "", fmt.Errorf("%s: %w", path, failed.Err)
	}
	if err != nil || !info.IsDir() {
		return path, err
	}
	for _, name := range []string{"history.jsonl", "history.jsonl.gz", "history.edn"} {
		if file := filepath.Join(path, name); exists(file) {
			return file, nil
		}
	}
	return "", hint.Add(fmt.Errorf("%s holds no history", path), "a run's folder has a history.jsonl or a history.edn; the newest one is results/latest")
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// inFile names the file in which something is wrong.
func inFile(file string, err error) error {
	named := fmt.Errorf("%s: %w", file, err)
	if errors.Is(err, history.ErrCut) {
		return hint.Add(named, "the run was killed while it wrote; --cut judges what comes before")
	}
	return named
}

// read reads a history, and reports whether it is one of Recount's.
func (c *checking) read(s *loaded, f *os.File, memory int64) (own bool, err error) {
	const sniffed = 64 << 10
	br := bufio.NewReaderSize(f, sniffed)
	begin, err := br.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	var r io.Reader = br
	compressed := bytes.HasPrefix(begin, []byte("\x1f\x8b"))
	if compressed {
		z, err := gzip.NewReader(br)
		if err != nil {
			return false, fmt.Errorf("decompress: %w", err)
		}
		plain := bufio.NewReaderSize(z, sniffed)
		if begin, err = plain.Peek(sniffed); err != nil && !errors.Is(err, io.EOF) {
			return false, fmt.Errorf("decompress: %w", err)
		}
		r = plain
	}
	format := jepsen.Sniff(begin)
	if format != jepsen.JSONL {
		o := c.Options
		o.Memory = memory
		s.run.History, s.model, err = jepsen.Read(r, format, o)
		return err == nil && s.model.Name == "", err
	}
	if !compressed {
		r = sized{r, f}
	}
	s.run.History, err = history.ParseWithin(r, memory)
	if errors.Is(err, history.ErrCut) && c.cut {
		s.run.History, err = history.New(s.run.History.Ops)
	}
	return true, err
}

// sized is a reader of a file whose length is known.
type sized struct {
	io.Reader
	f *os.File
}

func (s sized) Stat() (fs.FileInfo, error) { return s.f.Stat() }

// export writes a history for Jepsen's tools.
func export(path string, h *history.History) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return jepsen.Write(f, h)
}
