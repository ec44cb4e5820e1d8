package checkers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

func init() {
	register(Checker{
		Property: "linearizable",
		Holds:    "what clients see of the data behind the leader is linearizable",
		check:    linearizable,
	})
}

// linearizable decides one register or lock after the other: it holds if it does so for each (Herlihy and Wing, 1990,
// section 3.1). porcupine confirms and draws what was found.
func linearizable(ctx context.Context, f *facts) Result {
	all := objects(f.h)
	w := traffic(all)
	figures := w.figures()
	for _, o := range all {
		switch found := o.decide(ctx); found.answer {
		case Unknown:
			return unknown(figures, "%s: %s: let fewer clients act at once, or give it more time", o.name(), found.why)
		case Invalid:
			return f.unordered(ctx, o, found, figures)
		}
	}
	switch {
	case len(all) == 0:
		return untested(figures, "no client used a register or a lock: run the workload register")
	case w.told == 0:
		return untested(figures, "no operation told what it found: have clients read")
	case w.clients < 2:
		return untested(figures, "one client alone used each of them: have several do so")
	}
	r := valid(figures, "%s", &w)
	if len(all) == 1 {
		r.Drawing = draw(ctx, all[0].model(holding{}), operations(f.h, all[0].uses))
	}
	return r
}

// decide looks for an order of all uses of an object.
func (o *object) decide(ctx context.Context) ordering {
	uses := o.prune(slices.Clone(o.uses))
	if core := o.unwritten(uses); core != nil {
		return ordering{answer: Invalid, core: core}
	}
	if clusters, ok := o.clusters(uses); ok {
		if torn(clusters) {
			return ordering{answer: Invalid, core: uses}
		}
		return ordering{answer: Valid}
	}
	m := memoryOf(ctx)
	m.mu.Lock() // searches like this one take turns
	defer m.mu.Unlock()
	return linearize(ctx, o, uses, holding{}, m.bytes)
}

// unwritten returns the first use that found what nobody can have written by then, and who wrote it first, if anybody did.
func (o *object) unwritten(uses []action) []action {
	first := make([]int, len(o.values)) // who wrote each value first, by its call
	for i := range first {
		first[i] = -1
	}
	for i := range uses {
		if u := &uses[i]; u.kind != get && u.value != u.old && first[u.value] < 0 {
			first[u.value] = i
		}
	}
	for i := range uses {
		u := &uses[i]
		found := u.found()
		if !u.sure() || found <= 0 {
			continue
		}
		switch k := first[found]; {
		case k < 0:
			return []action{*u}
		case uses[k].call > u.ret:
			return []action{*u, uses[k]}
		}
	}
	return nil
}

// clusters are the times of the values of a register whose writes can be told apart (see zones.go), the first one that
// of what it held at first. A write of unknown outcome that nobody read binds nobody. It is no such register if a write
// took what another had written, or if revisions bind them.
func (o *object) clusters(uses []action) (all []cluster, ok bool) {
	if o.lock || o.counted {
		return nil, false
	}
	all = make([]cluster, len(o.values))
	for i := range all {
		all[i] = cluster{write: never, finish: never}
	}
	all[0] = cluster{write: -1, finish: -1, start: -1}
	for i := range uses {
		u := &uses[i]
		c := &all[u.value]
		switch {
		case u.kind == cas || u.kind == put && c.write < never:
			return nil, false
		case u.kind == put:
			c.write = u.call
		}
		c.finish, c.start = min(c.finish, u.ret), max(c.start, u.call)
	}
	return all, true
}

// unordered is the result for uses of one object that have no order.
func (f *facts) unordered(ctx context.Context, o *object, found ordering, figures []Figure) Result {
	ctx, cancel := extended(ctx)
	defer cancel()
	core, holds := o.lessen(ctx, found)
	ops := operations(f.h, core)
	model := o.model(holds)
	if answer, _ := ask(ctx, model, ops); answer == porcupine.Ok {
		panic(fmt.Sprintf("porcupine knows an order for %v", core))
	}
	e := evidence{span: span{from: never}}
	for i := range core {
		u := &core[i]
		at := u.begin
		if e.from, e.to = min(e.from, u.call), max(e.to, u.call); u.sure() {
			e.to = max(e.to, u.ret)
			at = max(at, u.end)
		}
		e.ops = append(e.ops, f.h.Ops[at].Index)
	}
	holder := found.holder()
	if holder != nil {
		e.ops = append(e.ops, f.h.Ops[holder.end].Index)
		e.from = min(e.from, holder.call)
	}
	r := invalid(figures, e, "%s", f.conflict(o, holds, holder, core))
	r.Drawing = draw(ctx, model, ops)
	return r
}

// lessen returns a smallest set of uses that still has no order, and what the object held before them. Of a register they
// are taken away, and with a write all that saw what it wrote: what is left of the legal is legal. Of a lock they are taken
// to be of unknown outcome, which is legal, too, if it was before: those that are left are at odds whatever became of the
// others.
func (o *object) lessen(ctx context.Context, found ordering) ([]action, holding) {
	if !o.lock { // better evidence than what it held is who wrote that
		for less, n := 0, 16; less < len(found.whole); less, n = n, 4*n {
			part := o.without(found.whole, 0, max(len(found.whole)-n, 0))
			if o.illegal(ctx, part, holding{}) {
				return o.least(ctx, part, holding{}), holding{}
			}
		}
	}
	return o.least(ctx, found.core, found.holds), found.holds
}

// illegal reports whether uses surely have no order.
func (o *object) illegal(ctx context.Context, part []action, begin holding) bool {
	if clusters, ok := o.clusters(part); ok && begin == (holding{}) {
		return torn(clusters)
	}
	return linearize(ctx, o, part, begin, small).answer == Invalid
}

func (o *object) least(ctx context.Context, all []action, begin holding) []action {
	for size := max(len(all)/2, 1); ; size /= 2 {
		for rest := len(all); rest > 0; rest -= size {
			from := max(len(all)-rest, 0)
			if less := o.without(all, from, min(from+size, len(all))); o.illegal(ctx, less, begin) {
				all = less
			}
		}
		if size == 1 {
			break
		}
	}
	if o.lock {
		return slices.DeleteFunc(all, func(u action) bool { return !u.sure() }) // whatever became of them
	}
	return all
}

// without takes uses away from a history in such a way that the legal stays legal.
func (o *object) without(all []action, from, to int) []action {
	if o.lock {
		less := slices.Clone(all)
		for i := from; i < to; i++ {
			less[i].ret = never
		}
		return less
	}
	gone := map[int32]bool{}
	for _, u := range all[from:to] {
		if u.kind != get {
			gone[u.value] = true
		}
	}
	less := slices.Concat(all[:from], all[to:])
	for again := true; again; {
		again = false
		less = slices.DeleteFunc(less, func(u action) bool {
			sees := gone[u.found()]
			if sees {
				gone[u.value], again = true, true
			}
			return sees
		})
	}
	return less
}

// holder returns who had the lock before the core was done: of those who had taken it by then, the one whom all others
// came before. It is nil if nobody had it, or it may have been one or another. (It was nobody whose outcome is unknown:
// without that the lock might be free as well.)
func (found *ordering) holder() (last *action) {
	if found.holds.value == 0 {
		return nil
	}
	busy := time.Duration(-1) // until then somebody else may have taken it
	for i := range found.done {
		u := &found.done[i]
		if u.kind != take || !u.sure() {
			continue
		}
		if last = nil; busy < u.call {
			last = u
		}
		busy = max(busy, u.ret)
	}
	return last
}

// conflict says what is wrong with a smallest set of uses that has no order.
func (f *facts) conflict(o *object, holds holding, holder *action, core []action) string {
	who := func(u *action) string { return f.actor(int(u.begin)) }
	if early := o.unwritten(o.uses); early != nil {
		u, then := &early[0], "which nobody had written"
		if len(early) > 1 {
			then = fmt.Sprintf("before %s wrote it", who(&early[1]))
		}
		if u.kind == cas {
			return fmt.Sprintf("%s set %s from %s by %s, %s", who(u), o.name(), o.show(u.old), at(u.ret), then)
		}
		return fmt.Sprintf("%s read %s from %s by %s, %s", who(u), o.show(u.value), o.name(), at(u.ret), then)
	}
	if holder != nil && len(core) == 1 {
		return fmt.Sprintf("%s took %s by %s, though %s had taken it by %s and not released it",
			who(&core[0]), o.name(), at(core[0].ret), who(holder), at(holder.ret))
	}
	for i := range core {
		for j := range core {
			a, b := &core[i], &core[j]
			switch writes := a.kind == put || a.kind == cas; {
			case !a.sure() || !b.sure() || len(core) > 3:
			case a.kind == cas && b.kind == cas && a.old == b.old && i < j:
				return fmt.Sprintf("%s and %s both set %s from %s, to %s and to %s",
					who(a), who(b), o.name(), o.show(a.old), o.show(a.value), o.show(b.value))
			case writes && b.kind == get && a.ret < b.call && a.value != b.value:
				return fmt.Sprintf("%s read %s from %s after %s, though %s had been written by %s",
					who(b), o.show(b.value), o.name(), at(b.call), o.show(a.value), at(a.ret))
			}
		}
	}
	var parts []string
	for i := range core {
		parts = append(parts, who(&core[i])+" "+o.tell(&core[i]))
	}
	held := ""
	switch {
	case o.lock && holds.value != 0:
		held = ", which was taken"
	case holds != (holding{}):
		held = fmt.Sprintf(", which held %s", o.show(holds.value))
	}
	return fmt.Sprintf("no order explains %s%s: %s", o.name(), held, list(parts))
}

// actor names who acts in an op.
func (f *facts) actor(i int) string {
	op := &f.h.Ops[i]
	if op.Node == "" {
		return fmt.Sprintf("process %v", op.Process)
	}
	return fmt.Sprintf("process %v at %s", op.Process, op.Node)
}

// name is what an object is called.
func (o *object) name() string {
	what := "the register"
	if o.lock {
		what = "the lock"
	}
	if o.key != "" {
		return what[len("the "):] + " " + o.key
	}
	return what
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
		if o.lock {
			w.locks++
		} else {
			w.registers++
		}
		w.failed += o.failed
		w.clients = max(w.clients, len(o.clients))
		var open []time.Duration
		for i := range o.uses {
			u := &o.uses[i]
			w.ops++
			w.kinds[u.kind]++
			if !u.sure() {
				w.maybe++
				continue
			}
			if u.kind != put {
				w.told++
			}
			open = slices.DeleteFunc(open, func(t time.Duration) bool { return t < u.call })
			open = append(open, u.ret)
			w.atOnce = max(w.atOnce, len(open))
		}
	}
	return w
}

func (w *work) figures() []Figure {
	return []Figure{
		figure("registers", w.registers), figure("locks", w.locks), figure("reads", w.kinds[get]), figure("writes", w.kinds[put]),
		figure("compare-and-sets", w.kinds[cas]), figure("lock operations", w.kinds[take]+w.kinds[give]),
		figure("of unknown outcome", w.maybe), figure("that failed", w.failed), figure("clients of one object", w.clients),
		figure("most at once", w.atOnce),
	}
}

func (w *work) String() string {
	objects := count(w.registers, "register")
	switch {
	case w.registers == 0:
		objects = count(w.locks, "lock")
	case w.locks > 0:
		objects += " and " + count(w.locks, "lock")
	}
	return fmt.Sprintf("an order explains all of %s on %s, %s of them of unknown outcome; up to %s of one object, %d at once",
		count(w.ops, "operation"), objects, fmt.Sprint(w.maybe), count(w.clients, "client"), w.atOnce)
}
