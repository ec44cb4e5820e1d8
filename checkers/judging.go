package checkers

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"recount/history"
)

// Judging judges one history while it happens: ops go in, one at a time, and verdicts come out at its end. It keeps what the verdicts
// need, not the ops, so that it can judge a history that nobody keeps. Some ops it holds back for a while: those since the nemesis began
// something whose outcome is not known yet and, where log lines stand, those of the last lag. It is not safe for concurrent use.
//
//	j := checkers.Begin()
//	recorder.Watch(j.Add)
//	…
//	results := j.End(ctx)
type Judging struct {
	gathering
	by       []Checker
	watchers []watcher    // by the same index; nil for who judges by the facts alone
	told     [64][]listen // who is told of ops, by the hash of their kind
	at       bool         // the nemesis is at work on a fault
	held     []history.Op // since it began
	crashed  *Result      // instead of all results: gathering the facts crashed
}

// listen is a watcher that is told of ops of a kind.
type listen struct {
	to history.F
	by watcher
}

// Begin begins to judge a history by every checker.
func Begin() *Judging { return begin(registry) }

// BeginSome is Begin for some properties. It panics if there is none of a name.
func BeginSome(properties []string) *Judging { return begin(some(properties)) }

func begin(by []Checker) *Judging {
	j := &Judging{gathering: newGathering(), by: by, watchers: make([]watcher, len(by))}
	j.reuse()
	for i, c := range by {
		if c.watch == nil {
			continue
		}
		w := c.watch(j.facts)
		j.watchers[i] = w
		for _, f := range c.of {
			at := &j.told[hashed(f)]
			*at = append(*at, listen{f, w})
		}
	}
	return j
}

// Reread says how to go through the same ops once more, in the same order, as those of a file. What is old and settled is then
// forgotten, and looked up at the end if something later turns out to depend on it. It is called before the first op is added.
func (j *Judging) Reread(again func(each func(op *history.Op)) error) {
	j.again = func(each func(op *history.Op, number int)) error {
		number := -1
		return again(func(op *history.Op) {
			if number++; number < j.ops { // what was added since does not count
				each(op, number)
			}
		})
	}
}

// unread is why there is no verdict where the ops could not be gone through once more.
func unread(err error) string {
	return fmt.Sprintf("to tell what came before, the history has to be read once more, and was not: %v", err)
}

// hashed is a small number for a kind of op. It is asked for with every op, and a map would take longer than the rest.
func hashed(f history.F) uint8 {
	if f == "" {
		return 0
	}
	return (uint8(len(f)*31) ^ f[0]*7 ^ f[len(f)-1]) % 64
}

// Add takes the next op, in order of time. It does not keep the pointer.
//
// What the nemesis sets out to do counts from when it began, but it is told in whole only by its end. So from the one to
// the other ops are held back.
func (j *Judging) Add(op *history.Op) {
	switch op.F {
	case history.Inject, history.Change, history.Heal:
		j.at = op.Type == history.Invoke
	}
	if !j.at && len(j.held) == 0 {
		j.add(op, nil)
		return
	}
	j.held = append(j.held, *op)
	if !j.at {
		j.release()
	}
}

// release takes up the ops that were held back.
func (j *Judging) release() {
	for i := range j.held {
		op := &j.held[i]
		var end *history.Op
		if op.Process == history.Nemesis { // what it begins ends with the next op of its kind
			k := slices.IndexFunc(j.held[i+1:], func(o history.Op) bool { return o.F == op.F })
			if k >= 0 {
				end = &j.held[i+1+k]
			}
		}
		j.add(op, end)
	}
	clear(j.held)
	j.held, j.at = j.held[:0], false
}

// add takes an op, and the end of one that the nemesis begins, if it is known.
func (j *Judging) add(op, end *history.Op) {
	if j.crashed != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			r := crash(p)
			j.crashed = &r
		}
	}()
	if !j.postpone(op, end) {
		j.take(op, end)
		return
	}
	for j.ahead[0].op.Time < op.Time-j.lag() {
		j.takeNext()
	}
}

// takeNext takes the first op that was postponed.
func (j *Judging) takeNext() {
	j.take(j.ahead[0].op, j.ahead[0].end)
}

// take has everybody take an op.
func (j *Judging) take(op, end *history.Op) {
	j.op(op, end)
	j.settle(op.Time)
	for _, l := range j.told[hashed(op.F)] {
		if l.to == op.F {
			l.by.take(op)
		}
	}
}

// finish takes all that was postponed, and ends the pass.
func (j *Judging) finish() (none Result) {
	for len(j.ahead) > 0 {
		j.takeNext()
	}
	j.close()
	return none
}

// worthSharing is from how many answers on checkers judge side by side. Who makes many short runs makes them side by side. Tests
// make it few.
var worthSharing = 1 << 15

// End returns the results in the order of All. Nothing may be added after it.
func (j *Judging) End(ctx context.Context) []Result {
	j.release()
	results := make([]Result, len(j.by))
	if j.crashed == nil {
		if r := guarded(j.finish); r.Stack != "" {
			j.crashed = &r
		}
	}
	var wg sync.WaitGroup
	for i := range j.by {
		if j.crashed != nil {
			results[i] = *j.crashed
			continue
		}
		judge := func() { results[i] = guarded(func() Result { return j.check(ctx, i) }) }
		if len(j.answers) < worthSharing {
			judge()
		} else {
			wg.Go(judge)
		}
	}
	wg.Wait()
	defer j.spare()
	for i, c := range j.by {
		r := &results[i]
		r.Property = c.Property
		if c.timed {
			j.misled.excuse(r, j.facts.names(j.misled.nodes))
		}
		if c.believes {
			j.mistaken.excuse(r)
		}
		if r.Verdict == Valid && j.unended != "" {
			r.Verdict, r.Why = Unknown, j.unended+": up to there, "+r.Why
		}
		switch r.Verdict {
		case Invalid:
			r.Figures = append(r.Figures, Figure{Name: FaultsThen, Value: j.meanwhile(span{r.From, r.To}, j.concerned(r))})
		case Valid:
			r.Figures = append(r.Figures, j.power()...)
		}
	}
	return results
}

func (j *Judging) check(ctx context.Context, i int) Result {
	if w := j.watchers[i]; w != nil {
		return w.check(ctx)
	}
	return j.by[i].check(ctx, j.facts)
}
