package checkers

import (
	"context"
	"fmt"

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

// transactions returns what transactions did. What did not happen is left out. Of one of unknown outcome nobody knows what
// it found.
func (u *uses) transactions() txns {
	all := txns{Txns: linear.NewTxns(), clients: map[history.Process]bool{}}
	for i := range u.all {
		use := &u.all[i]
		if use.f != history.Txns {
			continue
		}
		x := linear.Txn{Call: use.at[0], Return: never, Client: int32(max(use.process, 0)), Begin: int32(use.number), End: int32(use.ended)}
		told := use.txn[0]
		switch use.outcome {
		case history.Fail:
			all.failed++
			continue
		case history.OK:
			x.Return, told = use.at[1], use.txn[1]
		default:
			all.maybe++
		}
		all.clients[use.process] = true
		if told == nil {
			told = &history.Txn{}
		}
		for _, k := range told.Uses {
			did := linear.Use{Write: k.F == history.Put, Key: all.Key(k.Key, u.held(k.Key)), Value: all.Number(k.Value)}
			if !did.Write {
				if !x.Sure() {
					continue
				}
				all.told++
			} else {
				all.written++
			}
			x.Uses = append(x.Uses, did)
		}
		all.Ops = append(all.Ops, x)
	}
	return all
}

// serializable decides transactions: they hold if each of them can have happened at one moment between its call and its
// return (strict serializability).
func (u *uses) serializable(ctx context.Context, all txns) Result {
	figures := []Figure{
		figure("transactions", len(all.Ops)), figure("reads", all.told), figure("of unknown outcome", all.maybe),
		figure("that failed", all.failed), figure("clients", len(all.clients)),
	}
	found, core := all.Decide(ctx)
	switch {
	case found.Answer == porcupine.Unknown:
		return unknown(figures, "the transactions: %s: %s", found.Why, found.Remedy)
	case found.Answer == porcupine.Illegal:
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
	case all.told == 0:
		return untested(figures, "no transaction told what it found: have them read")
	case all.written == 0:
		return untested(figures, "nothing was written: all transactions that did not fail were of reads alone")
	case len(all.clients) < 2:
		return untested(figures, "one client alone made all transactions: have several do so")
	}
	return valid(figures, "%s", fmt.Sprintf("an order explains all of %s of %s, %d of them of unknown outcome",
		count.Of(len(all.Ops), "transaction"), count.Of(len(all.clients), "client"), all.maybe))
}
