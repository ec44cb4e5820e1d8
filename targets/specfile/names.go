package specfile

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"recount/election"
	"recount/internal/hint"
)

// How an answer's word for a node is understood: by what the spec says that nodes are called, or by what each node was
// heard to call itself.

// directory is what nodes call themselves, as they were heard to in one run. A node may have had several ids: it may take
// a new one in each of its lives. It may be used by several goroutines.
type directory struct {
	mu  sync.Mutex
	own map[string]election.ID
}

// learn takes note that a node calls itself so.
func (d *directory) learn(id string, of election.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.own == nil {
		d.own = map[string]election.ID{}
	}
	if other, known := d.own[id]; known && other != of {
		return hint.Add(fmt.Errorf("%v and %v both call themselves %q", other, of, id), "id: {at: FIELD} is what a node alone is called")
	}
	d.own[id] = of
	return nil
}

func (d *directory) find(id string) (election.ID, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of, known := d.own[id]
	return of, known
}

// namesOf lists what nodes may be called, seen from one of them.
func (s *Spec) namesOf(w words) (map[string]election.ID, error) {
	names := map[string]election.ID{}
	for _, m := range w.all {
		own := w
		own.self = m
		called, err := own.identities()
		if err != nil {
			return nil, err
		}
		for _, name := range called {
			if other, taken := names[name]; taken && other != m.ID { // whoever led would be taken for the other
				return nil, hint.Add(fmt.Errorf("named: %v and %v would both be called %q", other, m.ID, name),
					"each node has names of its own: named: 'node-{{.ID}}'; where members are added again: '{{.Name}}.{{.Joined}}'")
			}
		}
		if len(called) == 0 && len(s.Observe.Table) == 0 && !s.Observe.learns() {
			called = []string{m.Name, strconv.Itoa(int(m.ID)), m.Addr.String()}
			for _, port := range s.Ports {
				at := net.JoinHostPort(m.Addr.String(), strconv.Itoa(port))
				called = append(called, at, "http://"+at, "https://"+at, m.Name+":"+strconv.Itoa(port))
			}
		}
		for word, id := range s.Observe.Table {
			if id == m.ID {
				called = append(called, word)
			}
		}
		for _, name := range called {
			names[name] = m.ID
		}
	}
	for _, word := range s.Observe.Self {
		names[word] = w.self.ID
	}
	return names, nil
}

// mostJoined is how often one node is added to a cluster, at most, for those who call it by the number of that.
const mostJoined = 200

// identities are what the server calls the node that w is seen from, as any of the members that it may be in turn.
func (w words) identities() (all []string, err error) {
	for number := range mostJoined {
		if number > 0 {
			w.joined = map[election.ID]int{w.self.ID: number}
		}
		called, err := w.renderAll(w.s.Observe.Identifies)
		if err != nil || !w.s.Members.given() || number > 0 && slices.Equal(called, all[:len(called)]) {
			return append(all, called...), err
		}
		all = append(all, called...)
	}
	return all, nil
}

// shared refuses names that are not one node's alone: who leads could not be told from an answer.
func (s *Spec) shared(named value) error {
	w, err := s.example()
	if err != nil {
		return err
	}
	names := map[string]election.ID{}
	for _, w.self = range w.all {
		called, err := w.renderAll(s.Observe.Identifies)
		if err != nil {
			return err
		}
		for _, name := range called {
			if other, taken := names[name]; taken && other != w.self.ID {
				return named.bad("named: 'node-{{.ID}}'", "named: %v and %v would both be called %q", other, w.self.ID, name)
			}
			names[name] = w.self.ID
		}
	}
	return nil
}

// learn takes note that the node calls itself so, unless that is a word for nobody: then it has no id yet.
func (r *reader) learn(id string) error {
	if id == "" || slices.Contains(r.Observe.Nobody, id) {
		return nil
	}
	return r.directory.learn(id, r.self.ID)
}

// learns reports whether nodes tell what they call themselves.
func (o *Observe) learns() bool { return o.ID.Given() || o.IDLog != nil }

// who is the node that an answer calls so.
func (r *reader) who(called string) (election.ID, error) {
	if id, ok := r.names[called]; ok { // before nobody: a node may be called 0
		return id, nil
	}
	if id, ok := r.directory.find(called); ok {
		return id, nil
	}
	if slices.Contains(r.Observe.Nobody, called) {
		return election.None, nil
	}
	if url, slash := strings.CutSuffix(called, "/"); slash && strings.Contains(url, "://") { // as URLs end that name no page
		if id, ok := r.names[url]; ok {
			return id, nil
		}
	}
	err := fmt.Errorf("leader %q is none of the nodes", called)
	if r.Observe.learns() {
		return election.None, &Stranger{hint.Add(err, "no node has called itself so yet: is id the right field? "+
			"Where it says that nobody leads, tell so by leader: {nobody: [%q]}", called), called, r.directory}
	}
	return election.None, hint.Add(err, "leader: {named: …} says what the server calls a node, nobody: … what it says when none leads; a node would be one of %s", few(slices.Sorted(maps.Keys(r.names))))
}

// few are some names in words, the shortest where there are many: a node has an address and a URL for each port among its own.
func few(names []string) string {
	const most = 6
	if more := len(names) - most; more > 0 {
		slices.SortStableFunc(names, func(a, b string) int { return len(a) - len(b) })
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

const idWay = "id: {at: FIELD}, where a node's answer has its own id; or id: {log: 'my id is (?P<id>\\w+)'}"

// readID reads where nodes tell what they call themselves.
func (s *Spec) readID(o map[string]value) (err error) {
	v, ok := o["id"]
	if !ok {
		return nil
	}
	if !v.isMapping() {
		s.Observe.ID, err = s.field(v, "id")
		return err
	}
	f, err := v.fields("at", "log")
	if err != nil {
		return err
	}
	at, asked := f["at"]
	log, logged := f["log"]
	switch {
	case asked == logged:
		return v.bad(idWay, "id: one of at and log is wanted")
	case asked:
		s.Observe.ID, err = s.field(at, "id")
		return err
	}
	if s.Observe.IDLog, err = log.pattern(); err != nil {
		return err
	}
	if !slices.Contains(s.Observe.IDLog.SubexpNames(), "id") {
		return log.bad(idWay, "id: the pattern has no group id")
	}
	return nil
}

// readTable reads which words stand for which nodes.
func (s *Spec) readTable(v value) error {
	s.Observe.Table = map[string]election.ID{}
	return v.each(func(key, val value) error {
		name, err := val.text()
		if err != nil {
			return err
		}
		id := numbered(name)
		if id == election.None {
			return val.bad("leader: {at: FIELD, table: {WORD: n1, OTHER: n2}}", "table: %q is no node", name)
		}
		s.Observe.Table[key.Value] = id
		return nil
	})
}

// unreadable is an answer that came, and that makes no sense by what the spec says of it.
type unreadable struct{ error }

func (u unreadable) Unwrap() error { return u.error }

// Unreadable reports whether a node gave an answer that could not be read.
func Unreadable(err error) bool { return errors.As(err, new(unreadable)) }

// mistaken is what a server says to a question that it does not know.
type mistaken struct{ error }

func (m mistaken) Unwrap() error { return m.error }

// Misdescribed reports whether a node answered, and the description of the target is at fault that it was of no use: what is asked
// for is not there, or what is looked for is not in the answer.
func Misdescribed(err error) bool { return Unreadable(err) || errors.As(err, new(mistaken)) }

// Stranger is why an answer could not be read that names a leader by an id which no node had told to be its own. Without its
// leader the view would tell that the node knows of none.
type Stranger struct {
	error
	Called string
	among  *directory
}

func (s *Stranger) Unwrap() error { return s.error }

// Told reports whether a node has told by now that the id is its own.
func (s *Stranger) Told() bool {
	_, known := s.among.find(s.Called)
	return known
}

// Silent reports whether a node gave no answer because none is asked of it.
func Silent(err error) bool { return errors.Is(err, errSilent) }

// wordOf is what stands in an answer where it may be missing: "" then. A metric's value is always there, where it is the right one;
// its label names somebody, and may name nobody.
func wordOf(get func(Field) (string, error), f Field) (string, error) {
	word, err := get(f)
	if valued := f.Metric.Name != "" && f.Metric.Label == ""; errors.As(err, new(absent)) && !valued { // as encoders do that leave out what is empty
		return "", nil
	}
	return word, err
}
