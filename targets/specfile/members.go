package specfile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"text/template"

	"recount/election"
)

// Members is how a node is asked to have the cluster change who its members are, and whom it takes for what. All of it is given, or
// nothing, or all but what is of learners.
type Members struct {
	Remove, Add, Learner, Promote Request

	List             Request // HTTP is got from, or Command run; nothing else of it is set
	Voters, Learners *template.Template
}

func (m *Members) given() bool { return m.Remove.given() }

// learns reports whether who is added can be a learner at first.
func (m *Members) learns() bool { return m.Learner.given() }

func (m *Members) templates() []*template.Template {
	all := requests{&m.Remove, &m.Add, &m.Learner, &m.Promote, &m.List}.templates()
	if m.given() {
		all = append(all, m.Voters)
	}
	if m.learns() {
		all = append(all, m.Learners)
	}
	return all
}

const (
	membersWay = `members: {remove: …, add: …, learner: …, promote: …, list: …}, without learner and promote where there are none; each but list as {http: /members/remove, port: NAME, body: '{"who": "{{.Member.Name}}"}'} or {command: [PROGRAM, …], refused: PATTERN}`
	listWay    = `list: {http: /members, port: NAME, voters: '"{{.Member.Name}}":"voter"', learners: '"{{.Member.Name}}":"learner"'}, or command: [PROGRAM, …] in the place of http`
)

// readMembers reads how members are changed. It is read when the rest of a node's templates are.
func (s *Spec) readMembers(_ value, f map[string]value) error {
	v, ok := f["members"]
	if !ok {
		return nil
	}
	m, err := v.fields("remove", "add", "learner", "promote", "list")
	if err != nil {
		return err
	}
	_, learner := m["learner"]
	_, promote := m["promote"]
	for _, name := range []string{"remove", "add", "learner", "promote", "list"} {
		if _, ok := m[name]; !ok && (learner || promote || name != "learner" && name != "promote") {
			return v.bad(membersWay, "members: %s is missing", name)
		}
	}
	if !s.Observe.Asks() {
		return v.bad("observe: {http: …} or {command: …}", "members: nodes that tell by their logs alone cannot be asked")
	}
	w, err := s.example()
	if err != nil {
		return err
	}
	w.member = &w.all[2]
	for _, change := range []part[*Request]{
		{"remove", &s.Members.Remove}, {"add", &s.Members.Add}, {"learner", &s.Members.Learner}, {"promote", &s.Members.Promote},
	} {
		if r, ok := m[change.name]; ok {
			if *change.of, err = w.request(r, membersWay); err != nil {
				return err
			}
		}
	}
	if err := s.readList(w, m["list"]); err != nil {
		return err
	}
	again := w
	again.joined = map[election.ID]int{w.self.ID: 1}
	first, err := w.given()
	if err != nil {
		return err
	}
	next, err := again.given()
	if err == nil && reflect.DeepEqual(first, next) {
		return v.bad("command: ['--data=/data/{{.Joined}}', …]: who is added is another member, with nothing of what the one before it kept",
			"members: neither command nor environment nor files use {{.Joined}}")
	}
	return err
}

// given is all that a node is started with.
func (w words) given() (all []string, err error) {
	if all, err = w.renderAll(w.s.Command); err != nil {
		return nil, err
	}
	for _, some := range []map[string]*template.Template{w.s.Environment, w.s.Files} {
		for _, name := range slices.Sorted(maps.Keys(some)) {
			text, err := w.render(some[name])
			if err != nil {
				return nil, err
			}
			all = append(all, text)
		}
	}
	return all, nil
}

// readList reads how a node tells whom it takes for what.
func (s *Spec) readList(w words, v value) error {
	l, err := v.fields("http", "port", "status", "tls", "headers", "method", "body", "command", "voters", "learners")
	if err != nil {
		return err
	}
	for _, kind := range []part[**template.Template]{{"voters", &s.Members.Voters}, {"learners", &s.Members.Learners}} {
		pattern, ok := l[kind.name]
		switch due := kind.name == "voters" || s.Members.learns(); {
		case !ok && due:
			return v.bad(listWay, "list: %s is missing", kind.name)
		case ok && !due:
			return pattern.bad("leave it out, or say how a learner is added and promoted", "list: learners goes with learner and promote")
		case !ok:
			continue
		}
		if *kind.of, err = w.pattern(pattern); err != nil {
			return err
		}
	}
	path, got := l["http"]
	command, run := l["command"]
	if got == run {
		return v.bad(listWay, "list: one of http and command is wanted")
	}
	if run {
		if err := onlyWithHTTP(l, "list"); err != nil {
			return err
		}
		s.Members.List.Command, err = s.command(command)
		return err
	}
	s.Members.List.HTTP, err = s.endpoint(path, l)
	return err
}

// changing is a system whose members can be changed.
type changing struct{ *system }

// Learnerless implements election.Learnerless.
func (c *changing) Learnerless() bool { return !c.Members.learns() }

// roster is what is known of who was added.
type roster struct {
	mu     sync.Mutex
	number map[election.ID]int  // of the one of that name that was asked to be added last
	asked  map[election.ID]bool // that was asked, and it was not taken out since
	learns map[election.ID]bool // it was added as a learner
	joined map[election.ID]int  // the number by which it is started; 0 for that of the beginning
}

func newRoster() *roster {
	return &roster{number: map[election.ID]int{}, asked: map[election.ID]bool{}, learns: map[election.ID]bool{}, joined: map[election.ID]int{}}
}

// Reconfigure implements election.Reconfigurable. A node that refuses for good may do so because it is so already.
func (c *changing) Reconfigure(ctx context.Context, self election.Member, all []election.Member, who election.ID, as election.Membership, dial election.Dial) error {
	if as == election.Learner && c.Learnerless() {
		return election.ErrCannot
	}
	q := c.roster.next(&c.Members, who, as)
	w := c.about(self, all, who)
	err := c.ask(ctx, q, w, dial)
	if election.Certain(err) && !errors.Is(err, election.ErrNotYet) {
		if is, unknown := c.Membership(ctx, self, all, who, dial); unknown == nil && is == as {
			err = nil
		}
	}
	if err == nil {
		c.roster.done(who, as)
	}
	return err
}

// about are the words by which a member is asked about another: the one of that name that was asked to be added last, whatever has become
// of that.
func (c *changing) about(self election.Member, all []election.Member, who election.ID) words {
	w := c.words(self, all)
	w.member = &all[who-1]
	c.roster.mu.Lock()
	defer c.roster.mu.Unlock()
	w.joined[who] = c.roster.number[who]
	return w
}

// next is what has to be asked for. Who is added by it has a number that none before had.
func (r *roster) next(m *Members, who election.ID, as election.Membership) *Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case as == election.Removed:
		return &m.Remove
	case as == election.Voter && r.learns[who]:
		return &m.Promote
	}
	if !r.asked[who] {
		r.number[who]++
		r.asked[who] = true
	}
	if as == election.Learner {
		return &m.Learner
	}
	return &m.Add
}

// done takes note of what a member is now.
func (r *roster) done(who election.ID, as election.Membership) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learns[who] = as == election.Learner
	if as == election.Removed {
		r.asked[who] = false
	} else {
		r.joined[who] = r.number[who]
	}
}

// lives are the numbers by which members are started.
func (r *roster) lives() map[election.ID]int {
	all := map[election.ID]int{}
	if r == nil {
		return all
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for who, number := range r.joined {
		all[who] = number
	}
	return all
}

// Membership implements election.Reconfigurable.
func (c *changing) Membership(ctx context.Context, self election.Member, all []election.Member, who election.ID, dial election.Dial) (election.Membership, error) {
	w := c.about(self, all, who)
	var answer []byte
	var err error
	if at := c.Members.List.HTTP; at != nil {
		answer, err = c.getOnce(ctx, at, self, all, dial)
	} else {
		answer, err = c.runIn(ctx, w, c.Members.List.Command)
	}
	if err != nil {
		return 0, err
	}
	for _, kind := range []struct {
		as election.Membership
		of *template.Template
	}{{election.Voter, c.Members.Voters}, {election.Learner, c.Members.Learners}} {
		if kind.of == nil {
			continue
		}
		re, err := w.compile(kind.of)
		if err != nil {
			return 0, fmt.Errorf("members: list: %w", err)
		}
		if re.Match(answer) {
			return kind.as, nil
		}
	}
	return election.Removed, nil
}
