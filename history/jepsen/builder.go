package jepsen

import (
	"fmt"
	"math"
	"time"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
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

// room returns an error where a history of as many ops as there are leaves no room for the op at that place.
func (b *builder) room(line, column int) error {
	if b.Memory > 0 && int64(len(b.ops)) > b.Memory/history.OpSize {
		return problem(line, column, "the first %d ops are all that fits into %d MiB of memory", len(b.ops)-1, b.Memory>>20)
	}
	return nil
}

// add takes the next event.
func (b *builder) add(e event) error {
	if err := b.room(e.line, e.column); err != nil {
		return err
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
