package harness

import (
	"context"
	"fmt"
	"time"

	"recount/harness/record"
	"recount/history"
)

// Simulate makes a run in virtual time, in the simulator unless the plan says otherwise, and returns it judged, without a
// trace on disk: for those who make many. Run makes the same run of the same plan, and keeps it. When ctx ends, the run is cut
// short, as with Run.
func Simulate(ctx context.Context, p record.Plan) (*record.Run, error) {
	return inMemory(ctx, p, func(*run) {})
}

// Glance is Simulate without the history: the run is judged while it goes on, of its ops only the frame is kept, and nothing is
// drawn. Those who need more of them may watch, as with a history.Recorder.
func Glance(ctx context.Context, p record.Plan, watch ...func(*history.Op)) (*record.Run, error) {
	return inMemory(ctx, p, func(r *run) { r.unkept, r.watches = &history.Frame{}, watch })
}

// inMemory makes a run in virtual time that writes nothing to disk, once set has said what else is to be so.
func inMemory(ctx context.Context, p record.Plan, set func(r *run)) (*record.Run, error) {
	if p.On != record.OnVirtual {
		p.On = record.OnSim
	}
	r, rep, err := unwritten(ctx, p, set)
	if err != nil {
		return nil, err
	}
	r.sumUp(rep)
	rep.Took = time.Since(rep.Started)
	return rep, r.judged(ctx, rep)
}

// sumUp keeps what a simulated run tells to those who learn from it.
func (r *run) sumUp(rep *record.Run) {
	if r.related != nil {
		rep.Relations, rep.Kinds = r.related.Seen(), r.related.Kinds()
	}
}

// unwritten is inMemory of a run that is not judged.
func unwritten(ctx context.Context, p record.Plan, set func(r *run)) (*run, *record.Run, error) {
	s, err := resolve(p)
	if err != nil {
		return nil, nil, Usage(err)
	}
	r := newRun(s, Config{}.heard(ctx))
	set(r)
	rep := r.outline()
	r.listen(nil, 0)
	return r, rep, r.carryOut(ctx, "")
}

// Recall gives a run of Glance its history and its drawings: the run is made again by its plan, and is the same, op for op. A run that has its
// history is left as it is. This is done to the end, also for somebody who was interrupted.
func Recall(r *record.Run) error {
	if r.History != nil || r.Unkept == nil {
		return nil
	}
	again, err := Simulate(context.Background(), r.Plan)
	if err != nil {
		return err
	}
	was, is := r.Unkept, again.Frame()
	if was.Count == is.Count && was.Last == is.Last && again.Events != r.Events {
		return fmt.Errorf("the run of seed %d was another when it was made again: what its nodes did was not the same, in as many ops", r.Seed)
	}
	if was.Count != is.Count || was.Last != is.Last {
		return fmt.Errorf("the run of seed %d was another when it was made again: %d ops in %v, not %d in %v", r.Seed, is.Count, is.Last, was.Count, was.Last)
	}
	r.History, r.Unkept = again.History, nil
	for i := range r.Verdicts {
		if v := again.Verdict(r.Verdicts[i].Property); v != nil {
			r.Verdicts[i].Drawing = v.Drawing
		}
	}
	return nil
}
