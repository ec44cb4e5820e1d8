package specfile

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	syntax "text/template/parse"
	"time"

	"recount/election"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/internal/option"
	"recount/targets"
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
			return key.bad("use letters from a to z, digits, - and _; id, name and addr are taken", "a port cannot be named %q", key.Value)
		}
		for name, taken := range s.Ports {
			if taken == port {
				return val.bad("give it one name, and use that wherever the port is meant", "port %s: %d is port %s already", key.Value, port, name)
			}
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
	s.Files, s.Copied = map[string]*template.Template{}, map[string]string{}
	if v, ok := f["files"]; ok {
		err := v.each(func(key, val value) error {
			if !strings.HasPrefix(key.Value, "/") || filepath.ToSlash(filepath.Clean(key.Value)) != key.Value {
				return key.bad("such as /etc/server.yaml", "files: %q is not the whole path of a file", key.Value)
			}
			if slices.Contains(engines, key.Value) {
				return key.bad(`nodes are known by their addresses: {{addr 1}} is that of n1, {{others "," "{addr}"}} those of all others`,
					"files: the engine puts a %s of its own over it, so that nodes would never see this one", key.Value)
			}
			if val.isMapping() {
				return s.readCopied(key, val)
			}
			t, err := s.template(val)
			s.Files[key.Value] = t
			return err
		})
		if err != nil {
			return err
		}
	}
	if v, ok := f["capabilities"]; ok {
		if s.Capabilities, err = v.texts(); err != nil {
			return err
		}
		for i, name := range s.Capabilities {
			if !capabilityRule.MatchString(name) {
				return v.list()[i].bad("as Linux calls them: NET_ADMIN, SYS_NICE, IPC_LOCK", "capabilities: %q is none", name)
			}
		}
	}
	if v, ok := f["multicast"]; ok {
		if s.Multicast, err = v.boolean(); err != nil {
			return err
		}
	}
	if v, ok := f["data"]; ok {
		if s.Data, err = v.folder("data"); err != nil {
			return err
		}
		if strings.Trim(s.Data, "/") == "" {
			return v.bad("a folder of the container, such as /data", "data: / is all that the container has, the server too")
		}
	}
	if v, ok := f["workdir"]; ok {
		s.Workdir, err = v.folder("workdir")
	}
	return err
}

// folder reads the path of a folder in the container.
func (v value) folder(field string) (string, error) {
	path, err := v.text()
	switch {
	case err != nil:
	case !strings.HasPrefix(path, "/"):
		err = v.bad("a folder of the container, such as /data", "%s: %q does not begin with /", field, path)
	case strings.Contains(path, "{{"):
		err = v.bad("one folder for all nodes, such as /data, which the command may name", "%s: %q: it takes no template", field, path)
	}
	return path, err
}

// engines are the files that the engine mounts in each container, over what its image and its layer have there.
var engines = []string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}

var capabilityRule = regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)

// readBootstrap reads the command that is run once.
func (s *Spec) readBootstrap(_ value, f map[string]value) (err error) {
	if v, ok := f["bootstrap"]; ok {
		s.Bootstrap, err = s.templates(v)
	}
	return err
}

// readCopied reads that a file is the copy of one of this machine.
func (s *Spec) readCopied(key, v value) error {
	f, err := v.fields("from")
	if err != nil {
		return err
	}
	from, ok := f["from"]
	if !ok {
		return v.bad("{from: ./server.py}, a path that begins at the file's folder", "files: from is missing")
	}
	path, err := from.text()
	if err != nil {
		return err
	}
	s.Copied[key.Value] = s.ofFolder(path)
	return nil
}

// ofFolder is a path of this machine, which begins at the file's folder.
func (s *Spec) ofFolder(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(s.File), path)
}

// copies reads the files that are copied.
func (s *Spec) copies() (map[string]string, error) {
	all := map[string]string{}
	for at, path := range s.Copied {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, hint.Add(fmt.Errorf("spec: files: %s: %w", at, err), "paths begin at the folder of %s", s.File)
		}
		all[at] = string(text)
	}
	return all, nil
}

// readProcesses reads what a node's processes are called.
func (s *Spec) readProcesses(_ value, f map[string]value) error {
	v, ok := f["processes"]
	if !ok {
		return nil
	}
	s.Processes = map[string]string{}
	return v.each(func(key, val value) error {
		if !nameRule.MatchString(key.Value) {
			return key.bad("use letters from a to z, digits, - and _", "%q cannot be the name of a process", key.Value)
		}
		p, err := val.fields("match")
		if err != nil {
			return err
		}
		m, ok := p["match"]
		if !ok {
			return val.bad("{match: PATTERN} of the command line, as ps shows it", "processes: %s: match is missing", key.Value)
		}
		re, err := m.pattern()
		if err != nil {
			return err
		}
		s.Processes[key.Value] = re.String()
		return nil
	})
}

// place is what a template can name: one node of a cluster. Templates are tried on an example when they are read.
type place struct {
	ID   int
	Name string
	Addr string
	Size int

	Voter bool
	// Joined is 0 for the members of the beginning, and another number for each that is added later.
	Joined int
}

// changed is what the templates of changes of members can name besides.
type changed struct {
	place
	Member place // whose membership changes
}

// writing is what the template of a write can name besides.
type writing struct {
	place
	Token uint64
	Value int64
}

// putting is what the template of a put can name besides.
type putting struct {
	place
	Value uint64
}

// words is a whole cluster, seen from one of its nodes.
type words struct {
	s       *Spec
	options option.Values
	self    election.Member
	all     []election.Member            // the nodes
	servers map[string][]election.Member // by their service
	polling bool                         // it is being asked who votes
	write   *election.Write              // what is to be written; nil for templates of all else
	put     *uint64                      // what a client writes to the register; nil likewise
	member  *election.Member             // whose membership changes; nil likewise
	joined  map[election.ID]int          // the numbers of those that were added
	tried   bool                         // on an example: how many nodes a run will have is not known
}

// place is what the node itself is to a template.
func (w words) place() (p place, err error) {
	p = place{ID: int(w.self.ID), Name: w.self.Name, Addr: w.self.Addr.String(), Size: len(w.all), Joined: w.joined[w.self.ID]}
	if !w.polling {
		p.Voter, err = w.votes(w.self)
	}
	return p, err
}

// funcs are what templates can call.
func (w words) funcs() template.FuncMap {
	list := func(separator, each string, of func(election.Member) (bool, error)) (string, error) {
		var parts []string
		for _, m := range w.all {
			if is, err := of(m); err != nil || !is {
				if err != nil {
					return "", err
				}
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
	voting := func(is bool) func(election.Member) (bool, error) {
		return func(m election.Member) (bool, error) {
			if w.polling {
				return false, errors.New("who votes cannot rest on who votes")
			}
			votes, err := w.votes(m)
			return votes == is, err
		}
	}
	return template.FuncMap{
		"rounds": rounds(),
		"addr":   w.addr,
		"port":   w.port,
		"param":  w.option,
		"members": func(separator, each string) (string, error) {
			return list(separator, each, func(election.Member) (bool, error) { return true, nil })
		},
		"others": func(separator, each string) (string, error) {
			return list(separator, each, func(m election.Member) (bool, error) { return m.ID != w.self.ID, nil })
		},
		"voters":    func(separator, each string) (string, error) { return list(separator, each, voting(true)) },
		"nonvoters": func(separator, each string) (string, error) { return list(separator, each, voting(false)) },
		"servers":   w.endpoints,
		"int": func(name string) (int, error) {
			text, err := w.option(name)
			if err != nil {
				return 0, err
			}
			n, err := strconv.Atoi(text)
			if err != nil {
				return 0, hint.Add(fmt.Errorf("parameter %s is %q: no whole number", name, text), "param %q gives it as it is written", name)
			}
			return n, nil
		},
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

// addr is the address of the node of that number, as it stands before a port.
func (w words) addr(number int) (string, error) {
	for _, m := range w.all {
		if int(m.ID) == number {
			return bracketed(m), nil
		}
	}
	if number < 1 {
		return "", hint.Add(fmt.Errorf("there is no node %d", number), "addr 1 is the address of n1")
	}
	if w.tried {
		return bracketed(w.all[0]), nil
	}
	return "", hint.Add(fmt.Errorf("there is no n%d among %s", number, count.Of(len(w.all), "node")),
		"take --nodes %d or more, or say {{if ge .Size %d}}…{{end}}", number, number)
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
	example, err := s.example()
	if err != nil {
		return nil, err
	}
	return example.template(v)
}

// template reads one template, and tries it.
func (w words) template(v value) (*template.Template, error) {
	text, err := v.text()
	if err != nil {
		return nil, err
	}
	const way = `{{.ID}}, {{.Name}}, {{.Addr}}, {{.Size}}, {{.Voter}}, {{addr 1}}, {{port "NAME"}}, {{param "NAME"}}, {{others "," "{addr}:{PORT}"}}`
	t, err := template.New(v.name).Option("missingkey=error").Funcs(w.funcs()).Parse(text)
	if err == nil {
		countRounds(t)
		_, err = w.render(t)
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
		return strings.TrimPrefix(after, "rounds: ") // nobody has written that
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
	w := words{s: s, options: options, all: unplaced(3), tried: true}
	w.self = w.all[0]
	w.servers = s.unreached(w)
	return w, nil
}

// unplaced are the nodes of a cluster of which nobody knows yet where it will be.
func unplaced(nodes int) (all []election.Member) {
	for id := election.ID(1); int(id) <= nodes; id++ {
		all = append(all, election.Member{ID: id, Name: id.String(), Addr: targets.Unplaced(id)})
	}
	return all
}

func (w words) render(t *template.Template) (string, error) {
	own, err := t.Clone()
	if err != nil {
		return "", err
	}
	own.Funcs(w.funcs())
	place, err := w.place()
	if err != nil {
		return "", err
	}
	var data any = place
	if w.write != nil {
		data = writing{place, w.write.Token, w.write.Value}
	}
	if w.put != nil {
		data = putting{place, *w.put}
	}
	if w.member != nil {
		of := w
		of.self = *w.member
		member, err := of.place()
		if err != nil {
			return "", err
		}
		data = changed{place, member}
	}
	var b capped
	err = own.Execute(&b, data)
	return b.text.String(), err
}

// What a template may come to, and how often it may repeat something. Command lines are shorter, and repeat something for each node.
const (
	maxRendered = 64 << 10
	maxRounds   = 1_000_000
)

// rounds is what a template calls that repeats something or is called by another: it refuses to go on without an end. It goes by no
// clock, so that what was tried once ends the same way on a machine that stands still.
func rounds() func() (string, error) {
	n := 0
	return func() (string, error) {
		if n++; n > maxRounds {
			return "", hint.Add(fmt.Errorf("it does not end within %d rounds", maxRounds), "does it repeat something too often?")
		}
		return "", nil
	}
}

// countRounds has a template, and those that it defines, call rounds in each body of theirs and of their ranges.
func countRounds(t *template.Template) {
	call := template.Must(template.New("").Funcs(template.FuncMap{"rounds": rounds()}).Parse("{{rounds}}")).Root.Nodes[0]
	var into func(l *syntax.ListNode)
	into = func(l *syntax.ListNode) {
		if l == nil {
			return
		}
		for _, n := range l.Nodes {
			switch n := n.(type) {
			case *syntax.RangeNode:
				into(n.List)
				into(n.ElseList)
				n.List.Nodes = slices.Insert(n.List.Nodes, 0, call)
			case *syntax.IfNode:
				into(n.List)
				into(n.ElseList)
			case *syntax.WithNode:
				into(n.List)
				into(n.ElseList)
			}
		}
	}
	for _, one := range t.Templates() {
		if one.Tree != nil && one.Root != nil {
			into(one.Root)
			one.Root.Nodes = slices.Insert(one.Root.Nodes, 0, call)
		}
	}
}

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
