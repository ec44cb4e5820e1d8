package specfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"recount/election"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/internal/option"
)

// What templates can name and call.

// place is what a template can name: one node of a cluster. Templates are tried on an example when they are read.
type place struct {
	ID    int
	Index int // ID for who counts from 0
	Name  string
	Addr  string
	Size  int

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
	said    map[string]string            // what bootstrap has told
	joined  map[election.ID]int          // the numbers of those that were added
	tried   bool                         // on an example: how many nodes a run will have is not known
}

// place is what the node itself is to a template.
func (w words) place() (p place, err error) {
	p = place{ID: int(w.self.ID), Index: index(w.self), Name: w.self.Name, Addr: w.self.Addr.String(), Size: len(w.all), Joined: w.joined[w.self.ID]}
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
	duration := func(name string) (time.Duration, error) { return parsed(w, name, "duration", time.ParseDuration) }
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
		"kept":   w.kept,
		"members": func(separator, each string) (string, error) {
			return list(separator, each, func(election.Member) (bool, error) { return true, nil })
		},
		"others": func(separator, each string) (string, error) {
			return list(separator, each, func(m election.Member) (bool, error) { return m.ID != w.self.ID, nil })
		},
		"voters":    func(separator, each string) (string, error) { return list(separator, each, voting(true)) },
		"nonvoters": func(separator, each string) (string, error) { return list(separator, each, voting(false)) },
		"servers":   w.endpoints,
		"int":       func(name string) (int, error) { return parsed(w, name, "whole number", strconv.Atoi) },
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
		"take %v or more, or say {{if ge .Size %d}}…{{end}}", hint.Set("nodes", number), number)
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

// parsed is a parameter that is to be something else than text.
func parsed[T any](w words, name, what string, parse func(string) (T, error)) (value T, err error) {
	text, err := w.option(name)
	if err != nil {
		return value, err
	}
	if value, err = parse(text); err != nil {
		return value, hint.Add(fmt.Errorf("parameter %s is %q: no %s", name, text, what), "param %q gives it as it is written", name)
	}
	return value, nil
}

// placed are the words in braces that are no port's name.
var placed = []string{"id", "index", "name", "addr"}

// index is the number of a node for who counts from 0.
func index(m election.Member) int { return int(m.ID) - 1 }

// fill puts a member's place into "{name}=http://{addr}:{peer}"; a port stands there by its name. A brace that begins a
// block is the text's own: "node {\n address: {addr}\n}".
func (w words) fill(each string, m election.Member) (string, error) {
	known := slices.Concat(placed, slices.Collect(maps.Keys(w.s.Ports)))
	var b strings.Builder
	for rest := each; ; {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if blockBegins(after, known) {
			b.WriteByte('{')
			rest = after
			continue
		}
		word, after, found := strings.Cut(after, "}")
		if !found {
			return "", hint.Add(fmt.Errorf("%q: a brace is not closed", each),
				"{id}, {index}, {name}, {addr} and the ports by their names stand in braces")
		}
		switch word {
		case "id":
			b.WriteString(strconv.Itoa(int(m.ID)))
		case "index":
			b.WriteString(strconv.Itoa(index(m)))
		case "name":
			b.WriteString(m.Name)
		case "addr":
			b.WriteString(bracketed(m))
		default:
			p, err := w.port(word)
			if err != nil {
				return "", fmt.Errorf("%q: %w", each, hint.Unknown("word in braces", word, known))
			}
			b.WriteString(strconv.Itoa(p))
		}
		rest = after
	}
}

// blockBegins reports whether a brace before this is one of a configuration's: white space, a quotation mark or nothing follows it. A word
// alone with spaces around that is known, or nearly, was to be a member's place.
func blockBegins(after string, known []string) bool {
	word, _, closed := strings.Cut(after, "}")
	alone := closed && len(strings.Fields(word)) == 1 && !strings.ContainsAny(word, "\"'{")
	meant := alone && hint.Near(strings.TrimSpace(word), known) != ""
	return after == "" || strings.ContainsAny(after[:1], " \t\r\n\"'") && !meant
}

// bracketed is an address as it stands before a port.
func bracketed(m election.Member) string {
	if m.Addr.Is6() {
		return "[" + m.Addr.String() + "]"
	}
	return m.Addr.String()
}
