package checkers

import (
	"context"
	"fmt"

	"github.com/anishathalye/porcupine"

	"recount/checkers/linear"
	"recount/history"
)

// txns are the transactions of a history.
type txns struct {
	*linear.Txns
	clients             map[history.Process]bool
	failed, told, maybe int
}

// transactions returns what transactions did. What did not happen is left out. Of one of unknown outcome nobody knows what
// it found.
func transactions(h *history.History) txns {
	all := txns{Txns: linear.NewTxns(), clients: map[history.Process]bool{}}
	initial := func(string) string { return "" }
	if setup := h.Setup(); setup != nil {
		initial = setup.Held
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.F != history.Txns || op.Type != history.Invoke {
			continue
		}
		end := h.Other(i)
		x := linear.Txn{Call: op.Time, Return: never, Client: int32(max(op.Process, 0)), Begin: int32(i), End: int32(end)}
		told := op.Txn()
		switch {
		case end >= 0 && h.Ops[end].Type == history.Fail:
			all.failed++
			continue
		case end >= 0 && h.Ops[end].Type == history.OK:
			x.Return, told = h.Ops[end].Time, h.Ops[end].Txn()
		default:
			all.maybe++
		}
		all.clients[op.Process] = true
		if told == nil {
			told = &history.Txn{}
		}
		for _, u := range told.Uses {
			use := linear.Use{Write: u.F == history.Put, Key: all.Key(u.Key, initial(u.Key)), Value: all.Number(u.Value)}
			if use.Write || x.Sure() {
				x.Uses = append(x.Uses, use)
			}
			if !use.Write && x.Sure() {
				all.told++
			}
		}
		all.Ops = append(all.Ops, x)
	}
	return all
}

// serializable decides transactions: they hold if each of them can have happened at one moment between its call and its
// return (strict serializability).
func (f *facts) serializable(ctx context.Context, all txns) Result {
	figures := []Figure{
		figure("transactions", len(all.Ops)), figure("reads", all.told), figure("of unknown outcome", all.maybe),
		figure("that failed", all.failed), figure("clients", len(all.clients)),
	}
	answer, core, why := all.Decide(ctx)
	switch {
	case answer == porcupine.Unknown:
		return unknown(figures, "the transactions: %s: let fewer clients act at once, or give it more time", why)
	case answer == porcupine.Illegal:
		e := evidence{span: span{from: never}}
		var parts []string
		for i := range core {
			x := &core[i]
			at := x.Begin
			if e.from, e.to = min(e.from, x.Call), max(e.to, x.Call); x.Sure() {
				e.to, at = max(e.to, x.Return), x.End
			}
			e.ops = append(e.ops, f.h.Ops[at].Index)
			parts = append(parts, f.actor(int(x.Begin))+" "+all.Tell(x))
		}
		r := invalid(figures, e, "no order explains these transactions: %s", list(parts))
		r.Drawing = all.Draw(ctx, core)
		return r
	case all.told == 0:
		return untested(figures, "no transaction told what it found: have them read")
	case len(all.clients) < 2:
		return untested(figures, "one client alone made all transactions: have several do so")
	}
	return valid(figures, "%s", fmt.Sprintf("an order explains all of %s of %s, %d of them of unknown outcome",
		count(len(all.Ops), "transaction"), count(len(all.clients), "client"), all.maybe))
}
