package jepsen

import (
	"errors"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// register makes an event a use of a register. What an :ok tells counts, as in Knossos: an :invoke may leave out what is
// written, and what is found it cannot know.
func (b *builder) register(op, invoke *history.Op, e *event) (err error) {
	want := ":read and :write"
	if b.model.Name != "register" {
		want = ":read, :write and :cas"
	}
	switch e.f {
	case "read", "get":
		op.F = history.Get
	case "write", "put":
		op.F = history.Put
	case "cas":
		op.F = history.CAS
	}
	if op.F == "" || op.F == history.CAS && b.model.Name == "register" {
		return b.strange(e, want)
	}
	if op.Type == history.Fail && op.F == history.CAS && b.model.Name == "compare-exchange-register" {
		return b.exchange(op, invoke, e)
	}
	if op.Type == history.Info && op.F == history.Put && invoke.Reg.Value == "" && !e.lone {
		return b.mayHaveWritten(invoke, e)
	}
	if op.Type != history.Invoke && op.Type != history.OK {
		return nil
	}
	r := &history.Register{Key: e.object}
	value, first := e.value, false
	if b.revisioned() {
		if r.Revision, first, value, err = revisionOf(e, e.value); err != nil {
			return err
		}
	}
	if op.Type == history.OK {
		r.Key, r.Old, r.Value = invoke.Reg.Key, invoke.Reg.Old, invoke.Reg.Value
	}
	switch pair, paired := edn.Items(value); {
	case op.F == history.Get && op.Type == history.OK:
		if value == nil && first {
			value = b.Initial // nobody had written it
		} else if value == nil && !e.lone {
			return nil // in Knossos's models a read of nil tells nothing
		}
		r.Value, err = b.text(e, value)
	case op.F == history.Get && paired && len(pair) == 2 && pair[1] == nil && b.Model == "" && !b.Independent:
		return b.keyedUnasked(e, "a read")
	case op.F == history.Get:
	case op.F == history.Put && (op.Type == history.Invoke || value != nil):
		r.Value, err = b.text(e, value)
	case op.F == history.CAS && paired && len(pair) == 2:
		if r.Old, err = b.text(e, pair[0]); err == nil {
			r.Value, err = b.text(e, pair[1])
		}
	case op.F == history.CAS && op.Type == history.Invoke:
		return problem(e.line, e.column, "value %s: want [old new]", short(value))
	}
	op.Reg = r
	return err
}

// keyedUnasked is the error of an operation that is asked for a key, where nobody said that there are several objects.
func (b *builder) keyedUnasked(e *event, what string) error {
	way := "say --independent if values are [key value]"
	if b.Model == "" {
		way += ", or else say with --model what the operations are on"
	}
	return hint.Add(problem(e.line, e.column, "value %s: %s is asked for a key, as in an independent history", short(e.value), what), "%s", way)
}

// mayHaveWritten has a write that did not tell what it writes take that from its end of unknown outcome.
func (b *builder) mayHaveWritten(invoke *history.Op, e *event) error {
	value, ok, err := b.unkeyed(invoke, e)
	if err == nil && ok && b.revisioned() {
		_, _, value, err = revisionOf(e, value)
	}
	if err == nil && ok {
		invoke.Reg.Value, err = b.text(e, value)
	}
	return err
}

// unkeyed is what an end tells that need not tell anything, without the key that it may tell it with; ok is false if that is another key than
// was asked for.
func (b *builder) unkeyed(invoke *history.Op, e *event) (value any, ok bool, err error) {
	pair, paired := edn.Items(untagged(e.value))
	if !paired || len(pair) != 2 || !b.Independent && !b.model.keyed {
		return e.value, true, nil
	}
	key, err := b.text(e, pair[0])
	return pair[1], err == nil && key == invoke.Reg.Key, err
}

// revisioned reports whether values are [revision value].
func (b *builder) revisioned() bool {
	return b.model.Name == "revisioned-register" || b.model.Name == "revisioned-store"
}

// revisionOf takes [revision value] apart, and says whether the revision that it tells is the first, 0, that of a register that
// nobody has written to. What is no such pair is a value whose revision is not told.
func revisionOf(e *event, told any) (revision uint64, first bool, value any, err error) {
	pair, ok := edn.Items(told)
	if !ok || len(pair) != 2 {
		return 0, false, told, nil
	}
	n, ok := whole(pair[0])
	if (!ok || n < 0) && pair[0] != nil {
		return 0, false, nil, problem(e.line, e.column, "value %s: want [revision value]", short(told))
	}
	return uint64(n), ok && n == 0, pair[1], nil
}

// exchange makes a :cas that found another value, and told it, the read of that value. One that tells what it was asked for
// tells nothing; one that found what it takes, and failed, is at odds with itself.
func (b *builder) exchange(op, invoke *history.Op, e *event) error {
	asked := invoke.Reg
	value, ok, err := b.unkeyed(invoke, e)
	if err != nil || !ok || value == nil {
		return err
	}
	paired := false
	if pair, ok := edn.Items(value); ok && len(pair) == 2 { // [old new], with what it found for old
		written, err := b.text(e, pair[1])
		if err != nil {
			return err
		}
		if written == asked.Value {
			value, paired = pair[0], true
		}
	}
	found, err := b.text(e, value)
	if err != nil {
		return err
	}
	switch {
	case found == asked.Old && paired:
		return nil
	case found == asked.Old:
		return hint.Add(problem(e.line, e.column, "value %s: a :cas that found what it takes does not :fail", short(e.value)),
			"no register of this model answers so; one that was not tried tells nothing, or the [old new] that it was asked for")
	}
	op.Type, op.F, op.Reg = history.OK, history.Get, &history.Register{Key: asked.Key, Value: found}
	invoke.F, invoke.Reg = history.Get, &history.Register{Key: asked.Key}
	return nil
}

// txn makes an event several uses of registers at once: [[:read k v] [:write k v]], or :r and :w.
func (b *builder) txn(op, invoke *history.Op, e *event) error {
	if e.f != "txn" {
		return b.strange(e, ":txn")
	}
	if op.F = history.Txns; op.Type != history.Invoke && op.Type != history.OK {
		return nil
	}
	const want = "value %s: want [[:read key value] [:write key value]]"
	uses, ok := edn.Items(e.value)
	if !ok {
		return problem(e.line, e.column, want, short(e.value))
	}
	txn := &history.Txn{Uses: make([]history.Use, 0, len(uses))}
	op.Value = txn
	if op.Type == history.OK && len(uses) != len(invoke.Txn().Uses) {
		return problem(e.line, e.column, "value %s: it ends with %d of the %d reads and writes that it was invoked with", short(e.value), len(uses), len(invoke.Txn().Uses))
	}
	for i, u := range uses {
		word, ok := edn.Items(u)
		if !ok || len(word) != 3 {
			return problem(e.line, e.column, want, short(e.value))
		}
		use := history.Use{F: history.Get}
		switch name, _ := word[0].(edn.Keyword); name {
		case "w", "write":
			use.F = history.Put
		case "r", "read":
		case "append":
			return hint.Add(problem(e.line, e.column, "value %s: lists that transactions append to are not judged here", short(e.value)),
				"Elle judges list-append: https://github.com/jepsen-io/elle")
		default:
			return problem(e.line, e.column, "%s: want :read or :write", short(word[0]))
		}
		var err1, err2 error
		use.Key, err1 = b.text(e, word[1])
		use.Value, err2 = b.text(e, word[2])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if op.Type == history.OK {
			if asked := invoke.Txn().Uses[i]; asked.F != use.F || asked.Key != use.Key || use.F == history.Put && asked.Value != use.Value {
				return problem(e.line, e.column, "value %s: %s is not what it was invoked with there", short(e.value), short(u))
			}
		}
		if use.F == history.Get && word[2] == nil && op.Type == history.OK {
			continue // in Knossos's models a read of nil tells nothing
		}
		txn.Uses = append(txn.Uses, use)
	}
	return nil
}

// text is a value as the history has it.
func (b *builder) text(e *event, v any) (string, error) {
	text, err := textOf(v)
	if err != nil {
		return "", problem(e.line, e.column, "value %s: %v", short(v), err)
	}
	return text, nil
}

// textOf is the text that a value shares with all that Clojure holds equal to it. Nothing is "".
func textOf(v any) (string, error) {
	if v == nil {
		return "", nil
	}
	text, ok := edn.Canonical(v)
	if !ok {
		return "", errors.New("##NaN is equal to nothing, not even to itself, so that no reader can have found it")
	}
	return text, nil
}
