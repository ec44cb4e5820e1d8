package specfile

import (
	"regexp"
	"time"
)

// readReady reads how it is known that a server has come up.
func (s *Spec) readReady(_ value, f map[string]value) (err error) {
	s.Ready.Within = 30 * time.Second
	v, ok := f["ready"]
	if !ok {
		return nil
	}
	const way = "ready: {http: /health, port: NAME} or {tcp: NAME} or {command: […]} or {log: PATTERN}, and within: 30s, in-turn: true"
	r, err := v.fields("http", "port", "status", "tls", "headers", "method", "body", "match", "tcp", "command", "log", "within", "in-turn")
	if err != nil {
		return err
	}
	ways := 0
	if h, ok := r["http"]; ok {
		ways++
		if s.Ready.HTTP, err = s.endpoint(h, r); err != nil {
			return err
		}
		if m, ok := r["match"]; ok {
			example, err := s.example()
			if err != nil {
				return err
			}
			if s.Ready.Match, err = example.pattern(m); err != nil {
				return err
			}
		}
	} else if p, ok := r["port"]; ok {
		return p.bad("tcp: NAME waits for a port", "ready: port goes with http")
	} else if m, ok := r["match"]; ok {
		return m.bad("log: PATTERN waits for a line of its log", "ready: match goes with http")
	} else if err := onlyWithHTTP(r, "ready"); err != nil {
		return err
	}
	if t, ok := r["tcp"]; ok {
		ways++
		if s.Ready.TCP, err = s.knownPort(t); err != nil {
			return err
		}
	}
	if c, ok := r["command"]; ok {
		ways++
		if s.Ready.Command, err = s.command(c); err != nil {
			return err
		}
	}
	if l, ok := r["log"]; ok {
		ways++
		if s.Ready.Log, err = l.pattern(); err != nil {
			return err
		}
	}
	if ways > 1 {
		return v.bad(way, "ready: more than one way is given")
	}
	if w, ok := r["within"]; ok {
		if s.Ready.Within, err = w.duration(); err != nil {
			return err
		}
	}
	if t, ok := r["in-turn"]; ok {
		s.Ready.InTurn, err = t.boolean()
	}
	return err
}

// knownPort reads the name of one of the spec's ports.
func (s *Spec) knownPort(v value) (int, error) {
	name, err := v.text()
	if err != nil {
		return 0, err
	}
	p, err := words{s: s}.port(name)
	if err != nil {
		return 0, &fault{v.Line, v.Column, err}
	}
	return p, nil
}

const patternWay = "the syntax is Go's: https://pkg.go.dev/regexp/syntax; single quotes keep YAML's hands off backslashes"

// templated is what a template would fill, in a pattern that is none: as it stands no line and no answer matches it.
var templated = regexp.MustCompile(`{{-?\s*(\.[A-Z]|(addr|port|param|kept|ms|seconds|int|if|range|others|members|voters|nonvoters|servers)\b)`)

// pattern reads a regular expression, which is the same for all nodes.
func (v value) pattern() (*regexp.Regexp, error) {
	text, err := v.text()
	if err != nil {
		return nil, err
	}
	if templated.MatchString(text) {
		return nil, v.bad(`it is the same for all nodes: write what each of them says, as 'n\d+' for their names`,
			"%s: %q is a pattern, and no template", v.name, text)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, v.bad(patternWay, "%s: %v", v.name, err)
	}
	return re, nil
}
