package specfile

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"golang.org/x/net/http/httpguts"

	"recount/election"
	"recount/internal/hint"
)

// How nodes are asked by HTTP: for their views, whether they have come up, to hand over, and for what clients want.

// endpoint reads where nodes are asked, and tries the path on a cluster of three.
func (s *Spec) endpoint(v value, beside map[string]value) (*Endpoint, error) {
	example, err := s.example()
	if err != nil {
		return nil, err
	}
	return example.endpoint(v, beside)
}

// endpoint reads the path of an HTTP request, which it tries, and the port and the status that are given beside it.
func (w words) endpoint(v value, beside map[string]value) (*Endpoint, error) {
	e, s := &Endpoint{Status: []int{http.StatusOK}, Method: http.MethodGet}, w.s
	var err error
	if e.Path, err = w.template(v); err != nil {
		return nil, err
	}
	if _, err := w.asking(e); err != nil {
		return nil, v.bad(hint.Of(err), "%s: %v", v.name, err)
	}
	switch p, given := beside["port"]; {
	case given:
		if e.Port, err = s.knownPort(p); err != nil {
			return nil, err
		}
	case len(s.Ports) == 1:
		for _, only := range s.Ports {
			e.Port = only
		}
	case len(s.Ports) == 0:
		return nil, v.bad("ports: {http: 8080}, the port on which the server listens in its container", "%s: no ports are given",
			v.name)
	default:
		return nil, v.bad("port: NAME, beside it", "%s: which of the ports?", v.name)
	}
	if c, ok := beside["status"]; ok {
		if e.Status, err = c.statuses(); err != nil {
			return nil, err
		}
	}
	if t, ok := beside["tls"]; ok {
		if err = s.readTLS(t, e); err != nil {
			return nil, err
		}
	}
	if h, ok := beside["headers"]; ok {
		e.Headers = map[string]*template.Template{}
		err = h.each(func(key, val value) error {
			t, err := w.template(val)
			if err != nil {
				return err
			}
			e.Headers[key.Value] = t
			if _, err := w.asking(e); err != nil {
				return val.bad(hint.Of(err), "%v", err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if m, ok := beside["method"]; ok {
		if e.Method, err = m.text(); err == nil && !slices.Contains(methods, e.Method) {
			err = &fault{m.Line, m.Column, hint.Unknown("method", e.Method, methods)}
		}
		if err != nil {
			return nil, err
		}
	}
	if b, ok := beside["body"]; ok {
		e.Body, err = w.template(b)
	}
	return e, err
}

// asking is how a node is asked at an endpoint.
type asking struct {
	path    string
	headers map[string]string
	body    string
}

// asking is how the node that w is seen from is asked. An error says why that cannot be sent.
func (w words) asking(at *Endpoint) (a asking, err error) {
	if a.path, err = w.render(at.Path); err != nil {
		return a, err
	}
	if !strings.HasPrefix(a.path, "/") {
		return a, hint.Add(fmt.Errorf("%q does not begin with /", a.path), "the path of the request, such as /status")
	}
	if _, err := url.ParseRequestURI(a.path); err != nil {
		return a, hint.Add(err, "%s", "a space is %20 in a path, and + or %20 behind its question mark")
	}
	a.headers = make(map[string]string, len(at.Headers))
	for _, name := range slices.Sorted(maps.Keys(at.Headers)) {
		text, err := w.render(at.Headers[name])
		if err != nil {
			return a, err
		}
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(text) {
			return a, hint.Add(fmt.Errorf("%q: %q is no header of HTTP", name, text), "headers: {Authorization: Bearer SECRET}")
		}
		a.headers[name] = text
	}
	if at.Body != nil {
		a.body, err = w.render(at.Body)
	}
	return a, err
}

// templates are those of the path and of the headers.
func (at *Endpoint) templates() []*template.Template {
	all := append(slices.Collect(maps.Values(at.Headers)), at.Path)
	if at.Body != nil {
		all = append(all, at.Body)
	}
	return all
}

// fromHere reports whether it is asked by what only this machine has or knows, and nothing that lives beside a node: a client's certificate,
// how often the node was added, what bootstrap has told.
func (at *Endpoint) fromHere() bool {
	return at.Certificate != "" || slices.ContainsFunc(at.templates(), func(t *template.Template) bool {
		text := t.Root.String()
		return strings.Contains(text, ".Joined") || strings.Contains(text, "kept ")
	})
}

// question is what one of the members that a node is in turn is asked by HTTP.
type question struct {
	at     *Endpoint
	of     election.ID
	joined int
}

// asking is how a node is asked. It is filled once for each of the members that the node is in turn.
func (y *system) asking(at *Endpoint, self election.Member, all []election.Member) (asking, error) {
	w := y.words(self, all)
	q := question{at, self.ID, w.joined[self.ID]}
	y.mu.Lock()
	defer y.mu.Unlock()
	if a, filled := y.asked[q]; filled {
		return a, nil
	}
	a, err := w.asking(at)
	if err == nil {
		y.asked[q] = a
	}
	return a, err
}

const tlsWay = "tls: true; or tls: {certificate: ./client.pem, key: ./client-key.pem}, paths that begin at the file's folder"

// readTLS reads that an endpoint speaks HTTPS, and the certificate that it is asked by, if it wants one.
func (s *Spec) readTLS(v value, e *Endpoint) (err error) {
	if !v.isMapping() {
		e.TLS, err = v.boolean()
		return err
	}
	f, err := v.fields("certificate", "key")
	if err != nil {
		return err
	}
	e.TLS = true
	for _, file := range []part[*string]{{"certificate", &e.Certificate}, {"key", &e.Key}} {
		path, given := f[file.name]
		if !given {
			return v.bad(tlsWay, "tls: %s is missing", file.name)
		}
		text, err := path.text()
		if err != nil {
			return err
		}
		*file.of = s.ofFolder(text)
	}
	return nil
}

// endpoints are all that are asked by HTTP.
func (s *Spec) endpoints() []*Endpoint {
	all, m := s.gets(), &s.Members
	for _, one := range slices.Concat(requests{&s.Resign, &s.Register.Put, &m.Remove, &m.Add, &m.Learner, &m.Promote}, s.Bootstrap.requests(), s.told()) {
		all = append(all, one.HTTP)
	}
	return slices.DeleteFunc(all, (*Endpoint).missing)
}

// gets are those at which nodes are asked for what they know, and for nothing to be done.
func (s *Spec) gets() []*Endpoint {
	return slices.DeleteFunc([]*Endpoint{s.Observe.HTTP, s.Ready.HTTP, s.Members.List.HTTP, s.Register.Get}, (*Endpoint).missing)
}

func (at *Endpoint) missing() bool { return at == nil }

// certified says which certificate cannot be used, if one cannot.
func (s *Spec) certified() error {
	all := s.endpoints()
	for _, one := range s.Services {
		if one.Own != nil {
			all = append(all, one.Own.endpoints()...)
		}
	}
	for _, at := range all {
		if _, err := at.certificate(nil); err != nil {
			return hint.Add(fmt.Errorf("spec: tls: %w", err), tlsWay)
		}
	}
	return nil
}

// certificate is what the endpoint is told by who asks, if anything is: crypto/tls asks for it when the server does.
func (at *Endpoint) certificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if at.Certificate == "" {
		return &tls.Certificate{}, nil
	}
	pair, err := tls.LoadX509KeyPair(at.Certificate, at.Key)
	return &pair, err
}

// statuses reads one status of HTTP, or several.
func (v value) statuses() (all []int, err error) {
	for _, one := range v.list() {
		text, err := one.text()
		if err != nil {
			return nil, err
		}
		status, err := strconv.Atoi(text)
		if err != nil || status < 100 || status > 599 {
			return nil, one.bad("such as 200, or [200, 503] where followers answer 503", "%s: %q is no HTTP status", v.name, text)
		}
		all = append(all, status)
	}
	if len(all) == 0 {
		return nil, v.bad("such as 200, or [200, 503] where followers answer 503", "%s: none is given", v.name)
	}
	return all, nil
}

// onlyWithHTTP refuses what says how HTTP is asked where it is not.
func onlyWithHTTP(given map[string]value, of string) error {
	for _, name := range []string{"status", "tls", "headers", "method", "body"} {
		if v, is := given[name]; is {
			return v.bad("leave it out", "%s: %s goes with http", of, name)
		}
	}
	return nil
}

// client asks one server over one connection, which is kept from one question to the next.
func client(dial election.Dial, at *Endpoint) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, at.Port) },
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true, GetClientCertificate: at.certificate}, // it is the election that is tested
			MaxIdleConns:       1,
			DisableCompression: true,

			MaxResponseHeaderBytes: 1 << 20,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// request is one to the endpoint, as one node is asked.
func (at *Endpoint) request(ctx context.Context, a asking) (*http.Request, error) {
	scheme := "http"
	if at.TLS {
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, at.Method, fmt.Sprintf("%s://localhost:%d%s", scheme, at.Port, a.path), strings.NewReader(a.body))
	if err != nil {
		return nil, err
	}
	for name, text := range a.headers {
		if req.Header.Set(name, text); http.CanonicalHeaderKey(name) == "Host" {
			req.Host = text
		}
	}
	if a.body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// maxAnswer is the longest answer that is read, in bytes, of what it holds once it is unpacked.
const maxAnswer = 8 << 20

// getOnce gets what a node answers, over a connection of its own.
func (y *system) getOnce(ctx context.Context, at *Endpoint, self election.Member, all []election.Member, dial election.Dial) ([]byte, error) {
	c := client(dial, at)
	defer c.CloseIdleConnections()
	return y.get(ctx, c, at, self, all)
}

// get gets what a node answers.
func (y *system) get(ctx context.Context, c *http.Client, at *Endpoint, self election.Member, all []election.Member) ([]byte, error) {
	a, err := y.asking(at, self, all)
	if err != nil {
		return nil, err
	}
	req, err := at.request(ctx, a)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(req)
	if err != nil {
		if !at.TLS && strings.Contains(err.Error(), "malformed HTTP response \"\\x15") { // an alert of TLS
			err = hint.Add(err, "%s", speaksTLS)
		}
		if strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
			err = hint.Add(err, "%s", speaksPlain)
		}
		if strings.Contains(err.Error(), "tls: certificate required") || strings.Contains(err.Error(), "tls: bad certificate") {
			err = hint.Add(err, "it wants a client's certificate that it trusts: tls: {certificate: ./client.pem, key: ./client-key.pem}")
		}
		return nil, err
	}
	defer resp.Body.Close()
	body, err := ReadAnswer(resp.Body) // to its end, or the connection could not be kept
	if err == nil && len(body) > 0 && resp.Header.Get("Content-Encoding") == "gzip" {
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = ReadAnswer(unpacked)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", at.Method, a.path, err)
	}
	if !slices.Contains(at.Status, resp.StatusCode) {
		return nil, at.unwanted(a.path, resp, body)
	}
	return body, nil
}

// ReadAnswer reads an answer to its end. One that is longer than any status is an error.
func ReadAnswer(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)
	}
	return body, err
}

// NotFollowed is the way out where a node's answer is a redirect.
const NotFollowed = "redirects are not followed, as another node may be behind them: ask where each tells of itself"

const (
	speaksTLS   = "it speaks TLS: tls: true"
	speaksPlain = "it speaks no TLS: leave tls out"
)

// unknown reports whether a status says that the server has no such path, or does nothing of that kind there.
func unknown(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusGone
}

// unwanted says what is wrong with an answer of another status, and what may help.
func (at *Endpoint) unwanted(path string, resp *http.Response, body []byte) error {
	var wanted []string
	for _, status := range at.Status {
		wanted = append(wanted, strconv.Itoa(status))
	}
	to := ""
	if where := resp.Header.Get("Location"); where != "" && resp.StatusCode/100 == 3 {
		to = " to " + where
	}
	err := fmt.Errorf("%s %s answered %s%s, not %s", at.Method, path, resp.Status, to, strings.Join(wanted, " or "))
	if len(body) > 0 {
		err = fmt.Errorf("%w; the answer is %#q", err, clip(body))
	}
	if unknown(resp.StatusCode) {
		return hint.Add(mistaken{err}, "its server has no such path, or takes no %s there: is it that of another port? If that answer tells as much: status: [%s, %d]",
			at.Method, strings.Join(wanted, ", "), resp.StatusCode)
	}
	switch {
	case !at.TLS && strings.Contains(string(body), "HTTP request to an HTTPS server"),
		!at.TLS && strings.Contains(string(body), "plain HTTP request was sent to HTTPS port"):
		return hint.Add(err, "%s", speaksTLS)
	case to != "":
		return hint.Add(err, NotFollowed)
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return hint.Add(err, "what it wants to be told goes into headers: {Authorization: …}")
	case len(body) > 0:
		return hint.Add(err, "if that answer tells as much: status: [%s, %d]", strings.Join(wanted, ", "), resp.StatusCode)
	}
	return err
}
