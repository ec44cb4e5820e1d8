package specfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

const registering = `image: a
ports: {http: 80}
times: {silence: 1s}
observe: {http: /, role: role}
register: {get: GET, put: PUT}
`

// keeper answers what it is told to, and keeps what it was asked.
type keeper struct {
	status  int
	answer  string
	where   string // a redirect leads
	methods []string
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	k.methods = append(k.methods, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	if k.where != "" {
		w.Header().Set("Location", k.where)
	}
	w.WriteHeader(k.status)
	fmt.Fprint(w, k.answer)
}

func (k *keeper) dial(t *testing.T) election.Dial {
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	return func(ctx context.Context, _ int) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
}

func registeringBy(get, put string) string {
	return strings.NewReplacer("GET", get, "PUT", put).Replace(registering)
}

func TestANumberIsReadFromAnswers(t *testing.T) {
	for _, c := range []struct {
		get    string
		status int
		answer string
		want   uint64
		err    string
	}{
		{"{http: /kv/x}", 200, "18446744073709551615\n", 1<<64 - 1, ""},
		{"{http: /kv/x, at: node.value}", 200, `{"node": {"value": "7"}}`, 7, ""},
		{"{http: /kv/x, at: node.value}", 200, `{"node": {"value": 7}}`, 7, ""},
		{"{http: /kv/x, at: node.value}", 200, `{"node": {}}`, 0, "the answer has no node.value; the answer is"},
		{"{http: /kv/x, at: node.value, unset: '\"node\": \\{\\}'}", 200, `{"node": {}}`, 0, ""},
		{"{http: /kv/x, at: node.value}", 200, `so`, 0, "is no JSON"},
		{"{http: /kv/x, match: 'x=(?P<value>\\d*)'}", 200, "a=1\nx=12\n", 12, ""},
		{"{http: /kv/x, match: 'x=(?P<value>\\d*)'}", 200, "a=1\n", 0, "match finds nothing"},
		{"{http: /kv/x, match: 'x=(?P<value>\\d*)'}", 200, "x=\n", 0, `"" is not the number that was written`},
		{"{http: /kv/x, unset: '0'}", 200, "0", 0, ""},
		{"{http: /kv/x, unset: '0'}", 200, "10", 0, "unset matches an answer that has a number, 10"},
		{"{http: /kv/x}", 404, "no such key", 0, "GET /kv/x answered 404 Not Found, not 200"},
		{"{http: /kv/x, status: [200, 404], unset: no such key}", 404, "no such key", 0, ""},
	} {
		k := &keeper{status: c.status, answer: c.answer}
		y := driver(t, parse(t, registeringBy(c.get, "{http: /kv/x, body: '{{.Value}}'}")), nil).(election.Storer)
		all := members(3)
		got, err := y.Get(t.Context(), all[1], all, k.dial(t))
		if c.err == "" {
			require.NoError(t, err, c.get)
		} else {
			require.ErrorContains(t, err, c.err, c.get)
			require.True(t, election.Certain(err), "a read changes nothing")
			require.True(t, Misdescribed(err), "and the run has to say so")
		}
		require.Equal(t, c.want, got, c.get)
		require.Equal(t, []string{"GET /kv/x"}, k.methods)
	}
}

func TestANumberIsWritten(t *testing.T) {
	for _, c := range []struct {
		put     string
		k       keeper
		asked   string
		certain bool // that it was written, or was not
		err     string
	}{
		{"{http: /kv/x, body: '{\"of\": \"{{.Name}}\", \"x\": {{.Value}}}'}", keeper{status: 200}, `POST /kv/x {"of": "n2", "x": 9}`, true, ""},
		{"{http: '/kv/x?value={{.Value}}', method: PUT}", keeper{status: 204}, "PUT /kv/x?value=9", true, ""},
		{"{http: '/kv/x/{{.Value}}', method: GET}", keeper{status: 200}, "GET /kv/x/9", true, ""},
		{"{http: '/kv/x?value={{.Value}}'}", keeper{status: 409, answer: "no leader"}, "POST /kv/x?value=9", true, "it refused for now: 409 Conflict: no leader"},
		{"{http: '/kv/x?value={{.Value}}'}", keeper{status: 307, where: "http://n1/kv/x"}, "POST /kv/x?value=9", true, "it refused: 307 Temporary Redirect"},
		{"{http: '/kv/x?value={{.Value}}'}", keeper{status: 303, where: "/kv/x"}, "POST /kv/x?value=9", false, "POST /kv/x?value=9 answered 303 See Other"},
		{"{http: '/kv/x?value={{.Value}}'}", keeper{status: 503}, "POST /kv/x?value=9", false, "POST /kv/x?value=9 answered 503 Service Unavailable"},
		{"{http: '/kv/x?value={{.Value}}'}", keeper{status: 408}, "POST /kv/x?value=9", false, "POST /kv/x?value=9 answered 408 Request Timeout"},
		{"{http: '/kv/x?value={{.Value}}'}", keeper{status: 499}, "POST /kv/x?value=9", false, "POST /kv/x?value=9 answered 499"},
	} {
		y := driver(t, parse(t, registeringBy("{http: /kv/x}", c.put)), nil).(election.Storer)
		all := members(3)
		err := y.Put(t.Context(), all[1], all, 9, c.k.dial(t))
		require.Equal(t, []string{c.asked}, c.k.methods)
		if c.err == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.err)
		require.Equal(t, c.certain, election.Certain(err), c.err)
	}

	// Of a server that nobody could connect to it is certain that nothing was written; of one that hung up nobody knows.
	y := driver(t, parse(t, registeringBy("{http: /kv/x}", "{http: '/{{.Value}}'}")), nil).(election.Storer)
	all := members(3)
	err := y.Put(t.Context(), all[0], all, 9, func(context.Context, int) (net.Conn, error) { return nil, errors.New("connection refused") })
	require.ErrorContains(t, err, "connection refused")
	require.True(t, election.Certain(err))
	err = y.Put(t.Context(), all[0], all, 9, func(context.Context, int) (net.Conn, error) {
		ours, theirs := net.Pipe()
		return ours, theirs.Close()
	})
	require.Error(t, err)
	require.False(t, election.Certain(err))

	// A server of a service keeps none, and who says nothing of a register has none, whatever else it is.
	servers := withServers(1, 1)
	require.ErrorIs(t, y.Put(t.Context(), servers[1], servers, 9, nil), election.ErrCannot)
	_, err = y.Get(t.Context(), servers[1], servers, nil)
	require.ErrorIs(t, err, election.ErrCannot)
	_, can := driver(t, parse(t, resigning), nil).(election.Storer)
	require.False(t, can)
}

// A request that broke off may have been done, also one whose method asks for no change: sent again by itself, it would write later what nobody waits for.
func TestAWriteThatBreaksOffIsSentOnce(t *testing.T) {
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		var sent []string
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			sent = append(sent, r.Method+" "+r.URL.Path)
			panic(http.ErrAbortHandler)
		}))
		t.Cleanup(server.Close)
		dial := func(ctx context.Context, _ int) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		}
		y := driver(t, parse(t, registeringBy("{http: /kv/x}", "{http: '/kv/x/{{.Value}}', method: "+method+"}")), nil).(election.Storer)
		all := members(3)
		for range 2 {
			err := y.Put(t.Context(), all[1], all, 9, dial)
			require.ErrorContains(t, err, "EOF")
			require.False(t, election.Certain(err))
		}
		server.Close() // nobody adds to it any more
		require.Equal(t, []string{method + " /kv/x/9", method + " /kv/x/9"}, sent)
	}
}

// What is asked for may be asked for by any method, and with a body, wherever nodes are asked.
func TestAnswersToRequestsWithABody(t *testing.T) {
	k := &keeper{status: 200, answer: `{"role": "leader", "value": 7}`}
	dial, all := k.dial(t), members(2)
	posted := "{http: /ask, method: POST, body: '{\"of\": \"{{.Name}}\"}'"
	y := driver(t, parse(t, `image: a
ports: {http: 80}
times: {silence: 1s}
ready: `+posted+`}
observe: `+posted+`, role: role}
register: {get: `+posted+`, at: value}, put: {http: /set, body: '{{.Value}}'}}
`), nil)
	require.NoError(t, y.(election.Readier).Ready(t.Context(), all[1], all, dial))
	o := y.Observer(all[1], all, dial)
	st, _, err := o.Observe(t.Context())
	require.NoError(t, err)
	require.Equal(t, election.Leader, st.Role)
	require.NoError(t, o.Close())
	n, err := y.(election.Storer).Get(t.Context(), all[1], all, dial)
	require.NoError(t, err)
	require.EqualValues(t, 7, n)
	asked := `POST /ask {"of": "n2"}`
	require.Equal(t, []string{asked, asked, asked}, k.methods)

	k.status, k.answer = 405, ""
	_, err = y.(election.Storer).Get(t.Context(), all[1], all, dial)
	require.ErrorContains(t, err, "POST /ask answered 405 Method Not Allowed, not 200")
	for _, observe := range []string{"{command: [a], role: role, body: b}", "{command: [a], role: role, method: POST}"} {
		_, err = Parse("a.yaml", []byte("image: a\ntimes: {silence: 1s}\nobserve: "+observe+"\n"))
		require.ErrorContains(t, err, "goes with http")
	}
}

// What else a file describes goes on as it did.
func TestARegisterComesBesideAllElse(t *testing.T) {
	register := "register: {get: {http: /x}, put: {http: '/x?v={{.Value}}'}}\n"
	logs := "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {logs: [{match: 'leads (?P<term>\\d+)', role: leader}]}\n"
	y := driver(t, parse(t, logs+register), nil)
	require.Implements(t, (*election.Storer)(nil), y)
	require.Equal(t, election.ByLogs, y.(election.Observed).Observed())

	y = driver(t, parse(t, reseating+strings.ReplaceAll(register, "http: ", "port: admin, http: ")), nil)
	require.Implements(t, (*election.Storer)(nil), y)
	require.Implements(t, (*election.Reconfigurable)(nil), y)
}

func TestWhatIsWrongWithARegister(t *testing.T) {
	get, put := "{http: /x}", "{http: '/x?v={{.Value}}'}"
	for _, c := range []struct{ get, put, want string }{
		{"{}", put, "register: get: http is missing"},
		{"{http: x}", put, "does not begin with /"},
		{"{http: '/x/{{.Value}}'}", put, `5:24: http: can't evaluate field Value`},
		{"{http: /x, at: a, match: 'b(?P<value>.)'}", put, "both at and match are given"},
		{"{http: /x, match: 'b(.)'}", put, "match has no group value"},
		{"{http: /x, match: '('}", put, "match"},
		{"{http: /x, at: 'a..b'}", put, "no path into JSON"},
		{"{http: /x, method: HEAD}", put, `unknown method "HEAD"`},
		{"{http: /x, body: '{{.Value}}'}", put, "can't evaluate field Value"},
		{"{http: /%zx}", put, `invalid URL escape "%zx"`},
		{get, "{http: '/x/{{.Value}}%zx'}", "invalid URL escape"},
		{get, "{http: /x}", "neither http nor body uses {{.Value}}"},
		{get, "{http: /x, body: '{{.Token}}'}", "Token"},
		{get, "{command: [set, '{{.Value}}']}", "put: http is missing"},
		{get, "{http: '/x?v={{.Value}}', method: HEAD}", `unknown method "HEAD"`},
		{get, "{http: '/x?v={{.Value}}', method: DELEET}", `unknown method "DELEET"`},
	} {
		_, err := Parse("a.yaml", []byte(registeringBy(c.get, c.put)))
		require.ErrorContains(t, err, c.want, c)
	}
	_, err := Parse("a.yaml", []byte(strings.Replace(registering, "{get: GET, put: PUT}", "{get: {http: /x}}", 1)))
	require.ErrorContains(t, err, "register: put is missing")
}
