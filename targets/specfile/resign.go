package specfile

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"text/template"

	"recount/election"
)

// Resign is how a leader is asked to hand over: at most one way is set, and none is where it cannot be asked.
type Resign struct {
	HTTP    *Endpoint          // to which is posted
	Body    *template.Template // of the request; nil for none
	Command []*template.Template
	Refused *regexp.Regexp // what the command prints where the node does not lead; nil where it says nothing of that
}

const resignWay = "resign: {http: /resign, port: NAME, body: '{…}'} or {command: [PROGRAM, …], refused: PATTERN}"

// readResign reads how a leader is asked to hand over.
func (s *Spec) readResign(_ value, f map[string]value) error {
	v, ok := f["resign"]
	if !ok {
		return nil
	}
	r, err := v.fields("http", "port", "body", "command", "refused")
	if err != nil {
		return err
	}
	path, posted := r["http"]
	command, run := r["command"]
	if posted == run {
		return v.bad(resignWay, "resign: one of http and command is wanted")
	}
	for name, with := range map[string]string{"port": "http", "body": "http", "refused": "command"} {
		_, goes := r[with]
		if at, given := r[name]; given && !goes {
			return at.bad(resignWay, "resign: %s goes with %s", name, with)
		}
	}
	if run {
		if s.Resign.Command, err = s.templates(command); err != nil {
			return err
		}
		if p, ok := r["refused"]; ok {
			s.Resign.Refused, err = p.pattern()
		}
		return err
	}
	if s.Resign.HTTP, err = s.endpoint(path, r); err != nil {
		return err
	}
	if b, ok := r["body"]; ok {
		s.Resign.Body, err = s.template(b)
	}
	return err
}

// HandOver is how leaders are asked to hand over; nil where they cannot be.
func (y *system) HandOver() election.HandOver {
	if y.Resign.HTTP == nil && y.Resign.Command == nil {
		return nil
	}
	return y.handOver
}

// handOver asks a node that says it leads, and no other: a command may well be of the whole cluster.
func (y *system) handOver(ctx context.Context, self election.Member, all []election.Member, heir election.ID, dial election.Dial) error {
	if heir != election.None {
		return election.ErrNoHeir
	}
	if y.Observe.asks() {
		o := y.Observer(self, all, dial)
		s, _, err := o.Observe(ctx)
		o.Close()
		if err != nil {
			return err
		}
		if s.Role != election.Leader {
			return election.ErrNotLeader
		}
	}
	if y.Resign.Command != nil {
		return y.resignBy(ctx, self, all)
	}
	return y.resignAt(ctx, self, all, dial)
}

// resignAt posts to the node.
func (y *system) resignAt(ctx context.Context, self election.Member, all []election.Member, dial election.Dial) error {
	body, at := "", y.Resign.HTTP
	if y.Resign.Body != nil {
		var err error
		if body, err = y.words(self, all).render(y.Resign.Body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://localhost:%d%s", at.Port, at.Path), strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	c := client(dial, at)
	defer c.CloseIdleConnections()
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode / 100 {
	case 2:
		return nil
	case 4:
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // for people; the status says it all
		return fmt.Errorf("%w: %s: %s", election.ErrRefused, resp.Status, strings.TrimSpace(string(said)))
	}
	return fmt.Errorf("POST %s answered %s", at.Path, resp.Status)
}

// resignBy runs the command. One that fails may have asked all the same.
func (y *system) resignBy(ctx context.Context, self election.Member, all []election.Member) error {
	out, err := y.run(ctx, self, all, y.Resign.Command)
	said := strings.TrimSpace(string(out))
	if err != nil {
		said += err.Error()
	}
	if y.Resign.Refused != nil && y.Resign.Refused.MatchString(said) {
		return fmt.Errorf("%w: %s", election.ErrRefused, clip([]byte(said)))
	}
	return err
}
