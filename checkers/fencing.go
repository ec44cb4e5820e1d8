package checkers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"recount/checkers/linear"
	"recount/history"
)

func init() {
	register(Checker{
		Property: "fencing",
		Holds:    "once a write with a token was accepted, none with a lower token is; reads show what was accepted; tokens are one node's",
		of:       []history.F{history.Write, history.Read},
		watch:    func(f *facts) watcher { return &accesses{facts: f} },
	})
}

// accesses are all uses of the resource, in order of their beginnings.
type accesses struct {
	*facts
	uses []access
}

// access is one of them. A read that told nothing says nothing.
type access struct {
	linear.Access
	number int // of the op that began it
	op     int // the Index of the one that tells its outcome, or else of that which began it
	silent bool
}

func (a *accesses) take(op *history.Op) {
	if op.Type == history.Invoke {
		a.uses = append(a.uses, access{
			linear.Access{Call: op.Time, Return: never, Access: op.Access, Kind: linear.Maybe, At: int32(len(a.uses)), Node: op.Node},
			a.ops - 1, op.Index, op.F == history.Read,
		})
		return
	}
	if a.began == nil || op.Type == history.Info {
		return
	}
	k, _ := slices.BinarySearchFunc(a.uses, a.began.number, func(u access, number int) int { return u.number - number })
	u := &a.uses[k]
	u.Return, u.op = op.Time, op.Index
	switch {
	case op.F == history.Read && op.Type == history.OK:
		u.Kind, u.Access.Access, u.silent = linear.Read, op.Access, false
	case op.F == history.Read:
	case op.Type == history.OK:
		u.Kind = linear.Accepted
	case op.Type == history.Fail:
		u.Kind = linear.Rejected
	}
}

// telling are the accesses that say something about the resource.
func (a *accesses) telling() []linear.Access {
	all := make([]linear.Access, 0, len(a.uses))
	for i := range a.uses {
		if !a.uses[i].silent {
			all = append(all, a.uses[i].Access)
		}
	}
	return all
}

// check decides whether the accesses have an order, and shrinks them to what shows that they have none.
func (f *accesses) check(ctx context.Context) Result {
	all := f.telling()
	u := usageOf(all)
	figures := u.figures()
	nothing := "no write was accepted: have leaders write to the resource"
	if u.highest == 0 {
		if u.kinds[linear.Accepted] > 0 {
			nothing = "no write carried a token: there is nothing to fence by"
		}
		return untested(figures, "%s", nothing)
	}
	switch d := linear.DecideFence(ctx, all); d.Answer {
	case porcupine.Unknown:
		return unknown(figures, "no order was found or ruled out: %s: %s", d.Why, d.Remedy)
	case porcupine.Illegal:
		ctx, cancel := linear.Extended(ctx)
		defer cancel()
		return f.unfenced(ctx, linear.ShrinkFence(ctx, all), figures)
	}
	if a, b := sharing(all); a != nil {
		e := evidence{span{min(a.Call, b.Call), max(a.Call, b.Call)}, []int{f.uses[a.At].op, f.uses[b.At].op}}
		r := invalid(figures, e, "token %d was presented by %s and by %s: no fence can tell them apart", a.Token, a.Node, b.Node)
		r.about = f.group(a.Node, b.Node)
		return r
	}
	switch {
	case u.kinds[linear.Accepted] == 0:
		return untested(figures, "%s", nothing)
	case u.tokens < 2:
		return untested(figures, "only %s: a stale write takes a change of leader", &u)
	}
	r := valid(figures, "%s", &u)
	r.Drawing = linear.DrawFence(ctx, all, nil, "")
	return r
}

// sharing returns the first two writes of different nodes with one token, or nil. A leadership's token is its own, whether
// its writes were accepted or not.
func sharing(all []linear.Access) (a, b *linear.Access) {
	first := map[uint64]*linear.Access{}
	for i := range all {
		w := &all[i]
		if w.Kind == linear.Read || w.Token == 0 || w.Node == "" {
			continue
		}
		before, known := first[w.Token]
		if !known {
			first[w.Token] = w
		} else if before.Node != w.Node {
			return before, w
		}
	}
	return nil, nil
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
	died, held := linear.LastOrder(ctx, core)
	if died != nil {
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
		if died.Kind == linear.Read && len(held) > 0 && !slices.Contains(held, died.Access) {
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

// usage is what was done to the resource.
type usage struct {
	kinds   [4]int
	tokens  int    // that were accepted, as writes or reads show
	shared  int    // of them, those that several nodes wrote with
	highest uint64 // token that anybody presented or read
}

func usageOf(all []linear.Access) (u usage) {
	writers := map[uint64][]string{} // by token
	for i := range all {
		a := &all[i]
		u.kinds[a.Kind]++
		u.highest = max(u.highest, a.Token)
		if a.Kind != linear.Accepted && (a.Kind != linear.Read || a.Token == 0) {
			continue
		}
		by, known := writers[a.Token]
		if !known {
			u.tokens++
			writers[a.Token] = nil
		}
		if a.Kind == linear.Accepted && !slices.Contains(by, a.Node) {
			if writers[a.Token] = append(by, a.Node); len(by) == 1 {
				u.shared++
			}
		}
	}
	return u
}

func (u *usage) figures() []Figure {
	return []Figure{
		figure("writes accepted", u.kinds[linear.Accepted]), figure("writes rejected", u.kinds[linear.Rejected]),
		figure("writes of unknown outcome", u.kinds[linear.Maybe]), figure("reads", u.kinds[linear.Read]),
		figure("tokens", u.tokens), figure("tokens of several nodes", u.shared),
	}
}

func (u *usage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s accepted under %s", count(u.kinds[linear.Accepted], "write"), count(u.tokens, "token"))
	fmt.Fprintf(&b, ", %s refused", count(u.kinds[linear.Rejected], "stale one"))
	if n := u.kinds[linear.Maybe]; n > 0 {
		fmt.Fprintf(&b, ", %s of unknown outcome", count(n, "write"))
	}
	fmt.Fprintf(&b, ", %s", count(u.kinds[linear.Read], "read"))
	return b.String()
}
