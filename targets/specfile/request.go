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

// Request is how a node is asked to do something: at most one of HTTP and Command is set, and none is where it cannot be asked.
type Request struct {
	HTTP    *Endpoint          // to which is posted
	Body    *template.Template // of the request; nil for none
	Command []*template.Template
	Refused *regexp.Regexp // what the command prints where the node does not do it; nil where it says nothing of that
}

func (r *Request) given() bool { return r.HTTP != nil || r.Command != nil }

func (r *Request) templates() (all []*template.Template) {
	if all = append(all, r.Command...); r.Body != nil {
		all = append(all, r.Body)
	}
	return all
}

// request reads how a node is asked, with templates that are tried on an example. way is how it may be written.
func (w words) request(v value, way string) (q Request, err error) {
	r, err := v.fields("http", "port", "tls", "headers", "body", "command", "refused")
	if err != nil {
		return q, err
	}
	path, posted := r["http"]
	command, run := r["command"]
	if posted == run {
		return q, v.bad(way, "%s: one of http and command is wanted", v.name)
	}
	for _, field := range []part[string]{{"port", "http"}, {"tls", "http"}, {"headers", "http"}, {"body", "http"}, {"refused", "command"}} {
		_, goes := r[field.of]
		if at, given := r[field.name]; given && !goes {
			return q, at.bad(way, "%s: %s goes with %s", v.name, field.name, field.of)
		}
	}
	if run {
		for _, one := range command.list() {
			t, err := w.template(one)
			if err != nil {
				return q, err
			}
			q.Command = append(q.Command, t)
		}
		if p, ok := r["refused"]; ok {
			q.Refused, err = p.pattern()
		}
		return q, err
	}
	if q.HTTP, err = w.s.endpoint(path, r); err != nil {
		return q, err
	}
	if b, ok := r["body"]; ok {
		q.Body, err = w.template(b)
	}
	return q, err
}

// ask asks the node that w is seen from. An error that is Certain says that it does not do it.
func (y *system) ask(ctx context.Context, q *Request, w words, dial election.Dial) error {
	if q.Command != nil {
		return y.askBy(ctx, q, w)
	}
	return y.askAt(ctx, q, w, dial)
}

// askAt posts to the node.
func (y *system) askAt(ctx context.Context, q *Request, w words, dial election.Dial) error {
	body, at := "", q.HTTP
	if q.Body != nil {
		var err error
		if body, err = w.render(q.Body); err != nil {
			return err
		}
	}
	req, err := at.request(ctx, http.MethodPost, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" && req.Header.Get("Content-Type") == "" {
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
		why := election.ErrRefused
		if resp.StatusCode == http.StatusConflict {
			why = election.ErrNotYet
		}
		return fmt.Errorf("%w: %s: %s", why, resp.Status, strings.TrimSpace(string(said)))
	}
	return fmt.Errorf("POST %s answered %s", at.Path, resp.Status)
}

// askBy runs the command. One that fails may have asked all the same.
func (y *system) askBy(ctx context.Context, q *Request, w words) error {
	out, err := y.runIn(ctx, w, q.Command)
	said := strings.TrimSpace(string(out))
	if err != nil {
		said = strings.TrimPrefix(said+": "+err.Error(), ": ")
	}
	if q.Refused != nil && q.Refused.MatchString(said) {
		return fmt.Errorf("%w: %s", election.ErrRefused, clip([]byte(said)))
	}
	return err
}
