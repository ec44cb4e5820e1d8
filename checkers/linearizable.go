package checkers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"recount/checkers/linear"
	"recount/history"
	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "linearizable",
		Holds:    "what clients see of the data behind the leader is linearizable",
		of: []history.F{
			history.Get, history.Put, history.CAS, history.Acquire, history.Release, history.Txns,
		},
		watch: func(f *facts) watcher { return &uses{facts: f} },
	})
}

// check decides one register or lock after the other: it holds if it does so for each (Herlihy and Wing, 1990,
// section 3.1). porcupine confirms and draws what was found.
func (f *uses) check(ctx context.Context) Result {
	if f.transacts() {
		return f.serializable(ctx)
	}
	all := f.objects()
	w := traffic(all)
	figures := w.figures()
	if r, decided := f.decide(ctx, all, figures); decided {
		return r
	}
	if f.setup.OneCount {
		if r, ok := f.disordered(ctx, all, figures); ok {
			return r
		}
		if r, decided := f.together(ctx, all, figures); decided {
			return r
		}
	}
	switch {
	case len(all) == 0:
		return untested(figures, "no client used a register or a lock: run the workload register, where the election keeps one")
	case w.told == 0:
		return untested(figures, "no operation told what it found: have clients read")
	case w.ops == w.kinds[linear.Get]:
		return untested(figures, "nothing was written: all that did not fail were reads")
	case w.clients < 2:
		return untested(figures, "one client alone used each of them: have several do so")
	}
	if why := f.timeless(); why != "" {
		return unknown(figures, "%s", why)
	}
	r := valid(figures, "%s", &w)
	if len(all) == 1 {
		r.Drawing = all[0].Draw(ctx, all[0].Ops)
	}
	return r
}

// decide looks for an order of the uses of each object, and returns the result where one has none or is not decided: what is broken
// counts for more.
func (f *uses) decide(ctx context.Context, all []*object, figures []Figure) (r Result, decided bool) {
	for _, o := range all {
		switch found := o.Decide(ctx); {
		case found.Answer == porcupine.Illegal:
			return f.unordered(ctx, o, found, figures), true
		case found.Answer == porcupine.Unknown && !decided:
			r, decided = unknown(figures, "%s: %s: %s", o.name(), found.Why, found.Remedy), true
		}
	}
	return r, decided
}

// unordered is the result for uses of one object that have no order.
func (f *uses) unordered(ctx context.Context, o *object, found linear.Found, figures []Figure) Result {
	ctx, cancel := linear.Extended(ctx)
	defer cancel()
	shown := o.Evidence(ctx, found)
	e, about := evidence{span: span{from: never}}, set{}
	for i := range shown.Ops {
		u := &shown.Ops[i]
		if e.from, e.to = min(e.from, u.Call), max(e.to, u.Call); u.Sure() {
			e.to = max(e.to, u.Return)
		}
		e.ops = append(e.ops, f.index(u.Begin, u.Sure()))
		about = about.or(f.group(f.of(int(u.Begin)).node))
	}
	if shown.Died != nil {
		figures = append(figures, text("the last order ended with", fmt.Sprintf("op %d", f.index(shown.Died.Begin, true))))
	}
	if held := o.held(shown); held != "" {
		figures = append(figures, text("what it can have held then", held))
	}
	r := invalid(figures, e, "%s", f.conflict(o, shown))
	r.about, r.Drawing = about, o.DrawEvidence(ctx, shown, r.Why)
	return r
}

// conflict says what is wrong with a smallest set of uses that has no order.
func (f *uses) conflict(o *object, shown linear.Evidence) string {
	core := shown.Ops
	who := func(u *linear.Op) string { return f.actor(int(u.Begin)) }
	if shown.Early {
		u, then := &core[0], "which nobody had written"
		if len(core) > 1 {
			then = fmt.Sprintf("before %s wrote it", who(&core[1]))
		} else if f.unsaid(o, u) {
			found, _ := u.Found()
			then += fmt.Sprintf(": if it was there at first, --initial '%s' says so", o.Show(found))
		}
		if u.Kind == linear.CAS {
			return fmt.Sprintf("%s set %s from %s by %s, %s", who(u), o.name(), o.Show(u.Old), at(u.Return), then)
		}
		return fmt.Sprintf("%s read %s from %s by %s, %s", who(u), o.Show(u.Value), o.name(), at(u.Return), then)
	}
	if u := &core[len(core)-1]; u.Kind == linear.Give && (len(core) == 1 || len(core) == 2 && (shown.Freed || core[0].Kind == linear.Take)) {
		though := "it was free"
		switch before := &core[0]; {
		case before == u && u.Value != 0: // others, of unknown outcome or at once, may have held it
			though = "it did not hold it"
		case shown.Freed:
			though = fmt.Sprintf("%s had released it by %s, and nobody had taken it since", who(before), at(before.Return))
		case before != u:
			though = fmt.Sprintf("%s had taken it by %s", who(before), at(before.Return))
		}
		return fmt.Sprintf("%s released %s by %s, though %s", who(u), o.name(), at(u.Return), though)
	}
	for i := range core {
		for j := range core {
			a, b := &core[i], &core[j]
			switch writes := a.Kind == linear.Put || a.Kind == linear.CAS; {
			case i == j:
			case len(core) == 2 && b.Kind == linear.Take && a.Return <= b.Return:
				return fmt.Sprintf("%s took %s by %s, though %s had taken it by %s and not released it",
					who(b), o.name(), at(b.Return), who(a), at(a.Return))
			case len(core) <= 3 && takeTheSame(a, b):
				return fmt.Sprintf("%s and %s both set %s from %s, to %s and to %s",
					who(a), who(b), o.name(), o.Show(a.Old), o.Show(a.Value), o.Show(b.Value))
			case len(core) <= 3 && writes && b.Kind == linear.Get && a.Return < b.Call && a.Value != b.Value:
				return fmt.Sprintf("%s read %s from %s after %s, though %s had been written by %s",
					who(b), o.Show(b.Value), o.name(), at(b.Call), o.Show(a.Value), at(a.Return))
			}
		}
	}
	var parts []string
	for i := range core {
		parts = append(parts, who(&core[i])+" "+o.Tell(&core[i]))
	}
	s := fmt.Sprintf("no order explains %s: %s", o.name(), abridged(parts))
	if d := shown.Died; d != nil {
		s += fmt.Sprintf("; none is left when %s %s by %s", who(d), o.Tell(d), at(d.Return))
		if held := o.held(shown); held != "" {
			s += map[bool]string{false: ", because it can have held only ", true: ", because it can only have been "}[o.Lock] + held
		}
	}
	return s
}

// unsaid reports whether u may have found what the register of somebody else's held at first, which nothing tells.
func (f *uses) unsaid(o *object, u *linear.Op) bool {
	return f.setup.Model != "" && f.setup.Held(o.key) == "" && !slices.ContainsFunc(o.Ops, func(before linear.Op) bool {
		return before.Return < u.Call
	})
}

// mostTold is how many operations are listed at most in a sentence. All are named by their numbers.
const mostTold = 8

// abridged lists operations, but for those that are too many.
func abridged(parts []string) string {
	if more := len(parts) - mostTold; more > 0 {
		parts = append(parts[:mostTold], fmt.Sprintf("%d more", more))
	}
	return list(parts)
}

// takeTheSame reports whether two operations took the same value from the register, to set it to others. If there is but one other
// beside them, that wrote it.
func takeTheSame(a, b *linear.Op) bool {
	return a.Kind == linear.CAS && b.Kind == linear.CAS && a.Old == b.Old && a.Value != a.Old && b.Value != b.Old
}

// held lists what an object can have held when the last order died; "" if that is not known, or not the reason.
func (o *object) held(shown linear.Evidence) string {
	var values []string
	for _, s := range shown.Held {
		if found, looked := shown.Died.Found(); !looked || s.Value == found {
			return ""
		}
		if v := o.Show(s.Value); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return strings.Join(values, " or ")
}

// actor names who acts in an operation, given where it began.
func (f *uses) actor(number int) string {
	u := f.of(number)
	if u.node == "" {
		return fmt.Sprintf("process %v", u.process)
	}
	return fmt.Sprintf("process %v at %s", u.process, u.node)
}

// index is the number that an operation goes by in results, given where it began: that of its end, if that is to count.
func (f *uses) index(began int32, ended bool) int {
	u := f.of(int(began))
	if ended {
		return u.index[1]
	}
	return u.index[0]
}

// traffic counts what was done to all objects.
type work struct {
	registers, locks     int
	kinds                [5]int
	maybe, failed, told  int
	clients, atOnce, ops int // the most at one object
}

func traffic(all []*object) (w work) {
	for _, o := range all {
		if o.Lock {
			w.locks++
		} else {
			w.registers++
		}
		w.failed += o.failed
		w.clients = max(w.clients, len(o.clients))
		var calls, returns []time.Duration // of what certainly happened
		for i := range o.Ops {
			u := &o.Ops[i]
			w.ops++
			w.kinds[u.Kind]++
			if !u.Sure() {
				w.maybe++
				continue
			}
			if u.Kind != linear.Put {
				w.told++
			}
			calls, returns = append(calls, u.Call), append(returns, u.Return)
		}
		w.atOnce = max(w.atOnce, linear.AtOnce(calls, returns))
	}
	return w
}

func (w *work) figures() []Figure {
	return []Figure{
		figure("registers", w.registers), figure("locks", w.locks), figure("reads", w.kinds[linear.Get]), figure("writes", w.kinds[linear.Put]),
		figure("compare-and-sets", w.kinds[linear.CAS]), figure("lock operations", w.kinds[linear.Take]+w.kinds[linear.Give]),
		figure("of unknown outcome", w.maybe), figure("that failed", w.failed), figure("clients of one object", w.clients),
		figure("most at once", w.atOnce),
	}
}

func (w *work) String() string {
	objects := count.Of(w.registers, "register")
	switch {
	case w.registers == 0:
		objects = count.Of(w.locks, "lock")
	case w.locks > 0:
		objects += " and " + count.Of(w.locks, "lock")
	}
	return fmt.Sprintf("an order explains all of %s on %s, %s of them of unknown outcome; up to %s of one object, %d at once",
		count.Of(w.ops, "operation"), objects, fmt.Sprint(w.maybe), count.Of(w.clients, "client"), w.atOnce)
}
