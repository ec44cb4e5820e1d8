package jepsen

import (
	"fmt"
	"maps"
	"slices"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// How an event becomes an op of each of the models. Registers and transactions are in registers.go.

// convert makes an event of a client an op of the model's. invoke is the op that it ends.
func (b *builder) convert(op, invoke *history.Op, e *event) (skip bool, err error) {
	switch b.model.Name {
	case "mutex", "owned-mutex":
		return false, b.lock(op, invoke, e)
	case "fenced":
		return b.fenced(op, invoke, e)
	case "leader":
		return false, b.view(op, invoke, e)
	case "multi-register":
		return false, b.txn(op, invoke, e)
	}
	return false, b.register(op, invoke, e)
}

func (b *builder) strange(e *event, want string) error {
	return problem(e.line, e.column, ":f :%s: the model %s takes %s", e.f, b.model.Name, want)
}

func (b *builder) lock(op, invoke *history.Op, e *event) (err error) {
	switch e.f {
	case "acquire", "lock":
		op.F = history.Acquire
	case "release", "unlock":
		op.F = history.Release
	default:
		return b.strange(e, ":acquire and :release")
	}
	if b.model.Name == "owned-mutex" {
		if err := b.named(op, invoke, e); err != nil {
			return err
		}
	}
	if op.Type != history.Invoke && op.Type != history.OK {
		return nil
	}
	if pair, ok := edn.Items(untagged(e.value)); ok && len(pair) == 2 && pair[1] == nil && !b.Independent {
		return b.keyedUnasked(e, "a lock")
	}
	r := history.Register{Key: e.object}
	if b.model.Name == "owned-mutex" {
		if r.Value, err = b.owner(invoke, e); err != nil {
			return err
		}
	}
	if r != (history.Register{}) {
		op.Reg = &r
	}
	return nil
}

// owner is who takes a lock or gives it back: the client that the value tells, or else the process.
func (b *builder) owner(invoke *history.Op, e *event) (string, error) {
	if v := client(e.value); v != nil {
		return b.text(e, v)
	}
	if invoke != nil && invoke.Reg != nil {
		return invoke.Reg.Value, nil
	}
	return e.process.String(), nil
}

// named returns an error where a process tells for whom it uses a lock, and of another use does not: the two would be of two owners, unless
// whom it tells is called as the process is.
func (b *builder) named(op, invoke *history.Op, e *event) error {
	told := client(e.value) != nil
	if op.Type == history.Invoke {
		b.began[e.process] = told
		return nil
	}
	owner, err := b.owner(invoke, e)
	tells := owner != e.process.String()
	if err != nil || op.Type == history.Fail || !tells && (told || b.began[e.process]) {
		return err
	}
	if told, before := b.tells[e.process]; before && told != tells {
		return hint.Add(problem(e.line, e.column, "process %d tells of some of its operations for which client they are, and of others not", e.process),
			"tell the {:client name} of each, or of none")
	}
	b.tells[e.process] = tells
	return nil
}

// client is whom a value says that it is of; nil if it tells nobody.
func client(value any) any {
	m, _ := untagged(value).(edn.Map)
	for _, key := range []edn.Keyword{"client", "owner"} {
		if v, ok := m.Get(key); ok && v != nil {
			return v
		}
	}
	return nil
}

// fenced makes reads and writes of [token value], and of an acquisition that tells its token a write with it.
func (b *builder) fenced(op, invoke *history.Op, e *event) (skip bool, err error) {
	switch e.f {
	case "read":
		op.F = history.Read
	case "write":
		op.F = history.Write
	case "acquire", "lock":
		op.F = history.Write
	case "release", "unlock":
		return true, nil
	default:
		return false, b.strange(e, ":read and :write, or :acquire and :release")
	}
	if e.f == "read" && op.Type == history.OK && e.value == nil {
		op.Type = history.Fail // as of registers, a read of nil tells nothing
		return false, nil
	}
	acquired := e.f != "read" && e.f != "write"
	op.Node = "" // the server that was asked: clients share one, and one asks several
	if acquired {
		b.acquirer(op, invoke, e)
	}
	b.wrote = b.wrote || e.f == "write"
	if b.setup.Lock = b.setup.Lock || acquired; b.setup.Lock && b.wrote {
		return false, hint.Add(problem(e.line, e.column, ":f :%s: a lock is acquired and a resource written to, which may hear of a token long after the lock told it", e.f),
			"judge the acquisitions and the writes each by themselves")
	}
	token, value := e.value, e.value
	if m, ok := untagged(e.value).(edn.Map); ok && acquired {
		token, _ = m.Get(edn.Keyword("fence"))
		value = token
	} else if !acquired {
		if pair, ok := edn.Items(untagged(e.value)); ok && len(pair) == 2 {
			token, value = pair[0], pair[1]
		} else if e.value != nil {
			return false, problem(e.line, e.column, "value %s: want [token value]", short(e.value))
		}
	}
	t, ok1 := whole(token)
	v, ok2 := whole(value)
	told := op.Type == history.OK || op.Type == history.Invoke && e.f == "write"
	switch {
	case !told:
	case acquired && (!ok1 || t < 0):
		return false, problem(e.line, e.column, "value %s: want the fencing token of the lock, or {:fence token}", short(e.value))
	case e.f == "write" && op.Type == history.OK: // what was asked for
		op.Access = invoke.Access
	case !ok1 || !ok2 || t < 0:
		return false, problem(e.line, e.column, "value %s: want [token value], two numbers", short(e.value))
	default:
		op.Access = history.Access{Token: uint64(t), Value: v}
	}
	if acquired && op.Type == history.OK {
		invoke.Access = op.Access // known only now
	}
	if acquired && (op.Type == history.Fail || op.Type == history.Info) {
		invoke.F, op.F = history.Read, history.Read // it had no token: it tells nothing
	}
	return false, nil
}

// mostOwners is how many clients of a lock are told from one another: a history has room for so many names.
const mostOwners = 200

// acquirer names who acquires a lock that tells tokens, in place of the node that leads: the client that the value tells, or else the process.
// Of a process that first does something when another's outcome was unknown it may be the client that goes on under a new number: it has no name.
func (b *builder) acquirer(op, invoke *history.Op, e *event) {
	owner := plain(client(e.value))
	switch {
	case owner == "" && invoke != nil:
		owner = invoke.Node
	case owner == "" && b.known[e.process]:
		owner = unnamed(op)
	}
	if owner != "" && (b.owners[owner] || len(b.owners) < mostOwners) {
		b.owners[owner] = true
		op.Node = owner
	}
	if invoke != nil {
		invoke.Node = op.Node // it may be known only now
	}
}

// usedBy are models whose objects are used by operations that nobody tells of a leader with.
var usedBy = map[edn.Keyword]string{
	"acquire": "mutex", "release": "mutex", "lock": "mutex", "unlock": "mutex",
	"write": "cas-register", "put": "cas-register", "cas": "cas-register", "txn": "multi-register",
}

// unnamed is a client of which nothing is known but its process.
func unnamed(op *history.Op) string { return fmt.Sprintf("process %d", op.Process) }

// view makes what somebody said of the leader an observation.
func (b *builder) view(op, invoke *history.Op, e *event) error {
	op.F = history.Observe
	if fits := usedBy[e.f]; fits != "" {
		return b.strange(e, fmt.Sprintf("what nodes say of the leader, and :%s is of the model %s", e.f, fits))
	}
	switch {
	case op.Node == "" && invoke != nil:
		op.Node = invoke.Node
	case op.Node == "":
		op.Node = op.Process.String() // which is the node, and may be named so
	case invoke != nil:
		invoke.Node = op.Node // who was asked is known only now
	}
	if op.Type != history.OK {
		b.nodes[op.Node] = b.nodes[op.Node] || e.node != ""
		return nil
	}
	v := &op.View
	var leader, term, role, node any
	switch value := untagged(e.value).(type) {
	case nil:
		op.Type = history.Fail
		return nil
	case edn.Map:
		fields := map[string]*any{"leader": &leader, "term": &term, "role": &role, "node": &node}
		var others []string
		for _, p := range value {
			key := plain(p.Key) // a string, as JSON has it that nobody made keywords of
			if to := fields[key]; to != nil {
				*to = p.Value
				delete(fields, key)
			} else {
				others = append(others, key)
			}
		}
		if len(fields) == 4 {
			return problem(e.line, e.column, "value %s: want a map with :leader, :term and :role", short(value))
		}
		delete(fields, "node") // of others a value may tell the :nodes
		if term != nil && (role != nil || leader != nil) {
			others = nil // nothing is missing: they are the test's own
		}
		for _, key := range others {
			if meant := hint.Near(key, slices.Sorted(maps.Keys(fields))); meant != "" && len(key) > 2 {
				return hint.Add(problem(e.line, e.column, "value %s: :%s tells nothing", short(value), key), "did you mean :%s?", meant)
			}
		}
		if node != nil {
			op.Node = plain(node)
			invoke.Node = op.Node // who was asked is known only now
		}
	default:
		pair, ok := edn.Items(value)
		if !ok || len(pair) != 2 {
			return problem(e.line, e.column, "value %s: want [leader term], or a map with :leader, :term and :role", short(value))
		}
		leader, term = pair[0], pair[1]
	}
	if e.node == "" && node == nil && op.Node == op.Process.String() && !b.nodes[op.Node] && !b.known[op.Process] {
		return hint.Add(problem(e.line, e.column, "process %d may go on for one whose outcome was unknown, and no :node tells whom it asked", op.Process),
			"tell the :node of each answer")
	}
	if n, ok := whole(term); ok && n >= 0 {
		v.Term = uint64(n)
	} else if term != nil {
		return problem(e.line, e.column, "term %s: want a number that is not negative", short(term))
	}
	if _, ok := leader.(bool); ok {
		return problem(e.line, e.column, "leader %s: want who leads, by name", short(leader)) // whether this node does says :role
	}
	b.setup.NoTerms = b.setup.NoTerms && v.Term == 0
	switch v.Leader = plain(leader); {
	case role != nil:
		if err := v.Role.UnmarshalText([]byte(plain(role))); err != nil {
			return problem(e.line, e.column, "%v", err)
		}
	case v.Leader == op.Node && v.Leader != "":
		v.Role = history.Leader
	case v.Leader != "":
		v.Role = history.Follower
	}
	if term == nil && b.terms[op.Node] && v.Role != history.Leader {
		v.Role = history.UnknownRole // of such a node 0 is no term, and the one that it has was not told
	}
	b.terms[op.Node] = b.terms[op.Node] || v.Term > 0
	b.nodes[op.Node] = true
	if len(b.nodes) > 256 {
		return problem(e.line, e.column, "more than 256 nodes")
	}
	return nil
}
