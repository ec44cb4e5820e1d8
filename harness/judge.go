package harness

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"recount/checkers"
	"recount/checkers/linear"
	"recount/harness/record"
	"recount/history"
	"recount/targets"
)

// patienceWithCheckers is how long judging may take; what is undecided then is unknown.
const patienceWithCheckers = 2 * time.Minute

// Judge has every checker look at a run's history, and works out what the run amounts to by what its target promises and
// what its plan expects and requires. It does not heed the end of ctx: a run that was cut short is judged, too.
func Judge(ctx context.Context, r *record.Run) { JudgeWithin(ctx, r, patienceWithCheckers) }

// JudgeWithin is Judge with another limit on the time that deciding takes of the processor.
func JudgeWithin(ctx context.Context, r *record.Run, limit time.Duration) {
	Conclude(ctx, r, fed(checkers.Begin(), r.History), limit)
}

// JudgeForeign has the checkers of some properties look at a history that somebody else recorded: each property that it
// puts to the test must hold.
func JudgeForeign(ctx context.Context, r *record.Run, properties []string, limit time.Duration) {
	ConcludeForeign(ctx, r, fed(checkers.BeginSome(properties), r.History), limit)
}

// fed has a whole history judged.
func fed(j *checkers.Judging, h *history.History) *checkers.Judging {
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	return j
}

// Conclude is JudgeWithin for a run whose ops have been judged as they came. Of its history the frame is enough.
func Conclude(ctx context.Context, r *record.Run, j *checkers.Judging, limit time.Duration) {
	ctx, cancel := linear.WithTime(context.WithoutCancel(ctx), limit)
	defer cancel()
	promised, known := promises(r)
	r.Verdicts = nil
	for _, res := range j.End(ctx) {
		v := record.Verdict{Result: res, Expect: r.Plan.Expect[res.Property]}
		if v.Unclear = !known; known {
			v.Promised, v.While, v.Excused = promised(&res)
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	if v := noProgress(r.Frame()); v != nil {
		r.Verdicts = append(r.Verdicts, *v)
	}
	r.Stand()
	for _, property := range r.Plan.Require {
		r.Require(property)
	}
}

// ConcludeForeign is JudgeForeign for a history that has been judged as it was read.
func ConcludeForeign(ctx context.Context, r *record.Run, j *checkers.Judging, limit time.Duration) {
	ctx, cancel := linear.WithTime(context.WithoutCancel(ctx), limit)
	defer cancel()
	r.Verdicts = nil
	for _, res := range j.End(ctx) {
		r.Verdicts = append(r.Verdicts, record.Verdict{Result: res, Promised: true})
	}
	r.Stand()
}

// promises returns what the run's target promises with the run's options, on which assumption, and whether the run took
// that away: then nothing is promised. What a target promises that is not known here, nobody knows.
func promises(r *record.Run) (of func(res *checkers.Result) (promised bool, while string, excused bool), known bool) {
	setup := r.Setup()
	if setup == nil {
		return nil, false
	}
	t, err := targetOf(r, setup.Target)
	if err != nil {
		return nil, false
	}
	t = t.On(setup.Cluster != record.OnSim, setup.Options)
	o, err := t.Parse(setup.Options)
	if err != nil {
		return nil, false
	}
	did := deedsOf(r.Frame())
	return func(res *checkers.Result) (promised bool, while string, excused bool) {
		promised, while = t.Promised(o, res.Property)
		excused = did.tookAway(t, res, setup.Bounds.Elect)
		if res.Property == "fencing" && setup.Recorded {
			while, excused = "the resource refuses stale tokens", true
		}
		return promised && !excused, while, excused
	}, true
}

// targetOf returns a run's target: what the file said that describes it when the run was made, which the run's folder keeps.
// Only of a run that has no folder it is what the file says now: the path in a stored history is seen from another place.
func targetOf(r *record.Run, target string) (*targets.Target, error) {
	if dir := cmp.Or(r.Dir, r.From); dir != "" && targets.IsFile(target) {
		target = filepath.Join(dir, record.DefinitionFile)
	}
	return targets.Find(target)
}

// deeds are what the nemesis set out to do, and did.
type deeds struct {
	ops  []*history.Op // those that tell of it
	each []history.Changes
	all  func() history.Changes // of all of them together
}

func deedsOf(h *history.Frame) (d deeds) {
	for i := range h.Ops {
		if op := &h.Ops[i]; deed(op) {
			d.ops = append(d.ops, op)
			d.each = append(d.each, op.Fault.Changes)
		}
	}
	d.all = sync.OnceValue(func() history.Changes { return history.InTurn(d.each) })
	return d
}

// in are those of some deeds that were in force, or done, at some time from one to another: what there was of them at first is one.
func (d *deeds) in(from, to time.Duration) *deeds {
	var first history.States
	then := deeds{}
	for k, op := range d.ops {
		switch {
		case op.Time > to:
		case op.Time >= from:
			then.each = append(then.each, op.Fault.Changes)
		case op.Type != history.Invoke:
			first = first.With(op.Fault.Changes)
		case k == len(d.ops)-1 || d.ops[k+1].Type == history.Invoke: // nobody knows what came of it
			then.each = append(then.each, op.Fault.Changes)
		}
	}
	then.each = slices.Insert(then.each, 0, history.ChangesOf(slices.Collect(first.All())...))
	then.all = sync.OnceValue(func() history.Changes { return history.InTurn(then.each) })
	return &then
}

// deed reports whether an op is one.
func deed(op *history.Op) bool {
	return op.Process == history.Nemesis && op.Type != history.Fail && op.Fault != nil && !op.Fault.Empty()
}

// tookAway reports whether the nemesis took away what the target's promise rests on of which a result tells: for good, or, where it
// is known when the property broke, no longer before that than an election may take.
func (d *deeds) tookAway(t *targets.Target, res *checkers.Result, elect time.Duration) bool {
	if !t.MayExcuse(res.Property) {
		return false
	}
	if d.any(func(did history.Changes) bool { return t.Excused(res.Property, did) }) {
		return true
	}
	if res.Verdict == checkers.Invalid {
		d = d.in(res.From-elect, res.To)
	}
	return d.any(func(did history.Changes) bool { return t.Suspended(res.Property, did) })
}

// any reports whether something is so of one of some deeds, or of all of them together.
func (d *deeds) any(is func(did history.Changes) bool) bool {
	return slices.ContainsFunc(d.each, is) || is(d.all())
}
