package specfile

import (
	"fmt"
	"slices"
	"strings"
	"text/template"

	"recount/election"
	"recount/internal/hint"
	"recount/internal/option"
)

// Voters are the nodes of which a leader takes a majority: those that are named, or those of which the template says
// true. The zero value is all nodes.
type Voters struct {
	Named []election.ID
	If    *template.Template
}

// all reports whether every node votes.
func (v *Voters) all() bool { return len(v.Named) == 0 && v.If == nil }

const votersWay = `voters: [n1, n2, n3], or a template that is true of those: voters: '{{le .ID 3}}'`

// readVoters reads who votes. It is read before all templates but its own, since they may ask.
func (s *Spec) readVoters(_ value, f map[string]value) (err error) {
	v, ok := f["voters"]
	if !ok {
		return nil
	}
	if texts, err := v.texts(); err == nil && len(texts) == 1 && strings.Contains(texts[0], "{{") {
		t, err := s.template(v.list()[0])
		if err != nil {
			return err
		}
		s.Voters.If = t
		example, err := s.example()
		if err != nil {
			return err
		}
		if _, err := example.votes(example.self); err != nil {
			return &fault{v.Line, v.Column, err}
		}
		return nil
	}
	for _, one := range v.list() {
		name, err := one.text()
		if err != nil {
			return err
		}
		id := numbered(name)
		switch {
		case id == election.None:
			return one.bad(votersWay, "voters: %q is no node", name)
		case slices.Contains(s.Voters.Named, id):
			return one.bad("leave one of them out", "voters: %s is named twice", name)
		}
		s.Voters.Named = append(s.Voters.Named, id)
	}
	if len(s.Voters.Named) == 0 {
		return v.bad(votersWay, "voters: nobody is named")
	}
	return nil
}

// numbered is the node of that name: 3 of n3.
func numbered(name string) (id election.ID) {
	if _, err := fmt.Sscanf(name, "n%d", &id); err != nil || id < 1 || id.String() != name {
		return election.None
	}
	return id
}

// votes reports whether a node does.
func (w words) votes(m election.Member) (bool, error) {
	v := &w.s.Voters
	if v.If == nil {
		return v.all() || slices.Contains(v.Named, m.ID), nil
	}
	w.self, w.polling = m, true
	text, err := w.render(v.If)
	if err != nil {
		return false, hint.Or(fmt.Errorf("voters: %s", plain(err)), err, votersWay)
	}
	switch strings.TrimSpace(text) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, hint.Add(fmt.Errorf("voters: of %s the template says %q, neither true nor false", m.Name, text), "%s", votersWay)
}

// voting returns the voters of a cluster of so many nodes.
func (s *Spec) voting(o option.Values, nodes int) (ids []election.ID, err error) {
	for _, id := range s.Voters.Named {
		if int(id) > nodes {
			return nil, hint.Add(fmt.Errorf("spec: voters: %v is none of %d nodes", id, nodes), "take %v or more", hint.Set("nodes", int(slices.Max(s.Voters.Named))))
		}
	}
	w := words{s: s, options: o, all: unplaced(nodes)}
	for _, m := range w.all {
		votes, err := w.votes(m)
		if err != nil {
			return nil, fmt.Errorf("spec: %w", err)
		}
		if votes {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		err := fmt.Errorf("spec: voters: the template says true of no node, of %d", nodes)
		const many = 9
		if nodes < many {
			if more, wrong := s.voting(o, many); wrong == nil {
				return nil, hint.Add(err, "take %v or more: it says true of %v", hint.Set("nodes", int(more[0])), more[0])
			}
		}
		return nil, hint.Add(err, votersWay)
	}
	return ids, nil
}
