package harness

import (
	"context"
	"errors"

	"recount/harness/record"
	"recount/internal/hint"
	"recount/virtual"
)

// What is left of runs that ended before their end, or did not end well.

// explained keeps the logs of a run that failed, which may tell why it did.
func (r *run) explained(ctx context.Context, failed error, logs string) error {
	ctx, cancel := context.WithTimeout(ctx, patienceWithLogs)
	defer cancel()
	if err := r.cluster.SaveLogs(ctx, logs); err != nil {
		return errors.Join(failed, err)
	}
	if words := r.endedWith(ctx, logs); words != nil && !explains(failed) { // which has the words, too
		return hint.Add(failed, "%s", words[0])
	}
	return failed
}

// StoodStill tells whether a run of which nothing is kept failed since a node let no time pass.
func StoodStill(failed error) bool {
	var still *virtual.Standstill
	return errors.As(failed, &still)
}

// stood tells whether a run ended since a node let no time pass, and notes it: nothing more is known of the run, and nothing else is wrong
// with it.
func (r *run) stood(failed error) bool {
	var still *virtual.Standstill
	if !errors.As(failed, &still) {
		return false
	}
	r.note("cut short: %v; the stacks of its goroutines are in nodes/%s.log", still, still.Node)
	return true
}

// closed is what becomes of a run whose cluster was removed, or not: what an engine cannot remove in the end says nothing about a run that
// was made, and its verdicts stand.
func (r *run) closed(failed, closing error) error {
	if closing == nil || failed != nil || r.On != record.OnDocker {
		return errors.Join(failed, closing)
	}
	r.note("something is left in the engine (recount clean removes it): %s", hint.Line(closing))
	return nil
}
