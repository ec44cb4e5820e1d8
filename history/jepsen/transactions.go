package jepsen

import (
	"errors"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// transactions reads several uses of registers at once: [[:read k v] [:write k v]], or :r and :w.
type transactions struct{ *builder }

const wantUses = "value %s: want [[:read key value] [:write key value]]"

func (b transactions) read(op, invoke *history.Op, e *event) error {
	if e.f != "txn" {
		return b.strange(e, ":txn")
	}
	if op.F = history.Txns; op.Type != history.Invoke && op.Type != history.OK {
		return nil
	}
	forms, ok := edn.Items(e.value)
	if !ok {
		return problem(e.line, e.column, wantUses, short(e.value))
	}
	txn := &history.Txn{Uses: make([]history.Use, 0, len(forms))}
	op.Value = txn
	if op.Type == history.OK && len(forms) != len(invoke.Txn().Uses) {
		return problem(e.line, e.column, "value %s: it ends with %d of the %d reads and writes that it was invoked with", short(e.value), len(forms), len(invoke.Txn().Uses))
	}
	for i, form := range forms {
		use, found, err := b.use(e, form)
		if err != nil {
			return err
		}
		if op.Type == history.OK {
			if asked := invoke.Txn().Uses[i]; asked.F != use.F || asked.Key != use.Key || use.F == history.Put && asked.Value != use.Value {
				return problem(e.line, e.column, "value %s: %s is not what it was invoked with there", short(e.value), short(form))
			}
			if use.F == history.Get && !found {
				continue // in Knossos's models a read of nil tells nothing
			}
		}
		txn.Uses = append(txn.Uses, use)
	}
	return nil
}

func (transactions) finish() error { return nil }

// use reads one of them, and whether it tells a value.
func (b transactions) use(e *event, form any) (use history.Use, found bool, err error) {
	word, ok := edn.Items(form)
	if !ok || len(word) != 3 {
		return use, false, problem(e.line, e.column, wantUses, short(e.value))
	}
	switch name, _ := word[0].(edn.Keyword); name {
	case "w", "write":
		use.F = history.Put
	case "r", "read":
		use.F = history.Get
	case "append":
		return use, false, hint.Add(problem(e.line, e.column, "value %s: lists that transactions append to are not judged here", short(e.value)),
			"Elle judges list-append: https://github.com/jepsen-io/elle")
	default:
		return use, false, problem(e.line, e.column, "%s: want :read or :write", short(word[0]))
	}
	var err1, err2 error
	use.Key, err1 = b.text(e, word[1])
	use.Value, err2 = b.text(e, word[2])
	return use, word[2] != nil, errors.Join(err1, err2)
}
