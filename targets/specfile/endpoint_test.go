package specfile

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

// Servers answer HTTP in many ways; an answer that is none says what would make it one.
func TestWaysToAnswerHTTP(t *testing.T) {
	const says = `{"role":"leader","term":2.0}`
	for name, c := range map[string]struct {
		serve                  http.HandlerFunc
		tls                    bool
		observe, problem, hint string
	}{
		"a status of followers": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprint(w, says)
			}, false, "status: [200, 503]", "", ""},
		"another status": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprint(w, says)
			}, false, "status: 200", "answered 503 Service Unavailable, not 200", "status: [200, 503]"},
		"headers": {
			func(w http.ResponseWriter, r *http.Request) {
				if r.Host != "inner" || r.Header.Get("Authorization") != "Bearer word" {
					http.Error(w, "who?", http.StatusUnauthorized)
					return
				}
				fmt.Fprint(w, says)
			}, false, "headers: {authorization: Bearer word, Host: inner}", "", ""},
		"no headers": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who?", http.StatusUnauthorized) }, false, "", "401", "headers: {Authorization: …}"},
		"a redirect": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://n2/s", http.StatusFound) },
			false, "", "answered 302 Found to http://n2/s, not 200", "redirects are not followed"},
		"packed": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				_, _ = io.WriteString(z, says)
				_ = z.Close()
			}, false, "", "", ""},
		"packed, and endless": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				_, _ = io.Copy(z, io.LimitReader(zeros{}, maxAnswer+1))
				_ = z.Close()
			}, false, "", "more than 8 MiB", ""},
		"said to be packed": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				fmt.Fprint(w, says)
			}, false, "", "gzip: invalid header", ""},
		"TLS":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, says) }, true, "tls: true", "", ""},
		"no TLS": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, says) }, true, "", "answered 400", "tls: true"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(c.serve)
			server.Config.ErrorLog = nil
			if c.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			st, err := askAt(t, server.Listener.Addr().String(), c.observe)
			if c.problem == "" {
				require.NoError(t, err)
				require.Equal(t, election.Status{Role: election.Leader, Term: 2, Leader: 1}, st)
				return
			}
			require.ErrorContains(t, err, c.problem)
			require.Contains(t, hint.Of(err), c.hint)
		})
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A server that speaks TLS and nothing else answers with an alert.
func TestAnAlertOfTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1000))
			_, _ = c.Write([]byte{0x15, 3, 1, 0, 2, 2, 0x46})
			c.Close()
		}
	}()
	_, err = askAt(t, l.Addr().String(), "")
	require.Contains(t, hint.Of(err), "tls: true")
}

// One that speaks no TLS, and is asked so.
func TestAnAnswerWithoutTLS(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, err := askAt(t, server.Listener.Addr().String(), "tls: true")
	require.Contains(t, hint.Of(err), "leave tls out")
}

// askAt asks a server at the address as n1.
func askAt(t *testing.T, address, with string) (election.Status, error) {
	t.Helper()
	if with != "" {
		with = ", " + with
	}
	s := parse(t, "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /s, role: role, term: term"+with+"}\n")
	all := members(2)
	o := driver(t, s, nil).Observer(all[0], all, func(ctx context.Context, _ int) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", address)
	})
	defer o.Close()
	st, _, err := o.Observe(t.Context())
	return st, err
}

func TestAskingOverTLSToHandOver(t *testing.T) {
	var asked string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = r.Method + " " + r.Header.Get("X-Key") + " " + r.Header.Get("Content-Type"); r.Method == http.MethodGet {
			fmt.Fprint(w, `{"role":"leader"}`)
		}
	}))
	defer server.Close()
	s := parse(t, "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /s, tls: true, role: role}\n"+
		"resign: {http: /r, tls: true, headers: {X-Key: k, Content-Type: text/plain}, body: go}\n")
	y, ok := driver(t, s, nil).(election.Abdicator)
	require.True(t, ok)
	all := members(2)
	require.NoError(t, y.HandOver()(t.Context(), all[0], all, election.None, func(ctx context.Context, _ int) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", server.Listener.Addr().String())
	}))
	require.Equal(t, "POST k text/plain", asked)
}

// Where a node is asked may differ from node to node, and from one value of a parameter to another.
func TestPathsOfNodes(t *testing.T) {
	s := parse(t, `image: a
ports: {http: 80, peer: 81}
parameters: {reads: {default: strong, choices: [strong, stale]}}
times: {silence: 1s}
services: {store: {image: b, ports: {client: 90}, nodes: 2, ready: {http: '/{{.Name}}/of/{{.Size}}?{{param "reads"}}'}}}
ready: {http: '/health/{{.ID}}', port: http}
observe:
  http: /nodes/{{.Name}}/status?{{param "reads"}}&peer={{port "peer"}}
  port: http
  role: role
register:
  get: {http: '/kv/x?level={{param "reads"}}', port: http, at: x}
  put: {http: '/kv/x?by={{.Name}}&x={{.Value}}', port: http}
`)
	for _, reads := range []string{"strong", "stale"} {
		y, all := driver(t, s, map[string]string{"reads": reads}), withServers(3, 2)
		require.NoError(t, y.(interface {
			Fits(all []election.Member) error
		}).Fits(all))
		k := &keeper{status: http.StatusOK, answer: `{"role": "follower", "x": 7}`}
		dial := k.dial(t)
		for _, self := range []election.Member{all[1], all[2], all[4]} {
			require.NoError(t, y.(election.Readier).Ready(t.Context(), self, all, dial))
			o := y.Observer(self, all, dial)
			for range 2 {
				_, _, err := o.Observe(t.Context())
				require.NoError(t, err)
			}
			require.NoError(t, o.Close())
		}
		x, err := y.(election.Storer).Get(t.Context(), all[1], all, dial)
		require.NoError(t, err)
		require.Equal(t, uint64(7), x)
		n2, n3, s2 := "GET /nodes/n2/status?"+reads+"&peer=81", "GET /nodes/n3/status?"+reads+"&peer=81", "GET /s2/of/2?"+reads
		require.Equal(t, []string{"GET /health/2", n2, n2, "GET /health/3", n3, n3, s2, s2, s2, "GET /kv/x?level=" + reads}, k.methods)
		require.Equal(t, election.OverDial, y.(election.Observed).Observed())
	}
}

// A server that answers is not ready before its answer says so: of its own node, where one answer tells of all.
func TestReadyByWhatAnAnswerSays(t *testing.T) {
	s := parse(t, "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nready: {http: /, match: '\"{{.Name}}\": *\"voter\"'}\nobserve: {http: /, role: role}\n")
	y, all := driver(t, s, nil), members(3)
	k := &keeper{status: http.StatusOK, answer: `{"n1": "voter", "n2": "nonvoter"}`}
	ready := func(i int) error { return y.(election.Readier).Ready(t.Context(), all[i], all, k.dial(t)) }
	require.NoError(t, ready(0))
	require.ErrorContains(t, ready(1), "`\"n2\": *\"voter\"` matches nothing in the answer `{\"n1\": \"voter\", \"n2\": \"nonvoter\"}`")
	k.status = http.StatusServiceUnavailable
	require.ErrorContains(t, ready(0), "503")
}

// Who is added is another member than the one of that name before it, and may be asked elsewhere. What lives beside it has not heard of that.
func TestAPathOfWhoWasAdded(t *testing.T) {
	y := driver(t, parse(t, strings.Replace(reseating, "{http: /, port: http,", "{http: '/{{.Name}}.{{.Joined}}', port: http,", 1)), nil)
	require.Equal(t, election.FromHere, y.(election.Observed).Observed())
	k, all := &keeper{status: http.StatusOK, answer: `{"role": "follower"}`}, members(3)
	dial := k.dial(t)
	o := y.Observer(all[2], all, dial)
	for _, as := range []election.Membership{election.Removed, election.Voter} {
		require.NoError(t, y.(election.Reconfigurable).Reconfigure(t.Context(), all[0], all, 3, as, dial))
		_, _, err := o.Observe(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, []string{"POST /remove n3", "GET /n3.0", "POST /add n3 1 by n1", "GET /n3.1"}, k.methods)
}

// A path that is sound with a parameter's default may not be with another value.
func TestAPathThatAnOptionBreaks(t *testing.T) {
	s := parse(t, "image: a\nports: {http: 80}\nparameters: {reads: a}\ntimes: {silence: 1s}\nobserve: {http: '/s?{{param \"reads\"}}', role: role}\n"+
		"register: {get: {http: '/{{param \"reads\"}}'}, put: {http: '/x?v={{.Value}}'}}\n")
	o, err := s.Target("a.yaml").Parse(map[string]string{"reads": "%zx"})
	require.NoError(t, err)
	_, err = s.System(o)
	require.ErrorContains(t, err, `spec: http: parse "/%zx": invalid URL escape "%zx"`)
	require.Contains(t, hint.Of(err), "%20")
}

func TestMistakesInEndpoints(t *testing.T) {
	for _, c := range []struct{ with, problem string }{
		{"observe: {http: /s, role: r, status: []}", "status: none is given"},
		{"observe: {http: /s, role: r, status: [200, up]}", `status: "up" is no HTTP status`},
		{"observe: {http: /s, role: r, tls: yes}", "neither true nor false"},
		{"observe: {http: /s, role: r, tls: {certificate: a.pem}}", "tls: key is missing"},
		{`observe: {http: /s, role: r, headers: {"a b": c}}`, "is no header of HTTP"},
		{`observe: {http: /s, role: r, headers: {a: "b\nc"}}`, "is no header of HTTP"},
		{"observe: {command: [a], role: r, tls: true}", "observe: tls goes with http"},
		{"observe: {http: /s, role: r}\nready: {tcp: http, status: 200}", "ready: status goes with http"},
		{"observe: {http: /s, role: r}\nready: {tcp: http, match: up}", "ready: match goes with http"},
		{"observe: {http: /s, role: r}\nready: {http: /s, match: '({{.Name}}'}", "a.yaml:5:26: match: error parsing regexp: missing closing )"},
		{"observe: {http: /s, role: r}\nresign: {command: [a], tls: true}", "resign: tls goes with http"},
		{"observe: {http: '/{{.Nome}}', role: r}", "a.yaml:4:17: http: can't evaluate field Nome"},
		{"observe: {http: '/{{.Name', role: r}", "a.yaml:4:17: http: "},
		{"observe:\n  metrics: /{{port \"peer\"}}\n  role: r", `a.yaml:5:12: metrics: port: unknown port "peer"`},
		{"observe: {http: '{{.Name}}', role: r}", `a.yaml:4:17: http: "n1" does not begin with /`},
		{"observe: {http: '/%z{{.Name}}', role: r}", `a.yaml:4:17: http: parse "/%zn1": invalid URL escape "%zn"`},
		{"observe: {http: /s, role: r}\nready: {http: '/{{param \"reads\"}}'}", `a.yaml:5:15: http: param: unknown parameter "reads"`},
		{"observe: {http: /s, role: r}\nresign: {http: '{{.Name}}'}", `a.yaml:5:16: http: "n1" does not begin with /`},
	} {
		_, err := Parse("a.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 1s}\n"+c.with+"\n"))
		require.ErrorContains(t, err, c.problem, strings.TrimSpace(c.with))
	}
}

// A server that wants a client's certificate is told one, and without says what it wants.
func TestAskingByACertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"role":"leader","term":2,"by":%d}`, len(r.TLS.PeerCertificates))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	dir := t.TempDir()
	own := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{"client.pem": {Type: "CERTIFICATE", Bytes: own.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	ask := func(how string) (election.Status, error) {
		file := filepath.Join(dir, "mine.yaml")
		text := "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /s, role: role, term: term, " + how + "}\n"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		s, err := Load(file)
		require.NoError(t, err)
		options, err := s.Target(file).Parse(nil)
		require.NoError(t, err)
		y, err := s.System(options)
		if err != nil {
			return election.Status{}, err
		}
		require.Equal(t, how != "tls: true", y.(election.Observed).Observed() == election.FromHere, "nothing beside a node has the certificate")
		o := y.Observer(members(1)[0], members(1), func(ctx context.Context, _ int) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", server.Listener.Addr().String())
		})
		defer o.Close()
		st, _, err := o.Observe(t.Context())
		return st, err
	}
	st, err := ask("tls: {certificate: client.pem, key: ./key.pem}")
	require.NoError(t, err)
	require.Equal(t, election.Leader, st.Role)

	_, err = ask("tls: true")
	require.Error(t, err)
	require.Contains(t, hint.Of(err), "tls: {certificate:")
	_, err = ask("tls: {certificate: client.pem, key: nokey.pem}")
	require.ErrorContains(t, err, "nokey.pem: no such file")
	require.NotEmpty(t, hint.Of(err))
}
