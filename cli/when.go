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

func whenCommand() *cobra.Command {
	var (
		property string
		futures  int
		jobs     int
		budget   time.Duration
		asJSON   bool
	)
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
			plan, v := again.Plan, again.stored.Verdict(cmp.Or(property, shrink.Broken(again.stored)))
			switch {
			case !record.Repeats(plan.On):
				return hint.Add(fmt.Errorf("%s: a run on %s is never the same twice, so nothing can be told of its moments", again.stored.Title, plan.On), "--on sim or --on virtual makes one that is")
			case v == nil || !shrink.Breaks(again.stored, v.Property):
				return hint.Add(fmt.Errorf("%s did not break %s", again.stored.Title, cmp.Or(property, "anything")), "name a run that broke something, and with --property what")
			case v.To == 0:
				return hint.Add(fmt.Errorf("%s broke %s at no time that could be told", again.stored.Title, v.Property), "--property names another property that it broke")
			case cmd.Flags().Changed("futures") && futures < 2:
				return hint.Add(fmt.Errorf("--futures %d: of fewer than two runs nothing can be told", futures), "--futures 100")
			}
			if plan.On == record.OnVirtual {
				futures, budget = cmp.Or(futures, 20), cmp.Or(budget, 5*time.Minute)
			}
			batch.SpareCollections()
			defer processors(plan.On, jobs)()
			bar := newProgress(cmd)
			defer bar.end()
			ctx := bar.building(cmd.Context())
			made, err := harness.Simulate(ctx, plan)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return failure{err}
			}
			if err := again.compare(cmd, made); err != nil {
				return failure{err}
			}
			begun := time.Now()
			cfg := when.Config{
				Future: harness.Future, Futures: cmp.Or(futures, 100), Fine: time.Millisecond, Jobs: jobs, Budget: budget,
				Breaks: func(r *record.Run) bool { return shrink.Breaks(r, v.Property) },
				Progress: func(moments, runs int) {
					bar.tell(func() string {
						at := batch.Progress{Doing: "looking at moments", Done: runs, Passed: time.Since(begun)}.Estimate(budget)
						return far(at, "run", budget, count.Of(moments, "moment"))
					})
				},
			}
			found, err := cfg.Find(ctx, plan, v.To)
			if err != nil {
				return failure{err}
			}
			bar.end()
			told := &decided{Property: v.Property, Why: v.Why, To: v.To, Futures: cfg.Futures, Result: found}
			for _, j := range found.Jumps {
				all, err := happened(context.WithoutCancel(ctx), again.stored, plan, v, j)
				if err != nil {
					return failure{err}
				}
				told.Happened = append(told.Happened, all)
			}
			if err := told.print(cmd.OutOrStdout(), asJSON); err != nil {
				return failure{err}
			}
			if ctx.Err() != nil {
				return verdict(record.StatusUnknown)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&property, "property", "", "the property to look at (default: the first promise that the run broke)")
	f.IntVar(&futures, "futures", 0, "how many runs are made of each moment (default: 100, and 20 in virtual time with real servers)")
	f.DurationVar(&budget, "budget", 0, "real time after which it ends with what was found (default: none in simulation, 5m in virtual time)")
	f.IntVar(&jobs, "jobs", 0, "runs at a time (default: one a core)")
	f.BoolVar(&asJSON, "json", false, "print what was found as one JSON object")
	return cmd
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

// happened is what is known to have happened between the two moments of a jump.
func happened(ctx context.Context, r *record.Run, p record.Plan, v *record.Verdict, j when.Jump) ([]shrink.Event, error) {
	from, to := j.Before.At, j.After.At
	all := shrink.Events(r.History, v, from, to)
	sent := func(m *record.Message) {
		words := fmt.Sprintf("%s→%s %s", m.From, m.To, m.Words)
		switch {
		case m.Lost != "" && m.Sent >= from && m.Sent < to:
			all = append(all, shrink.Event{At: m.Sent, Words: words + " is sent, and lost: " + m.Lost})
		case m.Sent >= from && m.Sent < to:
			all = append(all, shrink.Event{At: m.Sent, Words: words + fmt.Sprintf(" is sent, and arrives at %.4fs", m.Arrived.Seconds())})
		case m.Lost == "" && m.Arrived >= from && m.Arrived < to:
			all = append(all, shrink.Event{At: m.Arrived, Words: words + fmt.Sprintf(" arrives, sent at %.4fs", m.Sent.Seconds())})
		}
	}
	if p.On == record.OnSim {
		messages, _, err := harness.Messages(ctx, p)
		if err != nil {
			return nil, err
		}
		for i := range messages {
			m := harness.Sent(&messages[i])
			sent(&m)
		}
	} else if err := record.EachMessage(os.DirFS(r.Dir), sent); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b shrink.Event) int { return cmp.Compare(a.At, b.At) })
	return all, nil
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
	case len(d.Jumps) == 0:
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
