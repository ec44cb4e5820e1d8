package checkers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
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
	case u.kinds[accepted] == 0:
		return untested(figures, "no write was accepted: have leaders write to the resource")
	case u.highest == 0:
		return untested(figures, "no write carried a token: there is nothing to fence by")
	}
	switch d := decideFence(ctx, all); d.CheckResult {
	case porcupine.Unknown:
		return unknown(figures, "no order was found or ruled out: %s: let fewer write at once, or give it more", d.why)
	case porcupine.Illegal:
		ctx, cancel := extended(ctx)
		defer cancel()
		return f.unfenced(ctx, shrink(ctx, all), figures)
	}
	if a, b := sharing(all); a != nil {
		e := evidence{span{min(a.call, b.call), max(a.call, b.call)}, []int{f.h.Ops[a.op].Index, f.h.Ops[b.op].Index}}
		return invalid(figures, e, "token %d was presented by %s and by %s: no fence can tell them apart", a.Token, a.node, b.node)
	}
	if u.tokens < 2 {
		return untested(figures, "only %s: a stale write takes a change of leader", &u)
	}
	r := valid(figures, "%s", &u)
	r.Drawing = draw(ctx, fenceModel, asOperations(all))
	return r
}

// sharing returns the first two writes of different nodes with one token, or nil. A leadership's token is its own, whether
// its writes were accepted or not.
func sharing(all []access) (a, b *access) {
	first := map[uint64]*access{}
	for i := range all {
		w := &all[i]
		if w.kind == read || w.Token == 0 || w.node == "" {
			continue
		}
		before, known := first[w.Token]
		if !known {
			first[w.Token] = w
		} else if before.node != w.node {
			return before, w
		}
	}
	return nil, nil
}

// unfenced is the result for accesses that have no order, once porcupine has had its say.
func (f *facts) unfenced(ctx context.Context, core []access, figures []Figure) Result {
	ops := asOperations(core)
	switch answer, why := ask(ctx, fenceModel, ops); answer {
	case porcupine.Unknown:
		return unknown(figures, "no order was found, but porcupine did not confirm it: %s: give it more", why)
	case porcupine.Ok:
		panic(fmt.Sprintf("porcupine knows an order for %v", core))
	}
	e := evidence{span: span{from: never}}
	for _, a := range core {
		e.ops = append(e.ops, f.h.Ops[a.op].Index)
		e.from = min(e.from, a.call)
		if e.to = max(e.to, a.call); a.ret < never {
			e.to = max(e.to, a.ret)
		}
	}
	r := invalid(figures, e, "%s", offence(core))
	r.Drawing = draw(ctx, fenceModel, ops)
	return r
}

// offence says what is wrong with a smallest set of accesses that has no order.
func offence(core []access) string {
	for i := range core {
		for j := range core {
			a, b := &core[i], &core[j]
			if a.certain() && b.certain() && a.ret < b.call && a.Token > b.Token {
				return fmt.Sprintf("%s was %s by %s, though token %d had been accepted by %s",
					b, outcomes[b.kind], at(b.ret), a.Token, at(a.ret))
			}
		}
	}
	if len(core) == 1 && core[0].kind == rejected {
		a := &core[0]
		return fmt.Sprintf("%s was rejected by %s, before any higher token can have been accepted", a, at(a.ret))
	}
	var parts []string
	for i := range core {
		parts = append(parts, fmt.Sprintf("%s (value %d, %s)", &core[i], core[i].Value, outcomes[core[i].kind]))
	}
	return "no order explains " + list(parts)
}

var outcomes = [...]string{accepted: "accepted", rejected: "rejected", read: "seen", maybe: "outcome unknown"}

// certain reports whether a shows that its token was accepted.
func (a *access) certain() bool { return a.kind == accepted || a.kind == read }

// String is the access without its value: "n1's write with token 5".
func (a *access) String() string {
	what, by := "write", "a"
	if a.kind == read {
		what = "read"
	}
	if a.node != "" {
		by = a.node + "'s"
	}
	return fmt.Sprintf("%s %s with token %d", by, what, a.Token)
}

// usage is what was done to the resource.
type usage struct {
	kinds   [4]int
	tokens  int // that were accepted, as writes or reads show
	shared  int // of them, those that several nodes wrote with
	highest uint64
}

func use(all []access) (u usage) {
	writers := map[uint64][]string{} // by token
	for i := range all {
		a := &all[i]
		u.kinds[a.kind]++
		if a.kind != accepted && (a.kind != read || a.Token == 0) {
			continue
		}
		u.highest = max(u.highest, a.Token)
		by, known := writers[a.Token]
		if !known {
			u.tokens++
			writers[a.Token] = nil
		}
		if a.kind == accepted && !slices.Contains(by, a.node) {
			if writers[a.Token] = append(by, a.node); len(by) == 1 {
				u.shared++
			}
		}
	}
	return u
}

func (u *usage) figures() []Figure {
	return []Figure{
		figure("writes accepted", u.kinds[accepted]), figure("writes rejected", u.kinds[rejected]),
		figure("writes of unknown outcome", u.kinds[maybe]), figure("reads", u.kinds[read]),
		figure("tokens", u.tokens), figure("tokens of several nodes", u.shared),
	}
}

func (u *usage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s accepted under %s", count(u.kinds[accepted], "write"), count(u.tokens, "token"))
	fmt.Fprintf(&b, ", %s refused", count(u.kinds[rejected], "stale one"))
	if n := u.kinds[maybe]; n > 0 {
		fmt.Fprintf(&b, ", %s of unknown outcome", count(n, "write"))
	}
	fmt.Fprintf(&b, ", %s", count(u.kinds[read], "read"))
	return b.String()
}

// asOperations makes accesses porcupine's. One of unknown outcome never returns.
func asOperations(all []access) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(all))
	clients := map[string]int{}
	for i := range all {
		a := &all[i]
		if _, known := clients[a.node]; !known {
			clients[a.node] = len(clients)
		}
		ops[i] = porcupine.Operation{ClientId: clients[a.node], Input: a, Call: int64(a.call), Return: int64(a.ret)}
	}
	return ops
}
