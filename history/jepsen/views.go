package jepsen

import (
	"fmt"
	"maps"
	"slices"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// views reads what nodes said of the leader.
type views struct {
	*builder
	nodes map[string]bool // that were asked, and whether it is certain that these are nodes
	terms map[string]bool // those of them that have told a term
}

// usedBy are models whose objects are used by operations that nobody tells of a leader with.
var usedBy = map[edn.Keyword]string{
	"acquire": "mutex", "release": "mutex", "lock": "mutex", "unlock": "mutex",
	"write": "cas-register", "put": "cas-register", "cas": "cas-register", "txn": "multi-register",
}

func (v *views) read(op, invoke *history.Op, e *event) error {
	op.F = history.Observe
	if fits := usedBy[e.f]; fits != "" {
		return v.strange(e, fmt.Sprintf("what nodes say of the leader, and :%s is of the model %s", e.f, fits))
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
		v.nodes[op.Node] = v.nodes[op.Node] || e.node != ""
		return nil
	}
	if untagged(e.value) == nil {
		op.Type = history.Fail
		return nil
	}
	s, err := sayingOf(e)
	if err != nil {
		return err
	}
	if s.node != nil {
		op.Node = plain(s.node)
		invoke.Node = op.Node // who was asked is known only now
	}
	if e.node == "" && s.node == nil && op.Node == op.Process.String() && !v.nodes[op.Node] && !v.known[op.Process] {
		return hint.Add(problem(e.line, e.column, "process %d may go on for one whose outcome was unknown, and no :node tells whom it asked", op.Process),
			"tell the :node of each answer")
	}
	if op.View, err = s.view(op.Node, e); err != nil {
		return err
	}
	if s.term == nil && v.terms[op.Node] && op.View.Role != history.Leader {
		op.View.Role = history.UnknownRole // of such a node 0 is no term, and the one that it has was not told
	}
	v.setup.NoTerms = v.setup.NoTerms && op.View.Term == 0
	v.terms[op.Node] = v.terms[op.Node] || op.View.Term > 0
	if v.nodes[op.Node] = true; len(v.nodes) > 256 {
		return problem(e.line, e.column, "more than 256 nodes")
	}
	return nil
}

// finish tells the nodes, in the order in which they were asked.
func (v *views) finish() error {
	for i := range v.ops {
		if op := &v.ops[i]; v.nodes[op.Node] && op.F == history.Observe {
			v.nodes[op.Node] = false
			v.setup.Nodes = append(v.setup.Nodes, op.Node)
		}
	}
	return nil
}

// saying is what an answer tells; nil is what it leaves out.
type saying struct{ leader, term, role, node any }

// sayingOf reads [leader term], or a map.
func sayingOf(e *event) (s saying, err error) {
	value := untagged(e.value)
	m, ok := value.(edn.Map)
	if !ok {
		if s.leader, s.term, ok = pairOf(value); !ok {
			err = problem(e.line, e.column, "value %s: want [leader term], or a map with :leader, :term and :role", short(value))
		}
		return s, err
	}
	fields := map[string]*any{"leader": &s.leader, "term": &s.term, "role": &s.role, "node": &s.node}
	var others []string
	for _, p := range m {
		key := plain(p.Key) // a string, as JSON has it that nobody made keywords of
		if to := fields[key]; to != nil {
			*to = p.Value
			delete(fields, key)
		} else {
			others = append(others, key)
		}
	}
	if len(fields) == 4 {
		return s, problem(e.line, e.column, "value %s: want a map with :leader, :term and :role", short(m))
	}
	delete(fields, "node") // of others a value may tell the :nodes
	if s.term != nil && (s.role != nil || s.leader != nil) {
		others = nil // nothing is missing: they are the test's own
	}
	for _, key := range others {
		if meant := hint.Near(key, slices.Sorted(maps.Keys(fields))); meant != "" && len(key) > 2 {
			return s, hint.Add(problem(e.line, e.column, "value %s: :%s tells nothing", short(m), key), "did you mean :%s?", meant)
		}
	}
	return s, nil
}

// view is what is said, as the view of the node that said it.
func (s *saying) view(node string, e *event) (v history.View, err error) {
	if n, ok := whole(s.term); ok && n >= 0 {
		v.Term = uint64(n)
	} else if s.term != nil {
		return v, problem(e.line, e.column, "term %s: want a number that is not negative", short(s.term))
	}
	if _, ok := s.leader.(bool); ok {
		return v, problem(e.line, e.column, "leader %s: want who leads, by name", short(s.leader)) // whether this node does says :role
	}
	switch v.Leader = plain(s.leader); {
	case s.role != nil:
		if err := v.Role.UnmarshalText([]byte(plain(s.role))); err != nil {
			return v, problem(e.line, e.column, "%v", err)
		}
	case v.Leader == node && node != "":
		v.Role = history.Leader
	case v.Leader != "":
		v.Role = history.Follower
	}
	return v, nil
}
