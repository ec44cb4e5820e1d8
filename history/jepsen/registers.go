package jepsen

import (
	"errors"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// registers reads uses of registers. What an :ok tells counts, as in Knossos: an :invoke may leave out what is written, and what is found it
// cannot know.
type registers struct {
	*builder
	swaps      bool // there is :cas
	exchanges  bool // and one that fails tells what it found
	revisioned bool // values are [revision value]

	told   bool // some write told what it wrote only when it had
	silent int  // the line of the first write of unknown outcome that never told, 0 if there is none
}

// uses are what registers are used for.
var uses = map[edn.Keyword]history.F{
	"read": history.Get, "get": history.Get, "write": history.Put, "put": history.Put, "cas": history.CAS,
}

func (r *registers) read(op, invoke *history.Op, e *event) error {
	switch op.F = uses[e.f]; {
	case op.F == "" || op.F == history.CAS && !r.swaps:
		want := ":read and :write"
		if r.swaps {
			want = ":read, :write and :cas"
		}
		return r.strange(e, want)
	case op.Type == history.Invoke:
		return r.begins(op, e)
	case op.Type == history.OK:
		return r.ends(op, invoke, e)
	case op.Type == history.Fail && op.F == history.CAS && r.exchanges:
		return r.exchange(op, invoke, e)
	case op.Type == history.Info && op.F == history.Put && invoke.Reg.Value == "":
		return r.mayHaveWritten(invoke, e)
	}
	return nil
}

// begins takes up what a use is invoked with.
func (r *registers) begins(op *history.Op, e *event) error {
	c, err := r.contentsOf(e, e.value)
	if err != nil {
		return err
	}
	op.Reg = &history.Register{Key: e.object, Revision: c.revision}
	old, value, paired := pairOf(c.value)
	switch {
	case op.F == history.Get && paired && value == nil && r.Model == "" && !r.Independent:
		return r.keyedUnasked(e, "a read")
	case op.F == history.Put:
		op.Reg.Value, err = r.text(e, c.value)
	case op.F == history.CAS && paired:
		err = r.swap(op.Reg, e, old, value)
	case op.F == history.CAS:
		return problem(e.line, e.column, "value %s: want [old new]", short(c.value))
	}
	return err
}

// ends takes up what a use is known to have done.
func (r *registers) ends(op, invoke *history.Op, e *event) error {
	c, err := r.contentsOf(e, e.value)
	if err != nil {
		return err
	}
	reg := *invoke.Reg
	reg.Revision = c.revision
	switch {
	case op.F == history.Get && c.value == nil && c.first:
		reg.Value, err = r.text(e, r.Initial) // nobody had written it
	case op.F == history.Get && c.value == nil && !e.lone:
		return nil // in Knossos's models a read of nil tells nothing
	case op.F == history.Get:
		reg.Value, err = r.text(e, c.value)
	case op.F == history.Put && c.value != nil:
		reg.Value, err = r.text(e, c.value)
		r.told = r.told || invoke.Reg.Value == "" && reg.Value != ""
	case op.F == history.CAS:
		if old, value, paired := pairOf(c.value); paired {
			err = r.swap(&reg, e, old, value)
		}
	}
	op.Reg = &reg
	return err
}

// swap has a compare-and-set put one value in another's place.
func (r *registers) swap(reg *history.Register, e *event, old, value any) (err error) {
	if reg.Old, err = r.text(e, old); err == nil {
		reg.Value, err = r.text(e, value)
	}
	return err
}

// mayHaveWritten has a write that did not tell what it writes take that from its end of unknown outcome. In a log such an end tells what went wrong.
func (r *registers) mayHaveWritten(invoke *history.Op, e *event) error {
	if e.lone {
		r.stayedSilent(e.line)
		return nil
	}
	value, ok, err := r.unkeyed(invoke, e)
	if err != nil {
		return err
	}
	if ok {
		c, err := r.contentsOf(e, value)
		if err != nil {
			return err
		}
		if invoke.Reg.Value, err = r.text(e, c.value); err != nil {
			return err
		}
	}
	if invoke.Reg.Value == "" {
		r.stayedSilent(e.line)
	}
	return nil
}

// stayedSilent takes note of a write that never told what it writes. Knossos takes it for one of nil; but where others tell it
// afterwards, one of unknown outcome may have written anything.
func (r *registers) stayedSilent(line int) {
	if r.silent == 0 || line < r.silent {
		r.silent = line
	}
}

func (r *registers) finish() error {
	for _, o := range r.open {
		if op := &r.ops[o.at]; op.F == history.Put && op.Reg.Value == "" {
			r.stayedSilent(o.line)
		}
	}
	if r.told && r.silent > 0 {
		return hint.Add(
			problem(r.silent, 1, "a write of unknown outcome that never told what it wrote, where others tell it with their :ok"),
			"have the client put the value into the :invoke, or into the :info")
	}
	return nil
}

// unkeyed is what an end tells that need not tell anything, without the key that it may tell it with; ok is false if that is another key than
// was asked for.
func (r *registers) unkeyed(invoke *history.Op, e *event) (value any, ok bool, err error) {
	first, value, paired := pairOf(untagged(e.value))
	if !paired || !r.Independent && !r.model.keyed {
		return e.value, true, nil
	}
	key, err := r.text(e, first)
	return value, err == nil && key == invoke.Reg.Key, err
}

// contents are what a value tells of a register.
type contents struct {
	value    any
	revision uint64 // 0 where none is told
	first    bool   // it is the one of a register that nobody has written to
}

// contentsOf are what a value tells: where those are [revision value], what is no such pair is a value whose revision is not told.
func (r *registers) contentsOf(e *event, value any) (contents, error) {
	revision, rest, paired := pairOf(value)
	if !r.revisioned || !paired {
		return contents{value: value}, nil
	}
	n, ok := whole(revision)
	if (!ok || n < 0) && revision != nil {
		return contents{}, problem(e.line, e.column, "value %s: want [revision value]", short(value))
	}
	return contents{rest, uint64(n), ok && n == 0}, nil
}

// exchange makes a :cas that found another value, and told it, the read of that value. One that tells what it was asked for
// tells nothing; one that found what it takes, and failed, is at odds with itself.
func (r *registers) exchange(op, invoke *history.Op, e *event) error {
	asked := invoke.Reg
	value, ok, err := r.unkeyed(invoke, e)
	if err != nil || !ok || value == nil {
		return err
	}
	old, to, paired := pairOf(value) // [old new], with what it found for old
	if paired {
		written, err := r.text(e, to)
		if err != nil {
			return err
		}
		if paired = written == asked.Value; paired {
			value = old
		}
	}
	found, err := r.text(e, value)
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
