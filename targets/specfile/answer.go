package specfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"recount/election"
	"recount/internal/hint"
	"recount/internal/term"
)

// reader reads a node's view out of its answer.
type reader struct {
	*Spec
	words
	names     map[string]election.ID // what nodes are called
	directory *directory             // and what they call themselves

	mu    sync.Mutex
	roles map[string]int // the words that were read where a role is told, and how often
}

func (s *Spec) reader(w words, d *directory) (*reader, error) {
	names, err := s.namesOf(w)
	return &reader{Spec: s, words: w, names: names, directory: d, roles: map[string]int{}}, err
}

// view reads an answer. An error quotes it.
func (r *reader) view(answer []byte) (election.Status, error) {
	get, err := r.getter(answer)
	if err != nil {
		return election.Status{}, err
	}
	st, err := r.fields(brief(get))
	if err == nil {
		return st, nil
	}
	ob := &r.Observe
	err = meaning(fmt.Errorf("%w; the answer is %#q", err, clip(answer)), ob.Leader.String())
	var left absent
	if errors.As(err, &left) && hint.Of(err) == "" && left.beside != nil && len(ob.Role.Path) > 0 && left.what == ob.Role.String() {
		err = hint.Add(err, "observe says where the role is in it; where those that follow leave it out, say so: follower: ''")
	}
	return st, err
}

// meaning says what may have been meant by what an answer does not have: something that is there, but for what is known for something else.
func meaning(err error, known string) error {
	var left absent
	if errors.As(err, &left) && hint.Of(err) == "" {
		if near := left.meant(); near != "" && near != known {
			err = hint.Add(err, "did you mean %q?", near)
		}
	}
	return err
}

// LongestWord is how many bytes a role, a name or a number may have.
const LongestWord = 1 << 10

// brief gets no field that is longer than any word is: errors quote them, and what nodes call themselves is kept.
func brief(get func(Field) (string, error)) func(Field) (string, error) {
	return func(f Field) (string, error) {
		text, err := get(f)
		if len(text) > LongestWord {
			return "", fmt.Errorf("%q, which has %d bytes, is no word and no number", clip([]byte(text)), len(text))
		}
		return text, err
	}
}

func (r *reader) fields(get func(Field) (string, error)) (election.Status, error) {
	ob := &r.Observe
	var st election.Status
	if ob.Term.Given() {
		text, err := get(ob.Term)
		if errors.As(err, new(absent)) && ob.Tokens {
			err = nil // a leader that tells none is told so below
		}
		if err != nil {
			return st, err
		}
		if st.Term, err = ob.term(text); err != nil {
			return st, err
		}
	}
	if ob.ID.Given() {
		id, err := wordOf(get, ob.ID)
		if err == nil {
			err = r.learn(id)
		}
		if err != nil {
			return st, err
		}
	}
	if ob.Leader.Given() {
		called, err := wordOf(get, ob.Leader)
		if err != nil {
			return st, err
		}
		if st.Leader, err = r.who(called); err != nil {
			return st, err
		}
	}
	if err := r.role(get, &st); err != nil {
		return st, err
	}
	if st.Role == election.Leader && ob.Term.Given() && st.Term == 0 {
		err := errors.New("it says that it leads, in no term or in term 0")
		return st, hint.Add(err, "a leader's term is to be 1 or more: is term the right field? Where they begin with 0, say term: {at: FIELD, first: 0}; "+
			"where no leaderships are numbered, leave it out")
	}
	if st.Role == election.Leader && ob.Tenure.Given() {
		text, err := get(ob.Tenure)
		if err == nil {
			st.Tenure, err = tenure(text)
		}
		return st, err
	}
	return st, nil
}

// role reads what the node is. Without a field for it, the node that names itself leads.
func (r *reader) role(get func(Field) (string, error), st *election.Status) error {
	ob := &r.Observe
	if !ob.Role.Given() {
		if st.Leader == r.self.ID {
			st.Role = election.Leader
		}
		return nil
	}
	word, err := get(ob.Role)
	if slices.Contains(ob.Follows, "") {
		word, err = wordOf(get, ob.Role)
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.roles[word]++
	r.mu.Unlock()
	switch {
	case slices.Contains(ob.Leads, word):
		st.Role, st.Leader = election.Leader, r.self.ID
	case slices.Contains(ob.Campaigns, word):
		st.Role = election.Candidate
	case len(ob.Follows) > 0 && !slices.Contains(ob.Follows, word):
		err := fmt.Errorf("role %q is none of leader (%s), candidate (%s) and follower (%s)",
			word, strings.Join(ob.Leads, ", "), strings.Join(ob.Campaigns, ", "), strings.Join(ob.Follows, ", "))
		return hint.Add(err, "say which words mean what: role: {at: …, leader: […], candidate: […], follower: […]}")
	}
	return nil
}

// term reads a term; one that is not there is 0. Where a server's begin with 0, each is one more here.
func (ob *Observe) term(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	term, err := strconv.ParseUint(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("term %q is more than 64 bits hold", text)
	case err != nil:
		return 0, fmt.Errorf("term %q is no whole number of 0 or more", text)
	}
	if ob.FromZero && term < math.MaxUint64 {
		term++
	}
	return term, nil
}

// getter returns what finds fields in an answer.
func (r *reader) getter(answer []byte) (func(Field) (string, error), error) {
	ob := &r.Observe
	switch {
	case ob.Metrics:
		samples, err := ParseSamples(string(answer))
		return func(f Field) (string, error) { return f.Metric.find(samples) }, err
	case ob.Match != nil:
		m := ob.Match.FindStringSubmatch(string(answer))
		if m == nil {
			return nil, fmt.Errorf("match finds nothing in the answer %#q", clip(answer))
		}
		return func(f Field) (string, error) { return group(ob.Match, m, f.Group), nil }, nil
	}
	root, err := ParseJSON(answer)
	if err != nil {
		if samples, e := ParseSamples(string(answer)); e == nil && len(samples) > 0 {
			err = hint.Add(err, "It looks like metrics, in Prometheus' text format: observe them by metrics: PATH, in place of http: PATH")
		}
	}
	return func(f Field) (string, error) { return f.Path.find(root) }, err
}

// ParseJSON reads an answer; its numbers stay as they are written.
func ParseJSON(answer []byte) (root any, err error) {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	if err = d.Decode(&root); err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something comes after it")
		}
	}
	if err != nil {
		err = fmt.Errorf("the answer %#q is no JSON: %w", clip(answer), err)
	}
	return root, err
}

// line reads the view that a line of a node's log announces, if it does. An error says what of it could not be read. Who follows
// somebody that nobody knows does not lead any more, and may well know of a leader: it is told without a role.
func (r *reader) line(text string) (st election.Status, announces bool, err error) {
	if own := r.Observe.IDLog; own != nil {
		if m := own.FindStringSubmatch(text); m != nil {
			if err := r.learn(group(own, m, "id")); err != nil {
				return st, false, err
			}
		}
	}
	for _, l := range r.Observe.Logs {
		m := l.Match.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		st.Role = l.Role
		if st.Term, err = r.Observe.term(group(l.Match, m, "term")); err != nil {
			return election.Status{}, false, err
		}
		if l.tellsTerm() && st.Term == 0 && (l.Role == election.Leader || group(l.Match, m, "term") == "") {
			return election.Status{}, false, errors.New("it tells no term, or that a leader's is 0")
		}
		if l.Role == election.Leader && !l.Named {
			st.Leader = r.self.ID
			return r.inTenure(l, m, st)
		}
		st.Leader, err = r.who(group(l.Match, m, "leader"))
		switch {
		case err != nil:
			st.Role = election.Unknown
		case l.Named && st.Leader == r.self.ID:
			st.Role = election.Leader
			return r.inTenure(l, m, st)
		case l.Named:
			st.Role = election.Follower
		}
		return st, true, err
	}
	return st, false, nil
}

// clip is as much of an answer as an error tells.
func clip(b []byte) string { return term.Clip(strings.TrimSpace(string(b)), 200) }
