package specfile

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"recount/election"
	"recount/internal/hint"
)

// Register is how clients read and write a number that the nodes keep. Both are given, or neither.
type Register struct {
	Get   *Endpoint
	At    path           // where an answer has the number, in JSON
	Match *regexp.Regexp // or in the group value of this; where neither is given the answer is the number
	Unset *regexp.Regexp // an answer by which nobody has written one yet; nil where it is 0 then
	Put   Request        // by HTTP, with {{.Value}}
}

func (r *Register) given() bool { return r.Get != nil }

func (r *Register) templates() []*template.Template { return r.Put.templates() }

const registerWay = `register: {get: {http: /kv/x, at: FIELD, status: [200, 404], unset: 'not found'}, put: {http: /kv/x, method: PUT, body: '{{.Value}}'}}`

// readRegister reads how the number is read and written. It is read when the rest of a node's templates are.
func (s *Spec) readRegister(_ value, f map[string]value) error {
	v, ok := f["register"]
	if !ok {
		return nil
	}
	r, err := v.fields("get", "put")
	if err != nil {
		return err
	}
	for _, name := range []string{"get", "put"} {
		if _, ok := r[name]; !ok {
			return v.bad(registerWay, "register: %s is missing", name)
		}
	}
	if err := s.readGet(r["get"]); err != nil {
		return err
	}
	w, err := s.example()
	if err != nil {
		return err
	}
	other := w
	w.put, other.put = new(uint64), new(uint64)
	*other.put++
	put := r["put"]
	if s.Register.Put, err = w.request(put, registerWay); err != nil {
		return err
	}
	if s.Register.Put.HTTP == nil {
		return put.bad(registerWay, "register: put: http is missing: four clients write ten times a second each, and a command takes too long for that")
	}
	one, err := w.renderAll(s.Register.templates())
	if err != nil {
		return err
	}
	two, err := other.renderAll(s.Register.templates())
	if err == nil && strings.Join(one, "") == strings.Join(two, "") {
		return put.bad(`body: '{"value": {{.Value}}}', or http: '/kv/x?value={{.Value}}'`, "register: put: neither http nor body uses {{.Value}}")
	}
	return err
}

// readGet reads how the number is read, and where it is in an answer.
func (s *Spec) readGet(v value) error {
	g, err := v.fields("http", "port", "status", "tls", "headers", "method", "body", "at", "match", "unset")
	if err != nil {
		return err
	}
	from, ok := g["http"]
	if !ok {
		return v.bad(registerWay, "register: get: http is missing")
	}
	r := &s.Register
	if r.Get, err = s.endpoint(from, g); err != nil {
		return err
	}
	at, inJSON := g["at"]
	match, inText := g["match"]
	switch {
	case inJSON && inText:
		return match.bad("at is a path into JSON, match a pattern of text", "register: get: both at and match are given")
	case inJSON:
		text, err := at.text()
		if err != nil {
			return err
		}
		if r.At, err = parsePath(text); err != nil {
			return at.bad("at: kv.value, or at: '[0].value'", "register: get: %v", err)
		}
	case inText:
		if r.Match, err = match.pattern(); err != nil {
			return err
		}
		if r.Match.SubexpIndex("value") < 0 {
			return match.bad(`match: 'x=(?P<value>\d+)'`, "register: get: match has no group value")
		}
	}
	if unset, ok := g["unset"]; ok {
		r.Unset, err = unset.pattern()
	}
	return err
}

// number reads the number out of an answer. One that has a number is no answer by which nobody has written yet, whatever unset matches:
// a read that is taken for one of nothing looks like a write that was lost.
func (r *Register) number(answer []byte) (uint64, error) {
	n, err := r.written(answer)
	if r.Unset == nil || !r.Unset.Match(bytes.TrimSpace(answer)) {
		return n, err
	}
	if err == nil && n > 0 {
		err = fmt.Errorf("unset matches an answer that has a number, %d; the answer is %#q", n, clip(answer))
		return 0, hint.Add(err, "unset: PATTERN is to match what is answered before anybody has written, and nothing else: '^0$' rather than '0'")
	}
	return 0, nil
}

// written reads the number out of an answer that has one.
func (r *Register) written(answer []byte) (uint64, error) {
	text := strings.TrimSpace(string(answer))
	switch {
	case r.At != nil:
		root, err := ParseJSON(answer)
		if err != nil {
			return 0, err
		}
		if text, err = r.At.find(root); err != nil {
			return 0, fmt.Errorf("%w; the answer is %#q", err, clip(answer))
		}
	case r.Match != nil:
		m := r.Match.FindStringSubmatch(text)
		if m == nil {
			return 0, fmt.Errorf("match finds nothing in the answer %#q", clip(answer))
		}
		text = group(r.Match, m, "value")
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not the number that was written; the answer is %#q", clip([]byte(text)), clip(answer))
	}
	return n, nil
}

// keeping is what a system does besides whose nodes keep a register.
type keeping struct{ system *system }

// keeps adds the register to what runs a spec.
func keeps(y election.System) election.System {
	switch y := y.(type) {
	case *logged:
		return struct {
			*logged
			keeping
		}{y, keeping{y.system}}
	case *changing:
		return struct {
			*changing
			keeping
		}{y, keeping{y.system}}
	}
	return struct {
		*system
		keeping
	}{y.(*system), keeping{y.(*system)}}
}

// Get implements election.Storer. A question to which there was no answer has changed nothing, nor will it.
func (k keeping) Get(ctx context.Context, self election.Member, all []election.Member, dial election.Dial) (uint64, error) {
	r := &k.system.Register
	if self.Server {
		return 0, election.ErrCannot
	}
	answer, err := k.system.getOnce(ctx, r.Get, self, all, dial)
	if err != nil {
		return 0, harmless{err}
	}
	n, err := r.number(answer)
	if err != nil {
		err = hint.Or(unreadable{err}, err, "where nobody has written yet, unset: PATTERN says so of an answer; where in it the number is, at: FIELD or match: PATTERN")
		return 0, harmless{err}
	}
	return n, nil
}

// harmless is why a read came to nothing: it certainly has changed nothing.
type harmless struct{ error }

func (h harmless) Unwrap() error { return h.error }

func (harmless) Is(err error) bool { return err == election.ErrRefused }

// Put implements election.Storer.
func (k keeping) Put(ctx context.Context, self election.Member, all []election.Member, value uint64, dial election.Dial) error {
	if self.Server {
		return election.ErrCannot
	}
	w := k.system.words(self, all)
	w.put = &value
	return k.system.ask(ctx, &k.system.Register.Put, w, dial)
}
