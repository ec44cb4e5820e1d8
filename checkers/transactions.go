package checkers

import (
	"context"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"recount/checkers/linear"
	"recount/history"
	"recount/internal/count"
)

// txns are the transactions of a history.
type txns struct {
	*linear.Txns
	clients map[history.Process]bool

	failed, told, written, maybe int
}

// transacts reports whether any transaction may have happened, or clients tried nothing else.
func (u *uses) transacts() bool {
	others := 0
	for i := range u.all {
		switch x := &u.all[i]; {
		case x.f != history.Txns:
			others++
		case x.outcome != history.Fail:
			return true
		}
	}
	return others == 0 && len(u.all) > 0
}

// transactions returns what transactions did, and all else that used a register: each a transaction of its own. What did not happen is left
// out. Of one of unknown outcome nobody knows what it found.
func (u *uses) transactions() txns {
	all := txns{Txns: linear.NewTxns(), clients: map[history.Process]bool{}}
	for i := range u.all {
		use := &u.all[i]
		if objectOps[use.f] >= linear.Take {
			continue
		}
		x := linear.Txn{Call: use.at[0], Return: never, Client: int32(max(use.process, 0)), Begin: int32(use.number), End: int32(use.ended)}
		told := use.txn[0]
		if use.outcome == history.OK {
			x.Return, told = use.at[1], use.txn[1]
		}
		if use.f != history.Txns {
			told = use.alone()
		} else if told == nil {
			told = &history.Txn{}
		}
		switch {
		case use.outcome == history.Fail:
			all.failed++
			continue
		case use.outcome == history.OK:
		case use.f == history.Get, len(told.Uses) > 0 && !slices.ContainsFunc(told.Uses, func(k history.Use) bool { return k.F == history.Put }):
			continue // a read that did not return
		default:
			all.maybe++
		}
		all.clients[use.process] = true
		for _, k := range told.Uses {
			did := linear.Use{Write: k.F == history.Put, Key: all.Key(k.Key, u.held(k.Key)), Value: all.Number(k.Value)}
			switch {
			case did.Write:
				all.written++
			case x.Sure():
				all.told++
			case use.f != history.CAS: // which did nothing where it did not find that
				continue
			}
			x.Uses = append(x.Uses, did)
		}
		all.Ops = append(all.Ops, x)
	}
	return all
}

// alone is what an operation on one register did, as a transaction.
func (x *use) alone() *history.Txn {
	told, found := x.register()
	switch {
	case x.f == history.CAS:
		return &history.Txn{Uses: []history.Use{{F: history.Get, Key: told.Key, Value: told.Old}, {F: history.Put, Key: told.Key, Value: told.Value}}}
	case x.f == history.Get && !found:
		return &history.Txn{} // whatever was read, nobody knows
	}
	return &history.Txn{Uses: []history.Use{{F: x.f, Key: told.Key, Value: told.Value}}}
}

// serializable decides transactions: they hold if each of them can have happened at one moment between its call and its
// return (strict serializability). Locks are decided by themselves.
func (u *uses) serializable(ctx context.Context) Result {
	all := u.transactions()
	locks := slices.DeleteFunc(u.objects(), func(o *object) bool { return !o.Lock })
	w := traffic(locks)
	figures := []Figure{
		figure("transactions", len(all.Ops)), figure("reads", all.told), figure("of unknown outcome", all.maybe),
		figure("that failed", all.failed), figure("clients", len(all.clients)),
	}
	found, core := all.Decide(ctx)
	if found.Answer == porcupine.Illegal {
		return u.unserializable(ctx, &all, core, figures)
	}
	r, decided := u.decide(ctx, locks, figures)
	switch {
	case decided:
		return r
	case found.Answer == porcupine.Unknown:
		return unknown(figures, "the transactions: %s: %s", found.Why, found.Remedy)
	case all.told+w.told == 0:
		return untested(figures, "no transaction told what it found: have them read")
	case all.written+w.ops == 0:
		return untested(figures, "nothing was written: all transactions that did not fail were of reads alone")
	case max(len(all.clients), w.clients) < 2:
		return untested(figures, "one client alone made all transactions: have several do so")
	}
	if why := u.timeless(); why != "" {
		return unknown(figures, "%s", why)
	}
	why := fmt.Sprintf("an order explains all of %s of %s, %d of them of unknown outcome",
		count.Of(len(all.Ops), "transaction"), count.Of(len(all.clients), "client"), all.maybe)
	if w.ops > 0 {
		why += "; " + w.String()
	}
	return valid(figures, "%s", why)
}

// unserializable is the result for transactions that have no order.
func (u *uses) unserializable(ctx context.Context, all *txns, core []linear.Txn, figures []Figure) Result {
	e, about := evidence{span: span{from: never}}, set{}
	var parts []string
	for i := range core {
		x := &core[i]
		if e.from = min(e.from, x.Call); x.Sure() {
			e.to = max(e.to, x.Return)
		}
		e.ops = append(e.ops, u.index(x.Begin, x.Sure()))
		about = about.or(u.group(u.of(int(x.Begin)).node))
		parts = append(parts, u.actor(int(x.Begin))+" "+all.Tell(x))
	}
	r := invalid(figures, e, "no order explains these transactions: %s", list(parts))
	r.about, r.Drawing = about, all.Draw(ctx, core)
	return r
}
