package specfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"recount/election"
	"recount/internal/hint"
)

// Request is how a node is asked to do something: at most one of HTTP and Command is set, and none is where it cannot be asked.
type Request struct {
	HTTP    *Endpoint
	Command []*template.Template
	Refused *regexp.Regexp // what the command prints where the node does not do it; nil where it says nothing of that
}

func (r *Request) given() bool { return r.HTTP != nil || r.Command != nil }

func (r *Request) templates() (all []*template.Template) {
	if r.HTTP != nil {
		all = r.HTTP.templates()
	}
	return append(all, r.Command...)
}

// requests are some of which none need be given.
type requests []*Request

func (some requests) templates() (all []*template.Template) {
	for _, r := range some {
		all = append(all, r.templates()...)
	}
	return all
}

// byCommand reports whether a command is run for one of them.
func (some requests) byCommand() bool {
	return slices.ContainsFunc(some, func(r *Request) bool { return r.Command != nil })
}

// requestFields are those of how a node is asked.
var requestFields = []string{"http", "method", "port", "tls", "headers", "body", "command", "refused"}

// request reads how a node is asked, with templates that are tried on an example. way is how it may be written.
func (w words) request(v value, way string) (q Request, err error) {
	r, err := v.fields(requestFields...)
	if err != nil {
		return q, err
	}
	return w.requestOf(v, r, way)
}

// requestOf is request of the fields that v has.
func (w words) requestOf(v value, r map[string]value, way string) (q Request, err error) {
	path, posted := r["http"]
	command, run := r["command"]
	if posted == run {
		return q, v.bad(way, "%s: one of http and command is wanted", v.name)
	}
	for _, field := range []part[string]{{"method", "http"}, {"port", "http"}, {"tls", "http"}, {"headers", "http"}, {"body", "http"}, {"status", "http"}, {"refused", "command"}} {
		_, goes := r[field.of]
		if at, given := r[field.name]; given && !goes {
			return q, at.bad(way, "%s: %s goes with %s", v.name, field.name, field.of)
		}
	}
	if run {
		if q.Command, err = w.command(command); err != nil {
			return q, err
		}
		if p, ok := r["refused"]; ok {
			q.Refused, err = p.pattern()
		}
		return q, err
	}
	if q.HTTP, err = w.endpoint(path, r); err != nil {
		return q, err
	}
	if _, ok := r["method"]; !ok {
		q.HTTP.Method = http.MethodPost
	}
	return q, nil
}

// methods has GET too, which servers take for a change although it asks for none. It is sent once: each request has a connection of
// its own, and what is sent again by itself is what an old connection lost.
var methods = []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodGet}

// statusGaveUp is what servers answer whose client waits no longer: nginx, and gateways to gRPC.
const statusGaveUp = 499

// ask asks the node that w is seen from. An error that is Certain says that it does not do it.
func (y *system) ask(ctx context.Context, q *Request, w words, dial election.Dial) error {
	_, err := y.askFor(ctx, q, w, dial, false)
	return err
}

// askFor is ask, and what the node answers, where that is wanted.
func (y *system) askFor(ctx context.Context, q *Request, w words, dial election.Dial, wanted bool) ([]byte, error) {
	if q.Command != nil {
		return y.askBy(ctx, q, w)
	}
	return y.askAt(ctx, q, w, dial, wanted)
}

// askAt sends the node a request of HTTP.
func (y *system) askAt(ctx context.Context, q *Request, w words, dial election.Dial, wanted bool) ([]byte, error) {
	at := q.HTTP
	a, err := w.asking(at)
	if err != nil {
		return nil, err
	}
	req, err := at.request(ctx, a)
	if err != nil {
		return nil, err
	}
	dial, connected := dial.Noting()
	c := client(dial, at)
	defer c.CloseIdleConnections()
	resp, err := c.Do(req)
	switch {
	case err != nil && !connected():
		return nil, fmt.Errorf("%w: %w", election.ErrRefused, err)
	case err != nil:
		return nil, err
	}
	defer resp.Body.Close()
	switch status := resp.StatusCode; {
	case status/100 == 2, slices.Contains(at.Status, status):
		if wanted {
			return ReadAnswer(resp.Body)
		}
		return nil, nil
	case status == http.StatusRequestTimeout, status == statusGaveUp: // time ran out, and it may be done yet
	case status/100 == 4, status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect: // to who would do it
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // for people; the status says it all
		why := election.ErrRefused
		if resp.StatusCode == http.StatusConflict {
			why = election.ErrNotYet
		}
		err := fmt.Errorf("%w: %s: %s", why, resp.Status, strings.TrimSpace(string(said)))
		if unknown(status) {
			err = hint.Add(err, "its server has no such path, or takes no %s there: method: %s", at.Method, strings.Join(methods, ", "))
		}
		return nil, err
	}
	return nil, fmt.Errorf("%s %s answered %s", at.Method, a.path, resp.Status)
}

// askBy runs the command, and returns what it prints. One that fails may have asked all the same.
func (y *system) askBy(ctx context.Context, q *Request, w words) ([]byte, error) {
	out, err := y.runIn(ctx, w, q.Command)
	said := []string{string(out)}
	if ended := election.Ended(nil); errors.As(err, &ended) {
		out, errs := ended.Printed()
		said = slices.DeleteFunc([]string{out, errs, ended.Error()}, func(text string) bool { return text == "" })
	} else if err != nil {
		return nil, err // whatever stands there is not the command's word
	}
	if q.Refused == nil || !slices.ContainsFunc(said, func(text string) bool { return q.Refused.MatchString(strings.TrimSpace(text)) }) {
		return out, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", election.ErrRefused, err)
	}
	return nil, fmt.Errorf("%w: %s", election.ErrRefused, clip(bytes.TrimSpace(out)))
}
