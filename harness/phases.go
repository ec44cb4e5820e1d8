package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
)

// The phases of a run: the cluster settles, is left to the nemesis, and recovers once it is healed.

// hear fails where nodes send what the network does not carry, on a cluster where they can: no election is to be judged by that. One that
// hangs does not hold up the run.
func (r *run) hear(ctx context.Context) error {
	c, can := r.base.(hears)
	if !can {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, compareWithin)
	defer cancel()
	err := c.Unheard(within)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		r.note("whether nodes send what the network does not carry is not known: the cluster has not told for %v", compareWithin)
		return nil
	}
	return err
}

// step is how long the loop runs between two looks at the views.
const step = 20 * time.Millisecond

// NotJoined is the way out where nodes never hear of the one that leads.
const NotJoined = "have they joined its cluster? Their logs may say. ready: {in-turn: true} starts each node once the one before it is ready; " +
	"where followers never name who leads, leave leader out of observe, or say which names are their own"

// gone reports whether every node ended by itself.
func (r *run) gone() bool { return len(r.ended) == len(r.names) }

// known is for how long a leader must have been known before the run is left to the nemesis. Where log lines alone tell, each is sure for
// that much less as it may have been on its way, and what was before the first of them counts for nothing.
func (r *run) known() time.Duration {
	if r.target.Standing && r.lag() == 0 {
		return 3 * r.bounds.Silence
	}
	return r.bounds.Silence
}

// settle waits for the first leader that a majority knows. If none comes, that is for the checkers to judge, and the run goes on
// without one, as long as there is anybody who could lead. But nodes that never heard of the one that leads have formed no cluster that
// could be judged: the run fails, unless one of them has ended by itself, which is judged.
func (r *run) settle(ctx context.Context) error {
	limit := r.cluster.Now() + 2*r.bounds.Elect + r.bounds.Silence + r.known()
	if r.On != record.OnSim {
		limit += 20 * time.Second // for the nodes to start
	}
	held, led := time.Duration(0), time.Duration(0)
	for r.cluster.Now() < limit && held < r.known() && !r.gone() {
		if err := r.cluster.Run(ctx, r.cluster.Now()+step); err != nil {
			return err
		}
		if held += step; !r.views.Agreed() {
			held = 0
		}
		if led += step; r.views.Leader() == "" {
			led = 0
		}
	}
	if held == 0 && !r.gone() {
		strangers := r.views.Strangers()
		judged := r.On == record.OnSim || slices.ContainsFunc(strangers, func(node string) bool { return r.ended[node] })
		if len(strangers) > 0 && led > r.bounds.Elect && !judged {
			return unstarted(hint.Add(fmt.Errorf("%s named no leader within %v of the start, and one leads: %s",
				strings.Join(strangers, ", "), r.cluster.Now().Round(time.Second), r.views), NotJoined))
		}
		r.note("no leader known to a majority within %v of the start; last seen: %s", r.cluster.Now().Round(time.Second), r.views)
	}
	return nil
}

// pass lets time go by, and says now and then how much of it has: by the run's clock and, where time is virtual, by the wall clock, too.
func (r *run) pass(ctx context.Context, d time.Duration) error {
	const slice, every = time.Second, 5 * time.Second
	begin, began := r.cluster.Now(), time.Now()
	told := began
	for end := begin + d; r.cluster.Now() < end; {
		if err := r.cluster.Run(ctx, min(end, r.cluster.Now()+slice)); err != nil {
			return err
		}
		if err := r.recorder.Failed(); err != nil { // nothing of what is still to come would be kept
			return err
		}
		if time.Since(told) >= every {
			told = time.Now()
			r.Progress(passed(r.cluster.Now(), begin, d, time.Since(began), record.Repeats(r.On)))
		}
	}
	return nil
}

// passed says how much of the time for faults has passed now.
func passed(now, begin, of, wall time.Duration, virtual bool) string {
	line := fmt.Sprintf("%7.2fs %v of %v for faults have passed", now.Seconds(), (now - begin).Round(time.Second), of)
	if virtual {
		line += fmt.Sprintf(", in %v by the wall clock", wall.Round(time.Second))
	}
	return line
}

// recover gives the healed cluster the time that its target is allowed to find a leader, or less if all agree before,
// and takes the final reads.
func (r *run) recover(ctx context.Context) error {
	limit := r.cluster.Now() + r.bounds.Elect + 2*r.bounds.Silence
	for held := time.Duration(0); r.cluster.Now() < limit && held < 2*r.bounds.Silence; {
		if err := r.cluster.Run(ctx, r.cluster.Now()+step); err != nil {
			return err
		}
		if held += step; !r.views.AllAgree() {
			held = 0
		}
	}
	if r.fence != nil && !r.guards() {
		r.fence.Read(history.Process(2 * len(r.names)))
	}
	return nil
}
