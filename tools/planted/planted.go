// Command planted hunts bugs that were planted in the elections of targets/algorithms, and tells which are found, and after
// how many runs: what a hunt is worth that finds nothing.
//
// Each bug is a file of harness/hunt/testdata/planted: a few lines about it, and a diff. The hunter is built with the
// diff laid over the tree (go build -overlay), so no file of the tree changes, and hunts with the defaults of "recount hunt"
// for a minute of processor time, seed by seed. With -matrix it makes the default matrix instead, until a promise breaks.
//
// Half of the bugs are held back by their names (CRC-32, odd): the search is made better by the others alone, and then
// told how it does with these.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"recount/harness/batch"
)

// outcome is what one hunt of one bug came to, as the hunter prints it.
type outcome struct {
	Seed     uint64  `json:"seed"`
	Property string  `json:"property"` // that broke; "" if none did
	Run      int     `json:"run"`      // the number of the run that broke it, or how many runs there were; seeds of a matrix
	CPU      float64 `json:"cpu"`      // seconds of processor time
}

// hunted is a bug and what came of hunting it.
type hunted struct {
	*bug
	outcomes []outcome
}

func main() {
	half := flag.String("half", "open", "which bugs: open, held or all")
	only := flag.String("only", "", "those whose names match this")
	seeds := flag.Int("seeds", 5, "hunts of each, with seeds 1, 2, …")
	cpu := flag.Duration("cpu", time.Minute, "processor time of each hunt")
	matrix := flag.Int("matrix", 0, "make a matrix of each in the place of hunts, of so many seeds at the most")
	record := flag.String("record", "", "write a table of all that was found to this file")
	jobs := flag.Int("jobs", 1, "bugs that are hunted at once")
	check := flag.Bool("check", false, "only see whether all can be built")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	by := way{"harness/hunt/planted.tsv", []string{"-cpu", cpu.String()}, fmt.Sprintf("median runs to the finding (-1: none), hunts that found it, hunts; each hunt had %.0f s of processor time", cpu.Seconds())}
	if *matrix > 0 {
		*seeds = 1
		by = way{"harness/matrix/planted.tsv", []string{"-matrix", fmt.Sprint(*matrix)}, fmt.Sprintf("seeds until a promise broke (-1: none did in %d), matrices that found it, matrices", *matrix)}
	}
	if err := run(ctx, *half, *only, *seeds, *jobs, by, *record, *check); err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

// way is how bugs are looked for: the table of what was found so, what the hunter is told besides election and seed, and what the
// table's figures are.
type way struct {
	table   string
	args    []string
	figures string
}

func run(ctx context.Context, half, only string, seeds, jobs int, by way, record string, check bool) error {
	which, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	bugs, err := readBugs()
	if err != nil {
		return err
	}
	bugs = slices.DeleteFunc(bugs, func(b *bug) bool {
		return half != "all" && b.held() != (half == "held") || !which.MatchString(b.name)
	})
	tmp, err := os.MkdirTemp("", "planted-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var all []hunted
	each := batch.Batch[*bug, hunted]{Jobs: jobs, Ordered: true, Do: func(ctx context.Context, b *bug) (h hunted, err error) {
		h.bug = b
		hunter, err := b.build(ctx, tmp)
		for seed := 0; err == nil && seed < seeds && !check; seed++ {
			var o outcome
			o, err = hunt(ctx, hunter, b.election, uint64(seed+1), by.args)
			h.outcomes = append(h.outcomes, o)
		}
		return h, err
	}}
	for d := range each.Each(ctx, slices.Values(bugs)) {
		if d.Err != nil {
			return fmt.Errorf("%s: %w", d.Job.name, d.Err)
		}
		all = append(all, d.Result)
		fmt.Printf("%3d of %d  %-36s %s\n", len(all), len(bugs), d.Job.name, d.Result)
	}
	if err := context.Cause(ctx); err != nil || check {
		return err
	}
	summarise(os.Stdout, all, seeds)
	if err := tellLost(os.Stdout, all, by.table); err != nil || record == "" {
		return err
	}
	file, err := os.Create(record)
	if err != nil {
		return err
	}
	write(file, all, by.figures)
	return file.Close()
}

// build compiles the hunter with the bug in it.
func (b *bug) build(ctx context.Context, tmp string) (hunter string, err error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, text := range b.patched {
		at, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		to := filepath.Join(tmp, b.name+"_"+strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		overlay.Replace[at] = to
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	list := filepath.Join(tmp, b.name+".json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		return "", err
	}
	hunter = filepath.Join(tmp, b.name)
	out, err := exec.CommandContext(ctx, "go", "build", "-overlay", list, "-o", hunter, "./tools/planted/hunter").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return hunter, nil
}

// hunt has the hunter hunt, once.
func hunt(ctx context.Context, hunter, election string, seed uint64, args []string) (o outcome, err error) {
	cmd := exec.CommandContext(ctx, hunter, append([]string{"-target", election, "-seed", fmt.Sprint(seed)}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(out, &o)
}

// median is that of the runs to the finding; -1 if most hunts found nothing.
func (h hunted) median() int {
	runs := make([]int, len(h.outcomes))
	for i, o := range h.outcomes {
		if runs[i] = o.Run; o.Property == "" {
			runs[i] = 1 << 62
		}
	}
	slices.Sort(runs)
	if m := runs[(len(runs)-1)/2]; m < 1<<62 {
		return m
	}
	return -1
}

func (h hunted) String() string {
	words := []string{}
	if len(h.outcomes) == 0 {
		return "builds"
	}
	for _, o := range h.outcomes {
		word := fmt.Sprintf("%d (%.1fs)", o.Run, o.CPU)
		if o.Property == "" {
			word = "– of " + fmt.Sprint(o.Run)
		} else if o.Property != h.breaks {
			word += " " + o.Property
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// write writes one line a bug: its name, shape, half, the median of the runs to the finding, and how many hunts found it.
func write(w io.Writer, all []hunted, figures string) {
	fmt.Fprintf(w, "# measured %s; name, shape, half, %s\n", time.Now().UTC().Format(time.DateOnly), figures)
	for _, h := range all {
		half := "open"
		if h.held() {
			half = "held"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\n", h.name, h.shape, half, h.median(), h.hits(), len(h.outcomes))
	}
}

func (h hunted) hits() (n int) {
	for _, o := range h.outcomes {
		if o.Property != "" {
			n++
		}
	}
	return n
}

// summarise prints how many were found, shape by shape.
func summarise(w io.Writer, all []hunted, seeds int) {
	if len(all) == 0 {
		fmt.Fprintln(w, "nothing was hunted")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, of []hunted) {
		found, hits := 0, 0
		var runs []int
		for _, h := range of {
			hits += h.hits()
			if m := h.median(); m >= 0 {
				found++
				runs = append(runs, m)
			}
		}
		slices.Sort(runs)
		median := "–"
		if len(runs) > 0 {
			median = fmt.Sprint(runs[(len(runs)-1)/2])
		}
		fmt.Fprintf(t, "%s\t%d of %d\t%d of %d\t%s\n", name, found, len(of), hits, seeds*len(of), median)
	}
	fmt.Fprintln(t, "\nshape\tfound at the median\thunts that found\tmedian runs")
	for _, shape := range shapes {
		row(shape, slices.DeleteFunc(slices.Clone(all), func(h hunted) bool { return h.shape != shape }))
	}
	row("all", all)
	if err := t.Flush(); err != nil {
		fmt.Fprintln(w, errors.Unwrap(err))
	}
}
