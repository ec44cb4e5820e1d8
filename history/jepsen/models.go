package jepsen

import (
	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// Models are what histories may be about, and which properties of theirs are judged.
var Models = []Model{
	{Name: "register", About: "reads and writes of a register", registers: true},
	{Name: "cas-register", About: "a register with compare-and-set: :cas [old new]", registers: true},
	{Name: "compare-exchange-register", About: "a register whose :cas tells, when it :fail-s, what it found instead", registers: true},
	{Name: "revisioned-register", About: "a register whose values are [revision value], as etcd has them", registers: true},
	{Name: "revisioned-store", About: "registers whose revisions count the writes of the whole store: values are [key [revision value]]",
		registers: true, keyed: true},
	{Name: "multi-register", About: "a :txn reads and writes several registers: [[:read key value] [:write key value]]", registers: true, one: "store"},
	{Name: "mutex", About: "a lock: :acquire and :release"},
	{Name: "owned-mutex", About: "a lock that only who took it gives back: its process, or the {:client name} that it tells"},
	{Name: "fenced", About: "a resource with fencing tokens: values are [token value]; or a lock whose :acquire tells its token",
		Properties: []string{"fencing"}, one: "resource"},
	{Name: "leader", About: "who leads: values are [leader term], or {:role :leader, :term 3, :leader \"n1\"}",
		Properties: []string{"single-leader-per-term", "monotonic-term", "agreement"}, one: "election"},
}

func init() {
	for i := range Models {
		if m := &Models[i]; len(m.Properties) == 0 {
			m.Properties = []string{"linearizable"}
		}
	}
}

// Model is a kind of object that histories are about.
type Model struct {
	Name, About string
	Properties  []string // those that are judged
	registers   bool     // which may hold something at first
	keyed       bool     // its values are [key value]
	one         string   // what a history is of one of, so that it cannot be independent
}

// ModelOf returns the model that a history of somebody else's is about, none if it is one of Recount's.
func ModelOf(h *history.History) (Model, error) {
	if s := h.Setup(); s != nil && s.Model != "" {
		return FindModel(s.Model)
	}
	return Model{}, nil
}

// FindModel returns the model of a name.
func FindModel(name string) (Model, error) {
	var names []string
	for _, m := range Models {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, hint.Unknown("model", name, names)
}

// reader makes ops of what clients did, of one model.
type reader interface {
	// read makes an event an op, which has all by then that is the same in all models. invoke is the op that the event ends, nil where
	// it begins one. An op that is left without F is not recorded, and neither is its end.
	read(op, invoke *history.Op, e *event) error
	// finish adds what only the end of the history tells.
	finish() error
}

// reads is the reader of a model's operations.
func (m *Model) reads(b *builder) reader {
	switch m.Name {
	case "mutex", "owned-mutex":
		return &locks{builder: b, owned: m.Name == "owned-mutex", tells: map[history.Process]bool{}, began: map[history.Process]bool{}}
	case "fenced":
		return &fenced{builder: b, owners: map[string]bool{}}
	case "leader":
		return &views{builder: b, nodes: map[string]bool{}, terms: map[string]bool{}}
	case "multi-register":
		return transactions{b}
	}
	return &registers{
		builder: b, swaps: m.Name != "register", exchanges: m.Name == "compare-exchange-register",
		revisioned: m.Name == "revisioned-register" || m.Name == "revisioned-store",
	}
}

// strange is the error of an operation that a model does not have.
func (b *builder) strange(e *event, want string) error {
	return problem(e.line, e.column, ":f :%s: the model %s takes %s", e.f, b.model.Name, want)
}

// keyedUnasked is the error of an operation that is asked for a key, where nobody said that there are several objects.
func (b *builder) keyedUnasked(e *event, what string) error {
	way := "say --independent if values are [key value]"
	if b.Model == "" {
		way += ", or else say with --model what the operations are on"
	}
	return hint.Add(problem(e.line, e.column, "value %s: %s is asked for a key, as in an independent history", short(e.value), what), "%s", way)
}

// pairOf takes a value of two apart.
func pairOf(v any) (first, second any, ok bool) {
	if pair, is := edn.Items(v); is && len(pair) == 2 {
		return pair[0], pair[1], true
	}
	return nil, nil, false
}
