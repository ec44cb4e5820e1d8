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
		check:    fencing,
	})
}

// fencing decides whether the accesses have an order, and shrinks them to what shows that they have none.
func fencing(ctx context.Context, f *facts) Result {
	all := accesses(f.h)
	u := use(all)
	figures := u.figures()
	switch {
	case u.kinds[linear.Accepted] == 0:
		return untested(figures, "no write was accepted: have leaders write to the resource")
	case u.highest == 0:
		return untested(figures, "no write carried a token: there is nothing to fence by")
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
		e := evidence{span{min(a.Call, b.Call), max(a.Call, b.Call)}, []int{f.h.Ops[a.At].Index, f.h.Ops[b.At].Index}}
		return invalid(figures, e, "token %d was presented by %s and by %s: no fence can tell them apart", a.Token, a.Node, b.Node)
	}
	if u.tokens < 2 {
		return untested(figures, "only %s: a stale write takes a change of leader", &u)
	}
	r := valid(figures, "%s", &u)
	r.Drawing = linear.Draw(ctx, linear.FenceModel, linear.Operations(all))
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
func (f *facts) unfenced(ctx context.Context, core []linear.Access, figures []Figure) Result {
	ops := linear.Operations(core)
	switch answer, why := linear.Ask(ctx, linear.FenceModel, ops); answer {
	case porcupine.Unknown:
		return unknown(figures, "no order was found, but porcupine did not confirm it: %s: give it more", why)
	case porcupine.Ok:
		panic(fmt.Sprintf("porcupine knows an order for %v", core))
	}
	e := evidence{span: span{from: never}}
	for _, a := range core {
		e.ops = append(e.ops, f.h.Ops[a.At].Index)
		e.from = min(e.from, a.Call)
		if e.to = max(e.to, a.Call); a.Return < never {
			e.to = max(e.to, a.Return)
		}
	}
	r := invalid(figures, e, "%s", offence(core))
	r.Drawing = linear.Draw(ctx, linear.FenceModel, ops)
	return r
}

// offence says what is wrong with a smallest set of accesses that has no order.
func offence(core []linear.Access) string {
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
	return "no order explains " + list(parts)
}

// usage is what was done to the resource.
type usage struct {
	kinds   [4]int
	tokens  int // that were accepted, as writes or reads show
	shared  int // of them, those that several nodes wrote with
	highest uint64
}

func use(all []linear.Access) (u usage) {
	writers := map[uint64][]string{} // by token
	for i := range all {
		a := &all[i]
		u.kinds[a.Kind]++
		if a.Kind != linear.Accepted && (a.Kind != linear.Read || a.Token == 0) {
			continue
		}
		u.highest = max(u.highest, a.Token)
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

// accesses returns all uses of the resource that say something about it. A read that told nothing is none.
func accesses(h *history.History) (all []linear.Access) {
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Type != history.Invoke || op.F != history.Write && op.F != history.Read {
			continue
		}
		a := linear.Access{Call: op.Time, Return: never, Access: op.Access, Kind: linear.Maybe, At: int32(i), Node: op.Node}
		outcome := history.Info
		if end := h.Other(i); end >= 0 {
			outcome = h.Ops[end].Type
			if outcome != history.Info {
				a.Return, a.At = h.Ops[end].Time, int32(end)
			}
		}
		switch {
		case op.F == history.Read && outcome == history.OK:
			a.Kind, a.Access = linear.Read, h.Ops[a.At].Access
		case op.F == history.Read:
			continue
		case outcome == history.OK:
			a.Kind = linear.Accepted
		case outcome == history.Fail:
			a.Kind = linear.Rejected
		}
		all = append(all, a)
	}
	return all // invokes are in order of time
}
