package linear

import (
	"context"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"recount/internal/count"
)

// Found is what became of the question whether there is an order.
type Found struct {
	Answer porcupine.CheckResult
	Why    string  // of Unknown: what ended the search
	Remedy string  // of Unknown: what would help
	Steps  int     // configurations that searches of our own went through
	died   int32   // of Illegal: the operation at whose return the last order died, among those searched; -1 if that is not known,
	held   []State // and what the object may have held until then, where the search was wide
}

// The answers.
const (
	legal   = porcupine.Ok
	illegal = porcupine.Illegal
	unknown = porcupine.Unknown
)

// Decide looks for an order of all operations on an object. It heeds the end of ctx, and the memory and time that it
// allows. What it answers is never a matter of which search was faster: each of them is exact.
//
// A register whose writes can be told apart goes by zones. Else a first look goes deep; it is enough for nearly all. What
// it cannot settle is searched in two ways at the same time, by porcupine and by what is here, and the first answer counts:
// there are histories that only one of them can decide.
func (o *Object) Decide(ctx context.Context) Found {
	uses := o.prune(slices.Clone(o.Ops))
	if o.unwritten(uses) != nil {
		return Found{Answer: illegal, died: -1}
	}
	if clusters, ok := o.clusters(uses); ok {
		if a, _ := torn(clusters); a != nil {
			return Found{Answer: illegal, died: -1}
		}
		return ordered(0)
	}
	return o.search(ctx, uses, memoryOf(ctx))
}

// unwritten returns the first use that found what nobody can have written by then, and who wrote it first, if anybody did.
func (o *Object) unwritten(uses []Op) []Op {
	first := make([]int, len(o.values)) // who wrote each value first, by its call
	for i := range first {
		first[i] = -1
	}
	for i := range uses {
		if u := &uses[i]; u.Kind != Get && u.Value != u.Old && first[u.Value] < 0 {
			first[u.Value] = i
		}
	}
	for i := range uses {
		u := &uses[i]
		found := u.found()
		if !u.Sure() || found <= 0 {
			continue
		}
		switch k := first[found]; {
		case k < 0:
			return []Op{*u}
		case uses[k].Call > u.Return:
			return []Op{*u, uses[k]}
		}
	}
	return nil
}

// clusters are the times of the values of a register whose writes can be told apart (see zones.go), the first one that
// of what it held at first. A write of unknown outcome that nobody read binds nobody. It is no such register if a write
// took what another had written, or if revisions bind them.
func (o *Object) clusters(uses []Op) (all []cluster, ok bool) {
	if o.Lock || o.counted {
		return nil, false
	}
	all = make([]cluster, len(o.values))
	for i := range all {
		all[i] = cluster{value: int64(i), write: Never, finish: Never}
	}
	all[0].write, all[0].finish, all[0].start = -1, -1, -1
	for i := range uses {
		u := &uses[i]
		c := &all[u.Value]
		switch {
		case u.Kind == CAS || u.Kind == Put && c.write < Never:
			return nil, false
		case u.Kind == Put:
			c.write = u.Call
		}
		c.finish, c.start = min(c.finish, u.Return), max(c.start, u.Call)
	}
	return all, true
}

// A first look goes through so many configurations, and so many more for each operation.
const (
	lookSteps    = 1 << 14
	lookStepsPer = 16
)

// search looks for an order of operations, in order of their calls, in every way there is.
func (o *Object) search(ctx context.Context, uses []Op, m *memory) Found {
	t := newTimeline(o, uses, State{})
	look := limits{steps: lookSteps + lookStepsPer*len(uses), bytes: min(small, m.bytes)}
	found := t.deep(ctx, look)
	if found.Answer != unknown || ctx.Err() != nil {
		return found
	}
	m.mu.Lock() // large searches take turns
	defer m.mu.Unlock()
	if found.Steps <= look.steps { // the history is so long that looking through it takes more room
		look.bytes = m.bytes
		if found = t.deep(ctx, look); found.Answer != unknown || ctx.Err() != nil {
			return found
		}
	}
	found = t.race(ctx, m.bytes/2)
	if found.Answer == unknown && ctx.Err() == nil { // there may be memory enough for one
		if answer, _ := t.porcupine(ctx, m.bytes); answer != unknown {
			return Found{Answer: answer, died: -1}
		}
		found = t.ours(ctx, m.bytes)
	}
	if found.Answer == unknown {
		found.Remedy = t.remedy(ctx)
	}
	return found
}

// race has porcupine and the searches of our own look for an order, each with so much memory, until one of them answers.
func (t *timeline) race(ctx context.Context, bytes int64) Found {
	ctx, end := context.WithCancel(ctx)
	defer end()
	theirs := make(chan Found, 1)
	go func() {
		answer, why := t.porcupine(ctx, bytes)
		if answer != unknown {
			end()
		}
		theirs <- Found{Answer: answer, Why: why, died: -1}
	}()
	ours := t.ours(ctx, bytes)
	if ours.Answer != unknown {
		end()
	}
	if other := <-theirs; ours.Answer == unknown && other.Answer != unknown {
		return other
	}
	return ours
}

// porcupine puts all operations to it.
func (t *timeline) porcupine(ctx context.Context, bytes int64) (porcupine.CheckResult, string) {
	return ask(ctx, t.o.model(t.begin), operations(t.uses), bytes)
}

// endlessSteps are what the short cut of the second search may take, and endlessStepsPer for each operation.
const (
	endlessSteps    = 1 << 20
	endlessStepsPer = 200
)

// ours looks for an order in ways of our own: what is impossible however much of unknown outcome there may have been; then
// wide, because that takes less memory; then deep, because that takes less time where there are orders.
func (t *timeline) ours(ctx context.Context, bytes int64) Found {
	// (Without an end of writes there would be none of revisions either.)
	if len(t.kinds) > 0 && !t.o.counted {
		l := limits{steps: endlessSteps + endlessStepsPer*len(t.uses), bytes: bytes}
		if found := t.wide(ctx, l, true); found.Answer == illegal {
			return found
		}
	}
	found := t.wide(ctx, limits{bytes: bytes}, false)
	if found.Answer == unknown && ctx.Err() == nil {
		found = t.deep(ctx, limits{bytes: bytes})
	}
	return found
}

// words is how large a set must be for what is under way at once, of the sizes that there are; 0 if none is large enough.
func (t *timeline) words() int {
	for _, n := range [...]int{1, 4, mostAtOnce / 64} {
		if t.slots <= 64*n {
			return n
		}
	}
	return 0
}

func (t *timeline) deep(ctx context.Context, l limits) Found {
	m := newMeter(ctx)
	defer m.done()
	switch l.over = m.over; t.words() {
	case 1:
		return newDeep[[1]uint64](t, l).run()
	case 4:
		return newDeep[[4]uint64](t, l).run()
	case mostAtOnce / 64:
		return newDeep[[mostAtOnce / 64]uint64](t, l).run()
	}
	return t.crowded()
}

func (t *timeline) wide(ctx context.Context, l limits, endless bool) Found {
	m := newMeter(ctx)
	defer m.done()
	switch l.over = m.over; t.words() {
	case 1:
		return newWide[[1]uint64](t, l, endless).run()
	case 4:
		return newWide[[4]uint64](t, l, endless).run()
	case mostAtOnce / 64:
		return newWide[[mostAtOnce / 64]uint64](t, l, endless).run()
	}
	return t.crowded()
}

func (t *timeline) crowded() Found {
	return undecided(0, fmt.Sprintf("%d operations are under way at once", t.slots))
}

// remedy says what would help to decide: it depends on what makes the search large.
func (t *timeline) remedy(ctx context.Context) string {
	return remedy(ctx, len(t.uses)-len(t.returns), t.slots)
}

// remedy is what would help where so many operations may have happened or not, and so many were under way at once.
func remedy(ctx context.Context, maybe, atOnce int) string {
	if maybe > atOnce {
		return fmt.Sprintf("%s may have happened or not: have fewer of them time out, or %s", many(maybe), more(ctx))
	}
	return fmt.Sprintf("%s were under way at once: let fewer clients act at the same time, or %s", many(atOnce), more(ctx))
}

// more is what a search that was given up had too little of.
func more(ctx context.Context) string {
	if ctx.Err() != nil {
		return "give it more time"
	}
	return "give it more memory"
}

// limits are what a search may take.
type limits struct {
	steps int // 0 for as many as it takes
	bytes int64
	over  func() bool // reports whether time is
}

// reached returns why a search has to end; "" while it need not.
func (l *limits) reached(steps int, bytes int64, t *timeline) string {
	switch {
	case steps%1024 == 0 && l.over():
		return "time ran out in the search for an order of " + many(len(t.uses))
	case l.steps > 0 && steps > l.steps:
		return "it takes more than a first look"
	case bytes > l.bytes:
		return fmt.Sprintf("the search for an order of %s grew beyond %d MiB", many(len(t.uses)), mebi(l.bytes))
	}
	return ""
}

// ordered is what was found where there is an order.
func ordered(steps int) Found { return Found{Answer: legal, Steps: steps} }

// undecided is what was found where a search was given up.
func undecided(steps int, why string) Found { return Found{Answer: unknown, Steps: steps, Why: why} }

// many writes how many operations there are.
func many(n int) string { return count.Of(n, "operation") }
