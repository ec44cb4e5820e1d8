package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/virtual"
	"recount/virtual/wire"
)

// Sample is how many runs in virtual time those who make many let pass from one that is made Twice to the next.
const Sample = 50

// Twice makes a run in virtual time once more, and returns an error if it is not the same: one that names the first event that
// differs, with the stacks of the goroutines that it was an event of. Runs that are not in virtual time, or were cut short, are
// left alone, and so is one that cannot be made to its end before ctx ends.
func Twice(ctx context.Context, r *record.Run) error {
	if r.Cluster != record.OnVirtual || !r.Frame().Complete() {
		return nil
	}
	again, err := Glance(ctx, r.Plan)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("the run of seed %d, made again: %w", r.Seed, err)
	case again.Events == r.Events || !again.Frame().Complete():
		return nil
	case again.Description != r.Description:
		return hint.Add(fmt.Errorf("%s says something else than when the run of seed %d was made", r.DescribedBy, r.Seed),
			"leave it as it is while runs are made; a copy of it may be changed")
	}
	err = fmt.Errorf("the run of seed %d was another when it was made again: what its servers do does not follow from the seed alone", r.Seed)
	if where := differs(ctx, r.Plan); where != "" {
		err = fmt.Errorf("%w\n%s", err, where)
	}
	return err
}

// differs makes a run two times more and says where they part. It returns "" if it cannot tell.
func differs(ctx context.Context, p record.Plan) string {
	var d virtual.Difference
	differ := false
	err := traced(ctx, p, 0, func(one, other *virtual.Trace) (err error) {
		d, differ, err = virtual.Compare(one, other)
		return err
	})
	switch {
	case err != nil:
		return ""
	case !differ:
		return "two more runs were alike: it differs now and then"
	}
	b := new(strings.Builder)
	fmt.Fprintf(b, "two more runs part %s", parting(d))
	if d.Event == 0 {
		b.WriteString(sent(ctx, p, d))
		return b.String()
	}
	for i, run := range []string{"one", "other"} {
		fmt.Fprintf(b, "\nin the %s, %s", run, words(d.Events[i]))
		var s *virtual.Stopped
		if err := retrace(ctx, p, nil, &virtual.Stop{Which: d.Turns[i].Which, Event: d.At[i]}); errors.As(err, &s) && s.Stack() != "" {
			fmt.Fprintf(b, "; a run that was stopped there had\n\n%s\n", s.Stack())
		}
	}
	return b.String()
}

// traced makes a run two times more for f, which may look at what its processes did until it returns.
func traced(ctx context.Context, p record.Plan, keep int, f func(one, other *virtual.Trace) error) error {
	var traces [2]*virtual.Trace
	for i := range traces {
		dir, err := os.MkdirTemp("", "recount-trace-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		traces[i] = &virtual.Trace{Dir: dir, Keep: keep}
		if err := retrace(ctx, p, traces[i], nil); err != nil {
			return err
		}
	}
	return f(traces[0], traces[1])
}

// sent shows what a process sent in the one run and not in the other, in two runs more. It returns "" if those are alike.
func sent(ctx context.Context, p record.Plan, d virtual.Difference) (text string) {
	_ = traced(ctx, p, d.Turn, func(one, other *virtual.Trace) error {
		a, b := one.Kept, other.Kept
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		if at < max(len(a), len(b)) {
			text = fmt.Sprintf("\nin the one, %s\nin the other, %s", excerpt(a, at), excerpt(b, at))
		}
		return nil
	})
	return text
}

// excerpt quotes what is about a place.
func excerpt(text []byte, at int) string {
	from, to := max(at-40, 0), min(at+40, len(text))
	if from > to {
		return "nothing more"
	}
	return strconv.Quote(string(text[from:to]))
}

// parting is where two runs part.
func parting(d virtual.Difference) string {
	one, other := d.Turns[0], d.Turns[1]
	switch {
	case one.Node == "" || other.Node == "":
		return fmt.Sprintf("at %v, where one has ended", max(one.At, other.At))
	case one.Which != other.Which:
		return fmt.Sprintf("at %v, where %v goes on in the one, and at %v, where %v does in the other", one.At, one.Which, other.At, other.Which)
	case d.Event == 0:
		return fmt.Sprintf("at %v, in what %v sends", one.At, one.Which)
	}
	return fmt.Sprintf("at %v, in event %d of %v's scheduler", one.At, d.Event, one.Which)
}

// kinds are those of a goroutine's events, in words.
var kinds = map[byte]string{'N': "is born", 'R': "can go on", 'S': "goes on", 'P': "waits", 'L': "has yielded too often"}

// words are those of an event.
func words(e wire.Event) string {
	what := kinds[byte(e.Kind)]
	switch {
	case e.Kind == 0:
		return "the process has no more events"
	case what == "":
		what = fmt.Sprintf("has an event of kind %q", rune(e.Kind))
	}
	return fmt.Sprintf("at %v on the node's clock, goroutine %d (they are numbered as they are born) %s", time.Duration(e.Now), e.ID, what)
}

// retrace makes a run for what its processes do.
func retrace(ctx context.Context, p record.Plan, t *virtual.Trace, stop *virtual.Stop) error {
	_, _, err := unwritten(ctx, p, func(r *run) { r.unkept, r.trace, r.stop = &history.Frame{}, t, stop })
	return err
}
