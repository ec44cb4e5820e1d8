package foreign

import (
	"fmt"
	"math"
	"time"

	"recount/edn"
	"recount/hint"
	"recount/history"
)

// builder makes a history of events.
type builder struct {
	Options
	model Model
	ops   []history.Op
	last  time.Duration
	nodes map[string]bool
	setup *history.Setup
	open  map[history.Process]begun
	faults
	own bool // it is one of Recount's, in EDN
}

// begun is an operation under way.
type begun struct {
	f    edn.Keyword
	line int
	at   int // in ops
}

func newBuilder(o Options) *builder {
	b := &builder{Options: o, nodes: map[string]bool{}, setup: &history.Setup{NoTerms: true}, open: map[history.Process]begun{}}
	b.ops = append(b.ops, history.Op{Index: -1, Process: history.Harness, Type: history.OK, F: history.Begin, Setup: b.setup})
	return b
}

// pace is how far apart events are taken to be that have no time.
const pace = time.Millisecond

// at returns when an event was. Jepsen's order is that of the history: what stands later was later.
func (b *builder) at(e *event) time.Duration {
	if e.time < 0 {
		b.last += pace
	} else {
		b.last = max(e.time, b.last+1)
	}
	return b.last
}

func (b *builder) add(e event) error {
	if b.Memory > 0 && int64(len(b.ops)) > b.Memory/history.OpSize {
		return problem(e.line, e.column, "the first %d ops are all that fits into %d MiB of memory", len(b.ops)-1, b.Memory>>20)
	}
	op := history.Op{Index: int(e.index), Time: b.at(&e), Type: e.kind, Node: e.node, Error: e.problem}
	if e.index < 0 {
		op.Index = len(b.ops) - 1
	}
	n, client := e.process.(int64)
	if !client {
		b.fault(op, &e)
		return nil
	}
	op.Process = history.Process(n)
	began, busy := b.open[op.Process]
	switch {
	case op.Type == history.Invoke && busy:
		return problem(e.line, e.column, "process %d invokes :%s before its :%s of line %d has ended", n, e.f, began.f, began.line)
	case op.Type == history.Invoke:
		b.open[op.Process] = begun{e.f, e.line, len(b.ops)}
	case !busy || began.f != e.f:
		return problem(e.line, e.column, "process %d ends a :%s that it never invoked", n, e.f)
	default:
		delete(b.open, op.Process)
	}
	if b.model.Name == "" {
		if err := b.choose(&e); err != nil {
			return err
		}
	}
	if b.Independent && (op.Type == history.Invoke || op.Type == history.OK) {
		pair, ok := edn.Items(e.value)
		if !ok || len(pair) != 2 {
			return problem(e.line, e.column, "value %s: want [key value], as independent histories have it", short(e.value))
		}
		e.key, e.value = pair[0], untagged(pair[1])
	}
	var invoke *history.Op
	if op.Type != history.Invoke {
		if began.at < 0 { // left out, and so is its end
			return nil
		}
		invoke = &b.ops[began.at]
	}
	skip, err := b.convert(&op, invoke, &e)
	if err == nil && !skip {
		b.ops = append(b.ops, op)
	}
	if skip && op.Type == history.Invoke {
		b.open[op.Process] = begun{e.f, e.line, -1}
	}
	return err
}

// choose finds the model that the first operation belongs to.
func (b *builder) choose(e *event) (err error) {
	name := b.Model
	if name == "" {
		switch e.f {
		case "read", "write", "cas", "get", "put":
			name = "cas-register"
		case "acquire", "release", "lock", "unlock":
			name = "mutex"
		default:
			return hint.Add(problem(e.line, e.column, "no model is known for :f :%s", e.f), "say with --model what the operations are on")
		}
	}
	b.model, err = FindModel(name)
	return err
}

// convert makes an event of a client an op of the model's. invoke is the op that it ends.
func (b *builder) convert(op, invoke *history.Op, e *event) (skip bool, err error) {
	switch b.model.Name {
	case "mutex":
		return false, b.lock(op, e)
	case "fenced":
		return b.fenced(op, invoke, e)
	case "leader":
		return false, b.view(op, e)
	}
	return false, b.register(op, invoke, e)
}

func (b *builder) strange(e *event, want string) error {
	return problem(e.line, e.column, ":f :%s: the model %s takes %s", e.f, b.model.Name, want)
}

func (b *builder) register(op, invoke *history.Op, e *event) error {
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
	if op.Type != history.Invoke && op.Type != history.OK {
		return nil
	}
	r := &history.Register{}
	value := e.value
	if b.model.Name == "revisioned-register" {
		if pair, ok := edn.Items(value); ok && len(pair) == 2 {
			if n, ok := pair[0].(int64); ok && n >= 0 {
				r.Revision = uint64(n)
			} else if pair[0] != nil {
				return problem(e.line, e.column, "value %s: want [revision value]", short(value))
			}
			value = pair[1]
		}
	}
	if e.key != nil {
		r.Key = edn.Text(e.key)
	}
	switch {
	case op.F == history.Get && op.Type == history.OK:
		if value == nil && !e.lone && r.Revision == 0 {
			return nil // in Knossos's models a read of nil tells nothing
		}
		r.Value = textOf(value)
	case op.F == history.Get:
	case op.Type == history.OK: // what was asked for has happened
		r.Key, r.Old, r.Value = invoke.Reg.Key, invoke.Reg.Old, invoke.Reg.Value
	case op.F == history.CAS:
		pair, ok := edn.Items(value)
		if !ok || len(pair) != 2 {
			return problem(e.line, e.column, "value %s: want [old new]", short(value))
		}
		r.Old, r.Value = textOf(pair[0]), textOf(pair[1])
	default:
		r.Value = textOf(value)
	}
	op.Reg = r
	return nil
}

// textOf is a value as the history has it: nothing is "".
func textOf(v any) string {
	if v == nil {
		return ""
	}
	return edn.Text(v)
}

func (b *builder) lock(op *history.Op, e *event) error {
	switch e.f {
	case "acquire", "lock":
		op.F = history.Acquire
	case "release", "unlock":
		op.F = history.Release
	default:
		return b.strange(e, ":acquire and :release")
	}
	if e.key != nil && (op.Type == history.Invoke || op.Type == history.OK) {
		op.Reg = &history.Register{Key: edn.Text(e.key)}
	}
	return nil
}

// fenced makes reads and writes of [token value], and of an acquisition that tells its token a write with it.
func (b *builder) fenced(op, invoke *history.Op, e *event) (skip bool, err error) {
	if b.Independent {
		return false, problem(e.line, e.column, "the model fenced is of one resource: it cannot be independent")
	}
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
	acquired := e.f != "read" && e.f != "write"
	token, value := e.value, e.value
	if m, ok := e.value.(edn.Map); ok && acquired {
		token, _ = m.Get(edn.Keyword("fence"))
		value = token
	} else if !acquired {
		if pair, ok := edn.Items(e.value); ok && len(pair) == 2 {
			token, value = pair[0], pair[1]
		} else if e.value != nil {
			return false, problem(e.line, e.column, "value %s: want [token value]", short(e.value))
		}
	}
	t, ok1 := token.(int64)
	v, ok2 := value.(int64)
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

// view makes what somebody said of the leader an observation.
func (b *builder) view(op *history.Op, e *event) error {
	op.F = history.Observe
	if op.Node == "" {
		op.Node = fmt.Sprintf("process %d", op.Process)
	}
	if op.Type != history.OK {
		b.nodes[op.Node] = b.nodes[op.Node] || e.node != ""
		return nil
	}
	v := &op.View
	var leader, term, role any
	switch value := e.value.(type) {
	case nil:
		op.Type = history.Fail
		return nil
	case edn.Map:
		leader, _ = value.Get(edn.Keyword("leader"))
		term, _ = value.Get(edn.Keyword("term"))
		role, _ = value.Get(edn.Keyword("role"))
		if node, ok := value.Get(edn.Keyword("node")); ok {
			op.Node = plain(node)
		}
	default:
		pair, ok := edn.Items(value)
		if !ok || len(pair) != 2 {
			return problem(e.line, e.column, "value %s: want [leader term], or a map with :leader, :term and :role", short(value))
		}
		leader, term = pair[0], pair[1]
	}
	if n, ok := term.(int64); ok && n >= 0 {
		v.Term = uint64(n)
	} else if term != nil {
		return problem(e.line, e.column, "term %s: want a number that is not negative", short(term))
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
	b.nodes[op.Node] = true
	if len(b.nodes) > 256 {
		return problem(e.line, e.column, "more than 256 nodes")
	}
	return nil
}

// history returns what was built.
func (b *builder) history() (*history.History, Model, error) {
	if b.own {
		h, err := history.New(b.ops)
		return h, Model{}, err
	}
	if b.model.Name == "" { // no client did anything
		name := b.Model
		if name == "" {
			name = "cas-register"
		}
		var err error
		if b.model, err = FindModel(name); err != nil {
			return nil, Model{}, err
		}
	}
	b.settle(b.ops)
	index := 0
	for i := range b.ops {
		index = max(index, b.ops[i].Index+1)
		if op := &b.ops[i]; b.nodes[op.Node] && op.F == history.Observe {
			b.nodes[op.Node] = false
			b.setup.Nodes = append(b.setup.Nodes, op.Node)
		}
	}
	b.ops = append(b.ops, history.Op{Index: index, Time: b.last + 1, Process: history.Harness, Type: history.OK, F: history.End})
	if len(b.ops) > math.MaxInt32 {
		return nil, Model{}, fmt.Errorf("more than %d ops", math.MaxInt32)
	}
	h, err := history.New(b.ops)
	return h, b.model, err
}
