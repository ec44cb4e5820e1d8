package jepsen

import (
	"slices"
	"strings"

	"recount/history"
	"recount/history/edn"
)

// faults are what somebody else's nemesis did. Its ops are all :info: one when it sets out, one when it is done. What
// they are called is up to each test, so which of them begin a fault and which end one is told by custom:
// :start and :stop, :start-partition and :stop-partition, :kill and :start, :pause and :resume, :heal for all.
type faults struct {
	names  map[edn.Keyword]bool
	under  edn.Keyword // of the op under way
	begun  bool
	fs     []edn.Keyword // of each op, by its place in ops
	places []int
}

// fault takes note of an op that is no client's.
func (b *builder) fault(op history.Op, e *event) {
	op.Process = history.Nemesis
	if b.names == nil {
		b.names = map[edn.Keyword]bool{}
	}
	b.names[e.f] = true
	if b.begun && b.under != e.f { // the one before ended unsaid
		end := op
		end.Index, end.Type, end.Error, end.Fault = b.ops[b.places[len(b.places)-1]].Index, history.Info, "", nil
		b.note(end, b.under)
		b.begun = false
	}
	if op.Type = history.Invoke; b.begun {
		op.Type = history.OK
	}
	b.begun, b.under = !b.begun, e.f
	op.Fault = &history.Fault{Name: string(e.f)}
	if v := e.value; v != nil {
		op.Fault.Params = map[string]string{"value": short(v)}
	}
	b.note(op, e.f)
}

func (b *builder) note(op history.Op, f edn.Keyword) {
	if op.Fault == nil {
		op.Fault = &history.Fault{Name: string(f)}
	}
	op.F = history.Inject
	b.fs, b.places = append(b.fs, f), append(b.places, len(b.ops))
	b.ops = append(b.ops, op)
}

// settle decides which of the ops began faults and which ended them, once all are known.
func (b *builder) settle(ops []history.Op) {
	open := map[string]*history.Fault{}
	var order []string
	id := 0
	for k, f := range b.fs {
		op := &ops[b.places[k]]
		family, ends := b.family(f)
		if ends {
			if family == "" && len(order) > 0 {
				family = order[len(order)-1]
			}
			op.F = history.Heal
		}
		fault := open[family]
		if fault == nil {
			id++
			fault = &history.Fault{ID: id, Name: string(f)}
			open[family] = fault
			order = append(order, family)
		}
		op.Fault.ID, op.Fault.Name = fault.ID, fault.Name
		if ends && op.Type != history.Invoke {
			delete(open, family)
			order = slices.DeleteFunc(order, func(o string) bool { return o == family })
		}
	}
}

// family is what a fault and its end have in common, and whether f is its end.
func (b *builder) family(f edn.Keyword) (family string, ends bool) {
	name := string(f)
	switch name {
	case "start":
		if b.names["kill"] && !b.names["stop"] {
			return "kill", true // of the database
		}
		return "start", false
	case "stop":
		if b.names["start"] {
			return "start", true
		}
		return "", true
	case "resume", "cont":
		return "pause", true
	case "heal", "recover", "final-recover":
		return "", true
	case "reset", "reset-clock":
		return "clock", true
	case "bump", "bump-clock", "strobe", "strobe-clock", "scramble-clock":
		return "clock", false
	}
	for _, verb := range []string{"stop-", "heal-", "resume-", "end-"} {
		if what, ok := strings.CutPrefix(name, verb); ok {
			return what, true
		}
	}
	for _, verb := range []string{"start-", "begin-"} {
		if what, ok := strings.CutPrefix(name, verb); ok {
			return what, false
		}
	}
	return name, false
}
