package jepsen

import (
	"fmt"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// fenced reads reads and writes of [token value]; and makes an acquisition of a lock that tells its token a write with it.
type fenced struct {
	*builder
	wrote  bool            // a resource was written to, not only locked
	owners map[string]bool // of the lock
}

func (f *fenced) read(op, invoke *history.Op, e *event) error {
	op.Node = "" // the server that was asked: clients share one, and one asks several
	switch e.f {
	case "read":
		return f.reads(op, e)
	case "write":
		return f.writes(op, invoke, e)
	case "acquire", "lock":
		return f.acquires(op, invoke, e)
	case "release", "unlock":
		return nil // it has no token: it tells nothing
	}
	return f.strange(e, ":read and :write, or :acquire and :release")
}

func (*fenced) finish() error { return nil }

// reads takes up a read of the resource.
func (f *fenced) reads(op *history.Op, e *event) error {
	op.F = history.Read
	if op.Type == history.OK && e.value == nil {
		op.Type = history.Fail // as of registers, a read of nil tells nothing
		return nil
	}
	if err := f.apart(e); err != nil {
		return err
	}
	return access(op, e, op.Type == history.OK)
}

// writes takes up a write to the resource: what was asked for counts.
func (f *fenced) writes(op, invoke *history.Op, e *event) error {
	op.F, f.wrote = history.Write, true
	if err := f.apart(e); err != nil {
		return err
	}
	if op.Type == history.OK {
		op.Access = invoke.Access
	}
	return access(op, e, op.Type == history.Invoke)
}

// acquires takes up an acquisition of the lock. Its token is known once it has ended.
func (f *fenced) acquires(op, invoke *history.Op, e *event) error {
	op.F, f.setup.Lock = history.Write, true
	f.acquirer(op, invoke, e)
	if err := f.apart(e); err != nil {
		return err
	}
	switch op.Type {
	case history.OK:
		token := e.value
		if m, ok := untagged(e.value).(edn.Map); ok {
			token, _ = m.Get(edn.Keyword("fence"))
		}
		t, ok := whole(token)
		if !ok || t < 0 {
			return problem(e.line, e.column, "value %s: want the fencing token of the lock, or {:fence token}", short(e.value))
		}
		op.Access = history.Access{Token: uint64(t), Value: t}
		invoke.Access = op.Access
	case history.Fail, history.Info:
		invoke.F, op.F = history.Read, history.Read // it had no token: it tells nothing
	}
	return nil
}

// apart returns an error where there are both a lock and a resource.
func (f *fenced) apart(e *event) error {
	if !f.setup.Lock || !f.wrote {
		return nil
	}
	return hint.Add(problem(e.line, e.column, ":f :%s: a lock is acquired and a resource written to, which may hear of a token long after the lock told it", e.f),
		"judge the acquisitions and the writes each by themselves")
}

// access gives an op what a value of [token value] tells, where that counts.
func access(op *history.Op, e *event, counts bool) error {
	token, value, paired := pairOf(untagged(e.value))
	if !paired && e.value != nil {
		return problem(e.line, e.column, "value %s: want [token value]", short(e.value))
	}
	if !counts {
		return nil
	}
	t, ok1 := whole(token)
	v, ok2 := whole(value)
	if !ok1 || !ok2 || t < 0 {
		return problem(e.line, e.column, "value %s: want [token value], two numbers", short(e.value))
	}
	op.Access = history.Access{Token: uint64(t), Value: v}
	return nil
}

// mostOwners is how many clients of a lock are told from one another: a history has room for so many names.
const mostOwners = 200

// acquirer names who acquires a lock that tells tokens, in place of the node that leads: the client that the value tells, or else the process.
// Of a process that first does something when another's outcome was unknown it may be the client that goes on under a new number: it has no name.
func (f *fenced) acquirer(op, invoke *history.Op, e *event) {
	owner := plain(client(e.value))
	switch {
	case owner == "" && invoke != nil:
		owner = invoke.Node
	case owner == "" && f.known[e.process]:
		owner = unnamed(op)
	}
	if owner != "" && (f.owners[owner] || len(f.owners) < mostOwners) {
		f.owners[owner] = true
		op.Node = owner
	}
	if invoke != nil {
		invoke.Node = op.Node // it may be known only now
	}
}

// unnamed is a client of which nothing is known but its process.
func unnamed(op *history.Op) string { return fmt.Sprintf("process %d", op.Process) }
