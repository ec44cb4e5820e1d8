package jepsen

import (
	"cmp"
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
	model  Model
	reader reader // of the model
	ops    []history.Op
	since  time.Duration // what times are since, as the events have them
	last   time.Duration
	index  int64 // the last that was given; -1 before
	setup  *history.Setup
	open   map[history.Process]begun
	faults
	own   bool // it is one of Recount's, in EDN
	lines bool // it is in EDN, op after op, so that nothing tells where it ends
	cut   bool // it was cut off

	known   map[history.Process]bool // clients by their processes, but for those that may go on for one that crashed
	crashed bool                     // some outcome is unknown
}

// begun is an operation under way.
type begun struct {
	f    edn.Keyword
	line int
	at   int // in ops; -1 if it is not recorded
}

func newBuilder(o Options) *builder {
	b := &builder{Options: o, setup: &history.Setup{NoTerms: true}, index: -1, open: map[history.Process]begun{}, known: map[history.Process]bool{}}
	b.ops = append(b.ops, history.Op{Index: -1, Process: history.Harness, Type: history.OK, F: history.Begin, Setup: b.setup})
	return b
}

// pace is how far apart events are taken to be that have no time.
const pace = time.Millisecond

// at returns when an event was. Jepsen's order is that of the history: what stands later was later.
func (b *builder) at(e *event) time.Duration {
	if e.time < 0 {
		b.setup.Untimed = true
		b.last += pace
	} else {
		if b.since == 0 && e.time >= history.Longest { // since 1970, and not since a test began
			b.since = e.time
		}
		b.last = max(e.time-b.since, b.last+1)
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
	if e.index >= 0 && e.index <= b.index {
		return problem(e.line, e.column, ":index %d after :index %d: want each to be larger than those before", e.index, b.index)
	}
	b.index = max(b.index, e.index)
	op := history.Op{Index: int(e.index), Time: b.at(&e), Type: e.kind, Node: e.node, Error: e.problem}
	if e.index < 0 {
		op.Index = len(b.ops) - 1
	}
	op.Process = e.process
	if op.Process == history.Nemesis {
		b.fault(op, &e)
		return nil
	}
	began, err := b.follows(&op, &e)
	if err != nil || began.at < 0 { // what is left out is so with its end
		return err
	}
	if b.reader == nil {
		if err := b.choose(&e); err != nil {
			return err
		}
	}
	var invoke *history.Op
	if op.Type != history.Invoke {
		invoke = &b.ops[began.at]
	}
	if err := b.keyed(op.Type, invoke, &e); err != nil {
		return err
	}
	if err := b.reader.read(&op, invoke, &e); err != nil {
		return err
	}
	if op.F != "" {
		b.ops = append(b.ops, op)
	} else if op.Type == history.Invoke {
		b.open[op.Process] = begun{e.f, e.line, -1}
	}
	return nil
}

// follows takes note of an operation that begins or ends, and returns it as it began.
func (b *builder) follows(op *history.Op, e *event) (began begun, err error) {
	if _, before := b.known[op.Process]; !before {
		b.known[op.Process] = !b.crashed
	}
	b.crashed = b.crashed || op.Type == history.Info
	began, busy := b.open[op.Process]
	switch {
	case op.Type == history.Invoke && busy:
		return began, problem(e.line, e.column, "process %d invokes :%s before its :%s of line %d has ended", e.process, e.f, began.f, began.line)
	case op.Type == history.Invoke:
		began = begun{e.f, e.line, len(b.ops)}
		b.open[op.Process] = began
	case !busy || began.f != e.f:
		return began, problem(e.line, e.column, "process %d ends :%s, and has none under way", e.process, e.f)
	default:
		delete(b.open, op.Process)
	}
	return began, nil
}

// keyed takes the key of the object from a value, where there are several of them.
func (b *builder) keyed(t history.Type, invoke *history.Op, e *event) error {
	if t != history.Invoke && t != history.OK {
		return nil
	}
	if b.Independent || b.model.keyed && e.key == nil {
		key, value, ok := pairOf(untagged(e.value))
		if !ok {
			return problem(e.line, e.column, "value %s: want [key value], as %s has it", short(e.value), b.keyedBy())
		}
		e.key, e.value = key, value
	}
	if e.key == nil || b.model.one != "" { // then a :key is the test's own
		return nil
	}
	return b.object(invoke, e)
}

// object finds which object an event is of. An end that tells of another than was asked for is an error.
func (b *builder) object(invoke *history.Op, e *event) (err error) {
	if e.object, err = b.text(e, e.key); err != nil || invoke == nil {
		return err
	}
	asked := ""
	if invoke.Reg != nil {
		asked = invoke.Reg.Key
	}
	if e.object != asked {
		return problem(e.line, e.column, "process %d ends :%s of key %s, and had invoked that of %s", e.process, e.f, short(e.key), cmp.Or(asked, "none"))
	}
	return nil
}

// keyedBy says why values have keys.
func (b *builder) keyedBy() string {
	if b.model.keyed {
		return "the model " + b.model.Name
	}
	return "an independent history"
}

// choose finds the model that the first operation belongs to.
func (b *builder) choose(e *event) error {
	name := b.Model
	if name == "" {
		switch e.f {
		case "txn":
			name = "multi-register"
		case "read", "write", "cas", "get", "put":
			name = "cas-register"
		case "acquire", "release", "lock", "unlock":
			name = "mutex"
		default:
			return hint.Add(problem(e.line, e.column, "no model is known for :f :%s", e.f), "say with --model what the operations are on")
		}
	}
	if err := b.reads(name); err != nil {
		return err
	}
	if b.Independent && b.model.one != "" {
		return problem(e.line, e.column, "the model %s is of one %s: it cannot be independent", name, b.model.one)
	}
	return nil
}

// reads has operations read as those of a model.
func (b *builder) reads(model string) (err error) {
	if b.model, err = FindModel(model); err == nil {
		b.reader = b.model.reads(b)
	}
	return err
}

// end is the last op. A history that is written op after op may have been cut off between two of them; nothing tells but
// the operations that never ended, which Jepsen sees to.
func (b *builder) end(index int) history.Op {
	end := history.Op{Index: index, Time: b.last + 1, Process: history.Harness, Type: history.OK, F: history.End}
	if b.lines && len(b.open) > 0 {
		end.Type = history.Info
		end.Error = fmt.Sprintf("nothing closes it, and %d of its operations never ended: if it is whole, put it between [ and ]", len(b.open))
	}
	return end
}

// history returns what was built.
func (b *builder) history() (*history.History, Model, error) {
	if b.own {
		return b.finished()
	}
	if b.reader == nil { // no client did anything
		if err := b.reads(cmp.Or(b.Model, "cas-register")); err != nil {
			return nil, Model{}, err
		}
	}
	if err := b.begin(); err != nil {
		return nil, Model{}, err
	}
	if err := b.reader.finish(); err != nil {
		return nil, Model{}, err
	}
	b.setup.Model, b.setup.OneCount = b.model.Name, b.model.Name == "revisioned-store"
	b.settle(b.ops)
	index := 0
	for i := range b.ops {
		index = max(index, b.ops[i].Index+1)
	}
	if !b.cut {
		b.ops = append(b.ops, b.end(index))
	}
	if len(b.ops) > math.MaxInt32 {
		return nil, Model{}, fmt.Errorf("more than %d ops", math.MaxInt32)
	}
	h, err := history.New(b.ops)
	return h, b.model, err
}

// finished returns one of Recount's own histories, with the model of somebody else's that it was made of.
func (b *builder) finished() (h *history.History, m Model, err error) {
	if h, err = history.New(b.ops); err != nil {
		return nil, Model{}, err
	}
	m, err = ModelOf(h)
	return h, m, err
}
