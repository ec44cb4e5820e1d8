package specfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"recount/election"
	"recount/internal/hint"
)

// reader reads a node's view out of its answer.
type reader struct {
	*Spec
	words
	names map[string]election.ID // what nodes may be called
}

func (s *Spec) reader(w words) (*reader, error) {
	r := &reader{Spec: s, words: w, names: map[string]election.ID{}}
	for _, m := range w.all {
		own := words{s: s, options: w.options, self: m, all: w.all}
		called, err := own.renderAll(s.Observe.Identifies)
		if err != nil {
			return nil, err
		}
		if len(called) == 0 {
			called = []string{m.Name, strconv.Itoa(int(m.ID)), m.Addr.String()}
			for _, port := range s.Ports {
				at := net.JoinHostPort(m.Addr.String(), strconv.Itoa(port))
				called = append(called, at, "http://"+at, "https://"+at, m.Name+":"+strconv.Itoa(port))
			}
		}
		for _, name := range called {
			r.names[name] = m.ID
		}
	}
	return r, nil
}

// who is the node that an answer calls so.
func (r *reader) who(called string) (election.ID, error) {
	if id, ok := r.names[called]; ok { // before nobody: a node may be called 0
		return id, nil
	}
	if slices.Contains(r.Observe.Nobody, called) {
		return election.None, nil
	}
	err := fmt.Errorf("leader %q is none of the nodes", called)
	return election.None, hint.Add(err, "leader: {named: …} says what the server calls a node; it would be one of %s",
		strings.Join(slices.Sorted(maps.Keys(r.names)), ", "))
}

// view reads an answer.
func (r *reader) view(answer []byte) (election.Status, error) {
	get, err := r.getter(answer)
	if err != nil {
		return election.Status{}, err
	}
	ob := &r.Observe
	var st election.Status
	if ob.Term.Given() {
		text, err := get(ob.Term)
		if err != nil {
			return st, err
		}
		if st.Term, err = parseTerm(text); err != nil {
			return st, err
		}
	}
	if ob.Leader.Given() {
		called, err := get(ob.Leader)
		if left := absent(""); errors.As(err, &left) { // as encoders do that leave out what is empty
			called, err = "", nil
		}
		if err != nil {
			return st, err
		}
		if st.Leader, err = r.who(called); err != nil {
			return st, err
		}
	}
	if !ob.Role.Given() {
		if st.Leader == r.self.ID {
			st.Role = election.Leader
		}
		return st, nil
	}
	word, err := get(ob.Role)
	if err != nil {
		return st, err
	}
	switch {
	case slices.Contains(ob.Leads, word):
		st.Role, st.Leader = election.Leader, r.self.ID
	case slices.Contains(ob.Campaigns, word):
		st.Role = election.Candidate
	case len(ob.Follows) > 0 && !slices.Contains(ob.Follows, word):
		err := fmt.Errorf("role %q is none of leader, candidate and follower", word)
		return st, hint.Add(err, "role: {at: …, follower: [%s, %s]}", strings.Join(ob.Follows, ", "), word)
	}
	return st, nil
}

// parseTerm reads a term; one that is not there is 0.
func parseTerm(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	term, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("term %q is no number", text)
	}
	return term, nil
}

// getter returns what finds fields in an answer.
func (r *reader) getter(answer []byte) (func(Field) (string, error), error) {
	ob := &r.Observe
	switch {
	case ob.Metrics:
		samples, err := parseSamples(string(answer))
		return func(f Field) (string, error) { return f.Metric.find(samples) }, err
	case ob.Match != nil:
		m := ob.Match.FindStringSubmatch(string(answer))
		if m == nil {
			return nil, fmt.Errorf("match finds nothing in the answer %q", clip(answer))
		}
		return func(f Field) (string, error) { return group(ob.Match, m, f.Group), nil }, nil
	}
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return nil, fmt.Errorf("the answer %q is no JSON: %w", clip(answer), err)
	}
	return func(f Field) (string, error) { return f.Path.find(root) }, nil
}

// line reads the view that a line of a node's log announces.
func (r *reader) line(text string) (election.Status, bool) {
	for _, l := range r.Observe.Logs {
		m := l.Match.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		st := election.Status{Role: l.Role}
		var err error
		if st.Term, err = parseTerm(group(l.Match, m, "term")); err != nil {
			return election.Status{}, false
		}
		if st.Leader, err = r.who(group(l.Match, m, "leader")); err != nil {
			return election.Status{}, false
		}
		if l.Role == election.Leader {
			st.Leader = r.self.ID
		}
		return st, true
	}
	return election.Status{}, false
}

func clip(b []byte) string {
	const most = 200
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
