package harness

import (
	"cmp"
	"context"
	"path/filepath"
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
// what its plan expects and requires. What it has not decided when ctx ends is unknown.
func Judge(ctx context.Context, r *record.Run) { JudgeWithin(ctx, r, patienceWithCheckers) }

// JudgeWithin is Judge with another limit on the time that deciding takes of the processor.
func JudgeWithin(ctx context.Context, r *record.Run, limit time.Duration) {
	Conclude(ctx, r, fed(checkers.Begin(), r.History), limit)
}

// JudgeForeign has the checkers of some properties look at a history that somebody else recorded: each property that it
// puts to the test must hold, and each that the plan requires must be put to the test.
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
	ctx, cancel := linear.WithTime(ctx, limit)
	defer cancel()
	p, known := promises(r)
	if known {
		j.Suspend(p.lapsed)
	}
	r.Verdicts = nil
	for _, res := range j.End(ctx) {
		v := record.Verdict{Result: res, Expect: r.Plan.Expect[res.Property]}
		if v.Unclear = !known; known {
			v.Promised, v.While, v.Excused = p.of(&res)
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
	ctx, cancel := linear.WithTime(ctx, limit)
	defer cancel()
	r.Verdicts = nil
	for _, res := range j.End(ctx) {
		r.Verdicts = append(r.Verdicts, record.Verdict{Result: res, Promised: true})
	}
	r.Stand()
	for _, property := range r.Plan.Require {
		r.Require(property)
	}
}

// targetOf returns a run's target: what the file said that describes it when the run was made, which the run's folder keeps.
// Only of a run that has no folder it is what the file says now: the path in a stored history is seen from another place.
func targetOf(r *record.Run, target string) (*targets.Target, error) {
	if dir := cmp.Or(r.Dir, r.From); dir != "" && targets.IsFile(target) {
		target = filepath.Join(dir, record.DefinitionFile)
	}
	return targets.Find(target)
}
