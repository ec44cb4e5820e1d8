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
)

func init() {
	register(Checker{
		Property: "fencing",
		Holds:    "once a write with a token was accepted, none with a lower token is; reads show what was accepted; tokens are one node's",
		of:       []history.F{history.Write, history.Read},
		watch:    func(f *facts) watcher { return newAccesses(f) },
	})
}

// accesses are the uses of the resource, in order of their beginnings. Of a history that can be read once more those are
// forgotten that have no bearing any more on what is to come.
type accesses struct {
	*facts
	usage
	uses   []access
	latest time.Duration // when one of them began or ended last
	enough int           // with so many it is looked for what can be forgotten
	forgot bool
	wrong  bool // there is no order of what is kept; what came later does not matter
}

// access is one of them. A read that told nothing says nothing.
type access struct {
	linear.Access
	number int // of the op that began it
	op     int // the Index of the one that tells its outcome, or else of that which began it
	silent bool
	ended  bool
}

// mostUses is how many are kept at least. Tests make it few.
var mostUses = 1 << 14

func newAccesses(f *facts) *accesses {
	return &accesses{facts: f, usage: newUsage(f), enough: mostUses}
}

func (f *accesses) take(op *history.Op) {
	f.usage.take(op, f.newest(), f.began)
	if f.wrong {
		return
	}
	if len(f.uses) >= f.enough && f.again != nil && op.Time > f.latest {
		f.forget()
	}
	f.latest = op.Time
	f.use(op, f.newest(), f.began)
}

// use takes note of how an access began, or of how it ended.
func (f *accesses) use(op *history.Op, number int, began *beginning) {
	if op.Type == history.Invoke {
		f.uses = append(f.uses, access{
			Access: linear.Access{Call: op.Time, Return: never, Access: op.Access, Kind: linear.Maybe, At: int32(len(f.uses)), Node: op.Node, Lock: f.setup.Lock},
			number: number, op: op.Index, silent: op.F == history.Read,
		})
		return
	}
	k, kept := f.begunBy(began.number)
	if !kept {
		return
	}
	u := &f.uses[k]
	if u.ended = true; op.Type == history.Info {
		return
	}
	u.Return, u.op = op.Time, op.Index
	switch {
	case op.Type == history.Fail: // a read says nothing then
		u.Kind = linear.Rejected
	case op.F == history.Write:
		u.Kind = linear.Accepted
	default:
		u.Kind, u.Access.Access, u.silent = linear.Read, op.Access, false
	}
}

// begunBy returns where the use is that an op began, and whether it is kept. Nearly always it is among the last.
func (f *accesses) begunBy(number int) (k int, kept bool) {
	from := len(f.uses)
	for step := 1; from > 0; step *= 4 {
		if from = max(from-step, 0); f.uses[from].number <= number {
			break
		}
	}
	k, kept = slices.BinarySearchFunc(f.uses[from:], number, func(u access, number int) int { return u.number - number })
	return from + k, kept
}

// forget forgets what has no bearing on what is to come, and finds out now and then whether there is no order as it is.
func (f *accesses) forget() {
	var ended, open []linear.Access
	var which []int // of uses, those that ended
	for i := range f.uses {
		switch u := &f.uses[i]; {
		case u.ended && u.silent:
		case u.ended:
			ended, which = append(ended, u.Access), append(which, i)
		case u.silent:
			open = append(open, linear.Access{Call: u.Call, Return: never, Kind: linear.Read})
		default:
			open = append(open, u.Access)
		}
	}
	var gone []bool
	gone, f.wrong = linear.Past(context.Background(), ended, open)
	for k, i := range which {
		if gone != nil && gone[k] {
			f.uses[i].number, f.forgot = -1, true
		}
	}
	f.uses = slices.DeleteFunc(f.uses, func(u access) bool { return u.number < 0 || u.ended && u.silent })
	for i := range f.uses {
		f.uses[i].At = int32(i)
	}
	f.enough = max(mostUses, 2*len(f.uses))
}

// recall has the uses be those that are kept and have no order, and besides all writes and reads of what they read: what was
// forgotten was overwritten, but that has to be shown; and that a write of unknown outcome happened before is shown by who read it.
func (f *accesses) recall() error {
	kept, read := map[int]bool{}, map[history.Access]bool{} // writes, and what was read
	for i := range f.uses {
		if u := &f.uses[i]; u.Kind == linear.Read {
			read[u.Access.Access] = true
		} else {
			kept[u.number] = true
		}
	}
	f.uses = nil
	var reads []access
	open := newBegun()
	err := f.again(func(op *history.Op, number int) {
		began := open.see(op, number)
		switch {
		case op.F == history.Read && op.Type == history.OK && read[op.Access]:
			reads = append(reads, access{
				Access: linear.Access{Call: began.at, Return: op.Time, Access: op.Access, Kind: linear.Read, Node: op.Node},
				number: began.number, op: op.Index, ended: true,
			})
		case op.F == history.Write && (began != nil || kept[number] || read[op.Access]):
			f.use(op, number, began)
		}
	})
	f.uses = append(f.uses, reads...)
	slices.SortFunc(f.uses, func(u, v access) int { return u.number - v.number })
	for i := range f.uses {
		f.uses[i].At = int32(i)
	}
	return err
}

// telling are the accesses that say something about the resource.
func (f *accesses) telling() []linear.Access {
	all := make([]linear.Access, 0, len(f.uses))
	for i := range f.uses {
		if !f.uses[i].silent {
			all = append(all, f.uses[i].Access)
		}
	}
	return all
}

// check decides whether the accesses have an order, and shrinks them to what shows that they have none.
func (f *accesses) check(ctx context.Context) Result {
	u := &f.usage
	if err := u.recount(); err != nil {
		return unknown(nil, "%s", unread(err))
	}
	all, figures := f.telling(), u.figures()
	nothing, stale := "no write was accepted: have leaders write to the resource, as the workload fence does", "a stale write takes a change of leader"
	if f.setup.Lock {
		nothing, stale = "no acquisition told a token: have who acquires the lock tell it", "a stale one takes a change of owner"
	}
	if u.highest == 0 {
		if u.kinds[linear.Accepted] > 0 {
			nothing = "no write carried a token: there is nothing to fence by"
		}
		return untested(figures, "%s", nothing)
	}
	d := linear.Found{Answer: porcupine.Illegal}
	if !f.wrong {
		d = linear.DecideFence(ctx, all)
	}
	switch d.Answer {
	case porcupine.Unknown:
		return unknown(figures, "no order was found or ruled out: %s: %s", d.Why, d.Remedy)
	case porcupine.Illegal:
		if f.forgot {
			if err := f.recall(); err != nil {
				return unknown(figures, "%s", unread(err))
			}
			all = f.telling()
		}
		ctx, cancel := linear.Extended(ctx)
		defer cancel()
		return f.unfenced(ctx, linear.ShrinkFence(ctx, all), figures)
	}
	if a, b := &u.sharers[0], &u.sharers[1]; b.node != "" {
		e := evidence{span{min(a.at, b.at), max(a.at, b.at)}, []int{a.op, b.op}}
		r := invalid(figures, e, "token %d was presented by %s and by %s: no fence can tell them apart", a.token, a.node, b.node)
		r.about = f.group(a.node, b.node)
		return r
	}
	switch {
	case u.kinds[linear.Accepted] == 0:
		return untested(figures, "%s", nothing)
	case u.tokens < 2:
		return untested(figures, "only %s: %s", u, stale)
	}
	if why := f.timeless(); why != "" {
		return unknown(figures, "%s", why)
	}
	r := valid(figures, "%s", u)
	if !f.forgot {
		r.Drawing = linear.DrawFence(ctx, all, nil, "")
	}
	return r
}

// unfenced is the result for accesses that have no order, once porcupine has had its say.
func (f *accesses) unfenced(ctx context.Context, core []linear.Access, figures []Figure) Result {
	ops := linear.Operations(core)
	switch answer, why := linear.Ask(ctx, linear.FenceModel, ops); answer {
	case porcupine.Unknown:
		return unknown(figures, "no order was found, but porcupine did not confirm it: %s: give it more", why)
	case porcupine.Ok:
		panic(fmt.Sprintf("porcupine knows an order for %v", core))
	}
	e, about := evidence{span: span{from: never}}, set{}
	for _, a := range core {
		e.ops = append(e.ops, f.uses[a.At].op)
		about = about.or(f.group(a.Node))
		e.from = min(e.from, a.Call)
		if e.to = max(e.to, a.Call); a.Return < never {
			e.to = max(e.to, a.Return)
		}
	}
	var held []history.Access
	died := linear.LastOrder(ctx, core)
	if died != nil {
		if !f.forgot && !f.wrong { // or else not all that may have been held is known
			held = linear.HeldAt(ctx, f.telling(), died)
		}
		figures = append(figures, text("the last order ended with", fmt.Sprintf("op %d", f.uses[died.At].op)))
	}
	r := invalid(figures, e, "%s", offence(core, died, held))
	r.about, r.Drawing = about, linear.DrawFence(ctx, core, died, r.Why)
	return r
}

// offence says what is wrong with a smallest set of accesses that has no order: the last one ended with the return of one of
// them, where that is known, and the resource held one of a few things then, where they are.
func offence(core []linear.Access, died *linear.Access, held []history.Access) string {
	for i := range core {
		for j := range core {
			a, b := &core[i], &core[j]
			if a.Sure() && b.Sure() && a.Return < b.Call && a.Token > b.Token {
				return fmt.Sprintf("%s was %s by %s, though token %d had been accepted by %s",
					b, b.Kind, at(b.Return), a.Token, at(a.Return))
			}
		}
	}
	if len(core) == 1 && core[0].Kind == linear.Rejected {
		a := &core[0]
		return fmt.Sprintf("%s was rejected by %s, before any higher token can have been accepted", a, at(a.Return))
	}
	var parts []string
	for i := range core {
		parts = append(parts, fmt.Sprintf("%s (value %d, %s)", &core[i], core[i].Value, core[i].Kind))
	}
	s := "no order explains " + list(parts)
	if died != nil {
		s += fmt.Sprintf("; none is left when %s (value %d) was %s by %s", died, died.Value, died.Kind, at(died.Return))
		if died.Kind == linear.Read && len(held) > 0 {
			var values []string
			for _, h := range held {
				if h == (history.Access{}) {
					values = append(values, "nothing")
				} else {
					values = append(values, fmt.Sprintf("value %d of token %d", h.Value, h.Token))
				}
			}
			slices.Sort(values)
			s += ", because it can have held only " + strings.Join(values, " or ")
		}
	}
	return s
}
