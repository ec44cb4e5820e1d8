package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/harness/when"
	"recount/internal/count"
	"recount/internal/hint"
)

func init() { register(whenCommand) }

// whenFlags are what the command line says of how to look for when it was decided.
type whenFlags struct {
	property string
	futures  int
	jobs     int
	budget   time.Duration
	asJSON   bool
}

func whenCommand() *cobra.Command {
	var given whenFlags
	cmd := &cobra.Command{
		Use:   "when RUN",
		Short: "Find out when it was decided that a run would break what it broke",
		Long: `Find out when it was decided that a run would break what it broke. RUN is the folder of a simulated run, or of one of servers in
virtual time. It is made again up to a moment, which is the same each time, and from there on with other chance: the network is
faster or slower, nodes draw other timeouts. The share of these runs that break the same tells how likely it was by then. Where
the share jumps, something happened that counts: that moment is narrowed down to a millisecond, and what happened in it is told.

Faults come as they were planned. Ctrl-C ends it with what was found so far, and the status is 2.`,
		Example: `  recount when results/latest
  recount when results/latest --property sticky-leader --futures 400
  recount when results/latest --json`,
		Args: one("run's folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			again, err := openReplay(cmd, nil, args[0], record.Plan{})
			if err != nil {
				return err
			}
			v, err := given.broken(cmd, again)
			if err != nil {
				return err
			}
			batch.SpareCollections()
			defer processors(again.Plan.On, given.jobs)()
			told, err := given.find(cmd, again, v)
			if err == nil {
				err = told.print(cmd.OutOrStdout(), given.asJSON)
			}
			if err != nil {
				return failure{err}
			}
			if cmd.Context().Err() != nil {
				return verdict(record.StatusUnknown)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&given.property, "property", "", "the property to look at (default: the first promise that the run broke)")
	f.IntVar(&given.futures, "futures", 0, "how many runs are made of each moment (default: 100, and 20 of real servers)")
	f.DurationVar(&given.budget, "budget", 0, "real time after which it ends with what was found (default: none in simulation, 5m in virtual time)")
	f.IntVar(&given.jobs, "jobs", 0, "runs at a time (default: one a core)")
	f.BoolVar(&given.asJSON, "json", false, "print what was found as one JSON object")
	return cmd
}

// broken is the verdict that is looked at. An error tells what of a run nothing can be found out of.
func (g *whenFlags) broken(cmd *cobra.Command, again *replay) (*record.Verdict, error) {
	if g.property != "" {
		if err := harness.KnownProperty(g.property); err != nil {
			return nil, err
		}
	}
	r, on := again.stored, again.Plan.On
	v := r.Verdict(cmp.Or(g.property, shrink.Broken(r)))
	switch {
	case cmd.Flags().Changed("futures") && g.futures < 2:
		return nil, hint.Add(fmt.Errorf("--futures %d: of fewer than two runs nothing can be told", g.futures), "--futures 100")
	case !record.Repeats(on):
		return nil, hint.Add(fmt.Errorf("%s: a run on %s is never the same twice, so nothing can be told of its moments", r.Title, on), "--on sim or --on virtual makes one that is")
	case v == nil || !shrink.Breaks(r, v.Property):
		return nil, hint.Add(fmt.Errorf("%s did not break %s", r.Title, cmp.Or(g.property, "anything")), "name a run that broke something, and with --property what")
	case v.To == 0:
		return nil, hint.Add(fmt.Errorf("%s broke %s at no time that could be told", r.Title, v.Property), "--property names another property that it broke")
	}
	return v, nil
}

// find makes the run again, which must be the same, and then looks for when it was decided.
func (g *whenFlags) find(cmd *cobra.Command, again *replay, v *record.Verdict) (*decided, error) {
	bar := newProgress(cmd)
	defer bar.end()
	ctx := bar.building(cmd.Context())
	made, err := harness.Simulate(ctx, again.Plan)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	if err := again.compare(cmd, made); err != nil {
		return nil, err
	}
	futures, budget := cmp.Or(g.futures, 100), g.budget
	if again.Plan.On == record.OnVirtual {
		futures, budget = cmp.Or(g.futures, 20), cmp.Or(g.budget, 5*time.Minute)
	}
	begun := time.Now()
	cfg := when.Config{
		Future: harness.Future, Futures: futures, Fine: time.Millisecond, Jobs: g.jobs, Budget: budget,
		Breaks: func(r *record.Run) bool { return shrink.Breaks(r, v.Property) },
		Progress: func(moments, runs int) {
			bar.tell(func() string {
				at := batch.Progress{Doing: "looking at moments", Done: runs, Passed: time.Since(begun)}.Estimate(budget)
				return far(at, "run", budget, count.Of(moments, "moment"))
			})
		},
	}
	found, err := cfg.Find(ctx, again.Plan, v.To)
	if err != nil {
		return nil, err
	}
	told := &decided{Property: v.Property, Why: v.Why, To: v.To, Futures: futures, Result: found}
	told.Happened, err = happened(context.WithoutCancel(ctx), again, v, found.Jumps)
	return told, err
}

// decided is what was found of when it was decided.
type decided struct {
	Property string        `json:"property"`
	Why      string        `json:"why"`
	To       time.Duration `json:"to"` // when it had broken
	Futures  int           `json:"futures"`
	*when.Result
	Happened [][]shrink.Event `json:"happened"` // in each of the jumps
}

// happened is what is known to have happened in each of the jumps, between its two moments.
func happened(ctx context.Context, again *replay, v *record.Verdict, jumps []when.Jump) ([][]shrink.Event, error) {
	all := make([][]shrink.Event, len(jumps))
	if len(jumps) == 0 {
		return all, nil
	}
	for i, j := range jumps {
		all[i] = shrink.Events(again.stored.History, v, j.Before.At, j.After.At)
	}
	sent := func(m *record.Message) {
		for i, j := range jumps {
			if e, in := carried(m, j.Before.At, j.After.At); in {
				all[i] = append(all[i], e)
			}
		}
	}
	if again.Plan.On == record.OnSim {
		messages, _, err := harness.Messages(ctx, again.Plan)
		if err != nil {
			return nil, err
		}
		for i := range messages {
			m := harness.Sent(&messages[i])
			sent(&m)
		}
	} else if err := record.EachMessage(os.DirFS(cmp.Or(again.stored.Dir, again.stored.From)), sent); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, events := range all {
		slices.SortStableFunc(events, func(a, b shrink.Event) int { return cmp.Compare(a.At, b.At) })
	}
	return all, nil
}

// carried is what became of a message between two moments, and false if it neither left nor arrived then.
func carried(m *record.Message, from, to time.Duration) (e shrink.Event, in bool) {
	words := fmt.Sprintf("%s→%s %s", m.From, m.To, m.Words)
	switch within := func(at time.Duration) bool { return at >= from && at < to }; {
	case within(m.Sent) && m.Lost != "":
		return shrink.Event{At: m.Sent, Words: words + " is sent, and lost: " + m.Lost}, true
	case within(m.Sent):
		return shrink.Event{At: m.Sent, Words: words + fmt.Sprintf(" is sent, and arrives at %.4fs", m.Arrived.Seconds())}, true
	case within(m.Arrived) && m.Lost == "":
		return shrink.Event{At: m.Arrived, Words: words + fmt.Sprintf(" arrives, sent at %.4fs", m.Sent.Seconds())}, true
	}
	return e, false
}

// mostTold is how many things that happened in a jump are told.
const mostTold = 12

func (d *decided) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(d)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s had broken by %.3fs: %s\n\n", d.Property, d.To.Seconds(), d.Why)
	fmt.Fprintf(&b, "of %d runs each that were the same until then, and had other chance from there on, broke it:\n\n", d.Futures)
	for _, m := range d.shown() {
		bar := strings.Repeat("█", (m.Broke.Hits*40+m.Broke.Trials/2)/m.Broke.Trials)
		b.WriteString(strings.TrimRight(fmt.Sprintf("%10.4fs  %4d  %s", m.At.Seconds(), m.Broke.Hits, bar), " ") + "\n")
	}
	for i, j := range d.Jumps {
		likelier := "likelier"
		if j.After.Broke.Share() < j.Before.Broke.Share() {
			likelier = "less likely"
		}
		fmt.Fprintf(&b, "\nfrom %.4fs to %.4fs it became %s: %d of %d, then %d\n", j.Before.At.Seconds(), j.After.At.Seconds(), likelier,
			j.Before.Broke.Hits, j.Before.Broke.Trials, j.After.Broke.Hits)
		for k, e := range d.Happened[i] {
			if k == mostTold {
				fmt.Fprintf(&b, "  and %d things more\n", len(d.Happened[i])-k)
				break
			}
			fmt.Fprintf(&b, "%10.4fs  %s\n", e.At.Seconds(), e.Words)
		}
	}
	switch {
	case d.Certain:
		b.WriteString("\nchance did not decide it: with these faults it breaks whatever chance is\n")
	case len(d.Jumps) == 0 && !d.Coarse:
		b.WriteString("\nno moment decided it: from none to the next did that change by more than chance explains\n")
	}
	if d.Coarse {
		b.WriteString("\nended early: with more time it could be told more finely\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shown are the moments that are shown of those that were looked at: those between two that came to the same tell nothing.
func (d *decided) shown() (all []when.Moment) {
	for i, m := range d.Moments {
		even := i > 0 && i < len(d.Moments)-1 && d.Moments[i-1].Broke == m.Broke && d.Moments[i+1].Broke == m.Broke
		if !even {
			all = append(all, m)
		}
	}
	return all
}
