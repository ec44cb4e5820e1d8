package specfile

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"recount/election"
	"recount/internal/hint"
	"recount/internal/option"
)

// What a node is given: its ports, its command line and its environment, made of templates.

func (s *Spec) readPorts(_ value, f map[string]value) error {
	s.Ports = map[string]int{}
	v, ok := f["ports"]
	if !ok {
		return nil
	}
	return v.each(func(key, val value) error {
		text, err := val.text()
		if err != nil {
			return err
		}
		port, err := strconv.Atoi(text)
		if err != nil || port < 1 || port > 65535 {
			return val.bad("a number from 1 to 65535, on which the server listens in its container", "port %s: %q is no port",
				key.Value, text)
		}
		if slices.Contains([]string{"id", "name", "addr"}, key.Value) || !nameRule.MatchString(key.Value) {
			return key.bad("use letters, digits, - and _; id, name and addr are taken", "a port cannot be named %q", key.Value)
		}
		s.Ports[key.Value] = port
		return nil
	})
}

func (s *Spec) readContainer(_ value, f map[string]value) (err error) {
	if v, ok := f["command"]; ok {
		if s.Command, err = s.templates(v); err != nil {
			return err
		}
	}
	s.Environment = map[string]*template.Template{}
	if v, ok := f["environment"]; ok {
		err := v.each(func(key, val value) error {
			t, err := s.template(val)
			s.Environment[key.Value] = t
			return err
		})
		if err != nil {
			return err
		}
	}
	if v, ok := f["data"]; ok {
		if s.Data, err = v.text(); err != nil {
			return err
		}
		if !strings.HasPrefix(s.Data, "/") {
			return v.bad("a folder of the container, such as /data", "data: %q does not begin with /", s.Data)
		}
	}
	return nil
}

// place is what a template can name: one node of a cluster. Templates are tried on an example when they are read.
type place struct {
	ID   int
	Name string
	Addr string
	Size int
}

// words is a whole cluster, seen from one of its nodes.
type words struct {
	s       *Spec
	options option.Values
	self    election.Member
	all     []election.Member
}

func (w words) place(m election.Member) place {
	return place{int(m.ID), m.Name, m.Addr.String(), len(w.all)}
}

// funcs are what templates can call.
func (w words) funcs() template.FuncMap {
	list := func(separator, each string, but election.ID) (string, error) {
		var parts []string
		for _, m := range w.all {
			if m.ID == but {
				continue
			}
			one, err := w.fill(each, m)
			if err != nil {
				return "", err
			}
			parts = append(parts, one)
		}
		return strings.Join(parts, separator), nil
	}
	duration := func(name string) (time.Duration, error) {
		text, err := w.option(name)
		if err != nil {
			return 0, err
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, hint.Add(fmt.Errorf("parameter %s is %q: no duration", name, text), "param %q gives it as it is written", name)
		}
		return d, nil
	}
	return template.FuncMap{
		"port":    w.port,
		"param":   w.option,
		"members": func(separator, each string) (string, error) { return list(separator, each, election.None) },
		"others":  func(separator, each string) (string, error) { return list(separator, each, w.self.ID) },
		"ms": func(name string) (int64, error) {
			d, err := duration(name)
			return d.Milliseconds(), err
		},
		"seconds": func(name string) (string, error) {
			d, err := duration(name)
			return strconv.FormatFloat(d.Seconds(), 'f', -1, 64), err
		},
	}
}

func (w words) port(name string) (int, error) {
	if p, ok := w.s.Ports[name]; ok {
		return p, nil
	}
	if len(w.s.Ports) == 0 {
		return 0, hint.Add(fmt.Errorf("unknown port %q", name), "ports: {%s: 8080}", name)
	}
	return 0, hint.Unknown("port", name, slices.Collect(maps.Keys(w.s.Ports)))
}

func (w words) option(name string) (string, error) {
	if w.s.parameter(name) != nil {
		return w.options.Value(name), nil
	}
	if len(w.s.Parameters) == 0 {
		return "", hint.Add(fmt.Errorf("unknown parameter %q", name), "parameters: {%s: 1s}", name)
	}
	return "", hint.Unknown("parameter", name, w.s.parameterNames())
}

// fill puts a member's place into "{name}=http://{addr}:{peer}"; a port stands there by its name.
func (w words) fill(each string, m election.Member) (string, error) {
	var b strings.Builder
	for rest := each; ; {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		word, after, found := strings.Cut(after, "}")
		if !found {
			return "", hint.Add(fmt.Errorf("%q: a brace is not closed", each),
				"{id}, {name}, {addr} and the ports by their names stand in braces")
		}
		switch word {
		case "id":
			b.WriteString(strconv.Itoa(int(m.ID)))
		case "name":
			b.WriteString(m.Name)
		case "addr":
			b.WriteString(bracketed(m))
		default:
			p, err := w.port(word)
			if err != nil {
				known := slices.Concat([]string{"id", "name", "addr"}, slices.Collect(maps.Keys(w.s.Ports)))
				return "", fmt.Errorf("%q: %w", each, hint.Unknown("word in braces", word, known))
			}
			b.WriteString(strconv.Itoa(p))
		}
		rest = after
	}
}

// bracketed is an address as it stands before a port.
func bracketed(m election.Member) string {
	if m.Addr.Is6() {
		return "[" + m.Addr.String() + "]"
	}
	return m.Addr.String()
}

// templates reads a list of templates.
func (s *Spec) templates(v value) (all []*template.Template, err error) {
	for _, one := range v.list() {
		t, err := s.template(one)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// template reads one template, and tries it on a cluster of three.
func (s *Spec) template(v value) (*template.Template, error) {
	text, err := v.text()
	if err != nil {
		return nil, err
	}
	const way = `{{.ID}}, {{.Name}}, {{.Addr}}, {{.Size}}, {{port "NAME"}}, {{param "NAME"}}, {{others "," "{addr}:{PORT}"}}`
	example, err := s.example()
	if err != nil {
		return nil, err
	}
	t, err := template.New(v.name).Option("missingkey=error").Funcs(example.funcs()).Parse(text)
	if err == nil {
		_, err = example.render(t)
	}
	if err != nil {
		h := hint.Of(err)
		if h == "" {
			h = way
		}
		return nil, v.bad(h, "%s: %s", v.name, plain(err))
	}
	return t, nil
}

// plain is what a template's error comes down to for the person who wrote the template.
func plain(err error) string {
	var exec template.ExecError
	if errors.As(err, &exec) {
		err = exec.Err
	}
	text := err.Error()
	if _, after, ok := strings.Cut(text, "error calling "); ok {
		return after
	}
	if at := strings.Index(text, ">: "); at >= 0 {
		return text[at+3:]
	}
	return text
}

// example is what templates are tried on.
func (s *Spec) example() (words, error) {
	options, err := option.Parse(s.Name, s.Parameters, nil)
	if err != nil {
		return words{}, err
	}
	w := words{s: s, options: options}
	for id := election.ID(1); id <= 3; id++ {
		w.all = append(w.all, election.Member{ID: id, Name: id.String(), Addr: netip.AddrFrom4([4]byte{172, 17, 0, byte(id + 1)})})
	}
	w.self = w.all[0]
	return w, nil
}

func (w words) render(t *template.Template) (string, error) {
	own, err := t.Clone()
	if err != nil {
		return "", err
	}
	own.Funcs(w.funcs())
	var b capped
	over := make(chan error, 1)
	go func() { over <- own.Execute(&b, w.place(w.self)) }()
	select {
	case err := <-over:
		return b.text.String(), err
	case <-time.After(renderWithin):
		return "", hint.Add(fmt.Errorf("it does not end within %v", renderWithin), "does it repeat something too often?")
	}
}

// What a template may come to, and how long it may take. Command lines are shorter, and take microseconds.
const (
	maxRendered  = 64 << 10
	renderWithin = 2 * time.Second
)

// capped is a text that refuses to grow beyond what a template may come to.
type capped struct{ text strings.Builder }

func (c *capped) Write(p []byte) (int, error) {
	if c.text.Len()+len(p) > maxRendered {
		return 0, hint.Add(fmt.Errorf("it comes to more than %d bytes", maxRendered), "does it repeat something too often?")
	}
	return c.text.Write(p)
}

// renderAll leaves out what comes to nothing, so that a flag can be there or not.
func (w words) renderAll(ts []*template.Template) (all []string, err error) {
	for _, t := range ts {
		text, err := w.render(t)
		if err != nil {
			return nil, err
		}
		if text != "" {
			all = append(all, text)
		}
	}
	return all, nil
}
