package specfile

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
	"recount/internal/option"
)

// readerOf reads the answers of n2 of three.
func readerOf(t *testing.T, observe string) *reader {
	t.Helper()
	s := parse(t, "image: a\nports: {http: 8080}\ntimes: {silence: 1s}\nobserve: "+observe+"\n")
	w, err := s.example()
	require.NoError(t, err)
	w.all = members(3)
	w.self = w.all[1]
	r, err := s.reader(w, &directory{})
	require.NoError(t, err)
	return r
}

func TestAnswers(t *testing.T) {
	const (
		json    = `{http: /, role: {at: raft.state, leader: [L], follower: [F]}, term: raft.term, leader: '["lead.er"]'}`
		names   = `{http: /, leader: lead}`
		named   = `{http: /, leader: lead, term: term}`
		token   = `{http: /, role: role, term: {at: token, of: leader}}`
		zero    = `{http: /, role: role, term: {at: view, first: 0}}`
		tenured = `{http: /, role: role, tenure: since}`
		word    = `{http: /, role: role}`
		led     = `{http: /, role: {at: role, leader: [MASTER]}}`
		omitted = `{http: /, role: {at: leads, follower: ''}, leader: lead}`
		gauge   = `{metrics: /m, role: {at: up, follower: ['', '0']}}`
		deep    = `{http: /, leader: now.leader.id}`
		own     = `{http: /, leader: {at: lead, named: 'node-{{.ID}}', nobody: [nobody]}}`
		metrics = `{metrics: /m, role: 'up{job="x"}', term: term, leader: 'who#node'}`
		counted = `{metrics: /m, role: up, term: {at: 'token{of="me"}', of: leader}, leader: who}`
		text    = `{command: [a], match: '(?s)Mode: (?P<role>\w+)\n.*Epoch: (?P<term>\d+)'}`
	)
	for _, c := range []struct {
		observe, answer string
		want            election.Status
		problem         string
	}{
		{json, `{"raft":{"state":"L","term":7},"lead.er":2}`, election.Status{Role: election.Leader, Term: 7, Leader: 2}, ""},
		{json, `{"raft":{"state":"F","term":"9"},"lead.er":"n3"}`, election.Status{Term: 9, Leader: 3}, ""},
		{json, `{"raft":{"state":"F","term":18446744073709551615},"lead.er":null}`, election.Status{Term: 1<<64 - 1}, ""},
		{zero, `{"role":"leader","view":0}`, election.Status{Role: election.Leader, Term: 1, Leader: 2}, ""},
		{zero, `{"role":"leader","view":18446744073709551615}`, election.Status{Role: election.Leader, Term: 1<<64 - 1, Leader: 2}, ""},
		{zero, `{"role":"leader","view":null}`, election.Status{}, "it says that it leads, in no term"},
		{json, `{"raft":{"state":"candidate","term":9},"lead.er":""}`, election.Status{Role: election.Candidate, Term: 9}, ""},
		{json, `{"raft":{"state":"X","term":9},"lead.er":""}`, election.Status{}, `role "X" is none of`},
		{json, `{"raft":{"state":"` + strings.Repeat("X", 1<<20) + `","term":9}}`, election.Status{}, `XX…", which has 1048576 bytes, is no word and no number`},
		{json, `{"raft":{"state":"F","term":9},"lead.er":"` + strings.Repeat("\xff", 1<<20) + `"}`, election.Status{}, "which has 3145728 bytes"},
		{metrics, "up" + strings.Repeat("\x01", 1<<20), election.Status{}, `…" is no sample of a metric`},
		{metrics, `up{` + strings.Repeat("x", 1<<20) + `} 1`, election.Status{}, `…" is not label="value"`},
		{json, `{"raft":{"state":"F","term":1.5},"lead.er":""}`, election.Status{}, `term "1.5" is no whole number of 0 or more`},
		{json, `{"raft":{"state":"F","term":1.5e1},"lead.er":3.0}`, election.Status{Term: 15, Leader: 3}, ""},
		{json, `{"raft":{"state":"L","term":0}}`, election.Status{}, "it says that it leads, in no term"},
		{json, `{"raft":{"state":"L","term":null}}`, election.Status{}, "it says that it leads, in no term"},
		{named, `{"lead":2,"term":0}`, election.Status{}, "it says that it leads, in no term"},
		{named, `{"lead":3,"term":0}`, election.Status{Leader: 3}, ""},
		{json, `{"raft":{"state":"F"},"lead.er":""}`, election.Status{}, "the answer has no raft.term"},
		{json, `{"raft":{"state":["F"],"term":1},"lead.er":""}`, election.Status{}, "raft.state is not a single value"},
		{json, `{"raft":{"state":"F","term":1},"lead.er":"n4"}`, election.Status{}, `leader "n4" is none of the nodes`},
		{json, `{"raft":{"state":"F","term":1}}`, election.Status{Term: 1}, ""},
		{json, `{"raft":{"state":"L","term":1}}`, election.Status{Role: election.Leader, Term: 1, Leader: 2}, ""},
		{token, `{"role":"follower"}`, election.Status{}, ""},
		{token, `{"role":"leader","token":3}`, election.Status{Role: election.Leader, Leader: 2, Term: 3}, ""},
		{token, `{"role":"leader"}`, election.Status{}, "it says that it leads, in no term"},
		{tenured, `{"role":"leader","since":3}`, election.Status{Role: election.Leader, Leader: 2, Tenure: 3}, ""},
		{tenured, `{"role":"leader","since":"2026-03-14T15:09:26.535+01:00"}`, election.Status{Role: election.Leader, Leader: 2, Tenure: 1773497366535000000}, ""},
		{tenured, `{"role":"follower","since":"3"}`, election.Status{}, ""},
		{tenured, `{"role":"follower"}`, election.Status{}, ""},
		{tenured, `{"role":"leader"}`, election.Status{}, "the answer has no since"},
		{tenured, `{"role":"leader","since":0}`, election.Status{}, `it says that it leads, and that its tenure is "0"`},
		{tenured, `{"role":"leader","since":"0001-01-01T00:00:00Z"}`, election.Status{}, `its tenure is "0001-01-01T00:00:00Z"`},
		{tenured, `{"role":"leader","since":"yes"}`, election.Status{}, `tenure "yes" is neither a whole number nor a time`},
		{word, `{"role":"follower"}`, election.Status{}, ""},
		{word, `{"role":true}`, election.Status{Role: election.Leader, Leader: 2}, ""},
		{word, `{"role":"MASTER"}`, election.Status{}, `role "MASTER" is none of`},
		{led, `{"role":"SLAVE"}`, election.Status{}, ""},
		{led, `{"lead":1}`, election.Status{}, "the answer has no role"},
		{omitted, `{"leads":true,"lead":2}`, election.Status{Role: election.Leader, Leader: 2}, ""},
		{omitted, `{"lead":3}`, election.Status{Leader: 3}, ""},
		{omitted, `{"leads":null}`, election.Status{}, ""},
		{omitted, `{"leads":false}`, election.Status{}, `role "false" is none of`},
		{gauge, "up 0\n", election.Status{}, ""},
		{gauge, "down 0\n", election.Status{}, "the answer has no metric up"},
		{deep, `{"now":{"leader":{"id":3}}}`, election.Status{Leader: 3}, ""},
		{deep, `{"now":{"leader":null}}`, election.Status{}, ""},
		{deep, `{"now":{"leader":{"id":[3]}}}`, election.Status{}, "now.leader.id is not a single value"},
		{json, `oops`, election.Status{}, "`oops` is no JSON"},
		{names, `{"lead":"10.0.0.2:8080"}`, election.Status{Role: election.Leader, Leader: 2}, ""},
		{names, `{"lead":"http://10.0.0.1:8080"}`, election.Status{Leader: 1}, ""},
		{names, `{"lead":"10.0.0.3"}`, election.Status{Leader: 3}, ""},
		{names, `{"lead":"0"}`, election.Status{}, ""},
		{own, `{"lead":"node-2"}`, election.Status{Role: election.Leader, Leader: 2}, ""},
		{own, `{"lead":"nobody"}`, election.Status{}, ""},
		{own, `{"lead":"n2"}`, election.Status{}, "none of the nodes"},
		{metrics, "# TYPE up gauge\nup{job=\"y\"} 0\nup{job=\"x\",a=\"b\"} 1\nterm 1.2e+01\nwho{node=\"n1\"} 0\nwho{node=\"n2\"} 1\n", election.Status{Role: election.Leader, Term: 12, Leader: 2}, ""},
		{metrics, "up{job=\"x\"} 0 1700000000000\nterm 3\nwho{node=\"n1\"} 0\n", election.Status{Term: 3}, ""},
		{metrics, "up{job=\"x\"} 0\n", election.Status{}, "no metric term"},
		{metrics, "up{job=\"x\"} 0\nup{job=\"x\"} 1\nterm 1\nwho{node=\"n1\"} 0\n", election.Status{}, "2 samples of up"},
		{counted, "up 0\nwho 3\n", election.Status{Leader: 3}, ""},
		{counted, "up 1\nwho 2\ntoken{of=\"me\"} 7\n", election.Status{Role: election.Leader, Term: 7, Leader: 2}, ""},
		{counted, "up 1\nwho 2\n", election.Status{}, "it says that it leads, in no term"},
		{counted, "up 0\n", election.Status{}, "no metric who"},
		{metrics, "<html>", election.Status{}, "no sample of a metric"},
		{text, "Mode: leader\nx\nEpoch: 5\n", election.Status{Role: election.Leader, Term: 5, Leader: 2}, ""},
		{text, "Mode: standalone", election.Status{}, "match finds nothing"},
	} {
		st, err := readerOf(t, c.observe).view([]byte(c.answer))
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem)
			continue
		}
		require.NoError(t, err, c.answer)
		require.Equal(t, c.want, st, c.answer)
	}
	_, err := readerOf(t, json).view([]byte(`{"raft":{"state":"L","term":0}}`))
	require.Contains(t, hint.Of(err), "Where they begin with 0, say term: {at: FIELD, first: 0}")
	_, err = readerOf(t, json).view([]byte("# TYPE up gauge\nup 1\n"))
	require.Contains(t, hint.Of(err), "observe them by metrics: PATH")
	_, err = readerOf(t, json).view([]byte("oops"))
	require.Empty(t, hint.Of(err))
}

// A server that is asked over HTTP; the answer that is torn, by the spec's own word, accuses nobody.
func TestObserveOverHTTP(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"role":"leader","path":%q}`, r.URL.Path)
	}))
	defer server.Close()
	at, err := url.Parse(server.URL)
	require.NoError(t, err)
	_, portText, err := net.SplitHostPort(at.Host)
	require.NoError(t, err)
	port, err := strconv.Atoi(portText)
	require.NoError(t, err)
	dial := func(ctx context.Context, to int) (net.Conn, error) {
		require.Equal(t, port, to)
		var d net.Dialer
		return d.DialContext(ctx, "tcp", at.Host)
	}
	s := parse(t, "image: a\nports: {http: "+portText+"}\ntimes: {silence: 1s}\nobserve: {http: /s, role: role, atomic: false}\n")
	y, all := driver(t, s, nil), members(2)
	o := y.Observer(all[0], all, dial)
	st, torn, err := o.Observe(t.Context())
	require.NoError(t, err)
	require.True(t, torn)
	require.Equal(t, election.Status{Role: election.Leader, Leader: 1}, st)
	ready, ok := y.(election.Readier)
	require.True(t, ok)
	require.NoError(t, ready.Ready(t.Context(), all[0], all, dial), "to be observed is to be ready")
	status = http.StatusServiceUnavailable
	_, _, err = o.Observe(t.Context())
	require.ErrorContains(t, err, "observe n1: GET /s answered 503")
	require.ErrorContains(t, ready.Ready(t.Context(), all[0], all, dial), "503")
	require.NoError(t, o.Close())
}

// A server that sends everybody to its leader names it so, in text and by a status of its own.
func TestObserveWhoEverybodyIsSentTo(t *testing.T) {
	const spec = `
image: a
ports: {http: 9379}
times: {silence: 1s}
observe: {http: /leader, status: [200, 307], match: '"data":"(?P<leader>[^"]+)"|href="http://(?P<leader>[^/]+)/'}
`
	y, all := driver(t, parse(t, spec), nil), members(2)
	for answer, want := range map[string]election.Status{
		`{"data":"` + all[0].Addr.String() + `:9379"}`:                                      {Role: election.Leader, Leader: 1},
		`<a href="http://` + all[1].Addr.String() + `:9379/leader">Temporary Redirect</a>.`: {Role: election.Follower, Leader: 2},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if want.Role == election.Follower {
				w.Header().Set("Location", "http://"+all[1].Addr.String()+":9379/leader")
				w.WriteHeader(http.StatusTemporaryRedirect)
			}
			fmt.Fprint(w, answer)
		}))
		o := y.Observer(all[0], all, func(ctx context.Context, _ int) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", server.Listener.Addr().String())
		})
		st, _, err := o.Observe(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, st)
		require.NoError(t, o.Close())
		server.Close()
	}
}

// Who is started once whom is ready.
func TestTurns(t *testing.T) {
	const cache = "  cache: {image: b, ports: {client: 1}, nodes: 2, elects: false"
	const store = "  store: {image: c, ports: {client: 2}, nodes: 1"
	none, err := option.Parse("mine", nil, nil)
	require.NoError(t, err)
	for fields, want := range map[string][][]string{
		"":                                      {{"n1", "n2"}},
		"ready: {log: joined}\n":                {{"n1", "n2"}},
		"ready: {log: joined, in-turn: true}\n": {{"n1"}, {"n2"}},
		"services:\n" + cache + "}\n" + store + "}\n":                                      {{"n1", "n2", "s1", "s2", "s3"}},
		"services:\n" + cache + "}\n" + store + ", first: true}\n":                         {{"s3"}, {"n1", "n2", "s1", "s2"}},
		"services:\n" + cache + ", first: true}\n" + store + ", first: true}\n":            {{"s1", "s2"}, {"s3"}, {"n1", "n2"}},
		"ready: {in-turn: true}\nservices:\n" + cache + "}\n" + store + "}\n":              {{"s1", "s2", "s3"}, {"n1"}, {"n2"}},
		"ready: {in-turn: true}\nservices:\n" + cache + "}\n" + store + ", first: true}\n": {{"s3"}, {"s1", "s2"}, {"n1"}, {"n2"}},
	} {
		s := parse(t, "image: a\nports: {http: 80}\ntimes: {silence: 1s}\n"+fields+"observe: {http: /, leader: lead}\n")
		all := members(2)
		for i := range s.countServers(none) {
			all = append(all, election.Member{ID: election.ID(3 + i), Name: fmt.Sprintf("s%d", i+1), Server: true})
		}
		y, ok := driver(t, s, nil).(election.InTurn)
		require.True(t, ok)
		var turns [][]string
		for _, turn := range y.Turns(all) {
			var names []string
			for _, m := range turn {
				names = append(names, m.Name)
			}
			turns = append(turns, names)
		}
		require.Equal(t, want, turns, fields)
	}
}

func TestObserveByCommand(t *testing.T) {
	s := parse(t, "image: a\ntimes: {silence: 1s}\nready: {command: [up]}\nobserve: {command: [ask, '{{.Name}}'], role: role}\n")
	y, all := driver(t, s, nil), members(2)
	o := y.Observer(all[1], all, nil)
	_, _, err := o.Observe(t.Context())
	require.ErrorContains(t, err, "commands cannot be run from here")
	executor, ok := y.(election.Executor)
	require.True(t, ok)
	executor.Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
		if command[0] == "up" {
			return nil, errors.New("down")
		}
		require.Equal(t, "ask n2", strings.Join(command, " "))
		require.Equal(t, "n2", m.Name)
		return []byte(`{"role":"leader"}`), nil
	})
	st, _, err := o.Observe(t.Context())
	require.NoError(t, err)
	require.Equal(t, election.Leader, st.Role)
	ready, ok := y.(election.Readier)
	require.True(t, ok)
	require.ErrorContains(t, ready.Ready(t.Context(), all[0], all, nil), "down")
}

// Where a field has another name, the one that was most likely meant is told.
func TestFieldsThatAreCalledOtherwiseAreOffered(t *testing.T) {
	for _, c := range []struct{ observe, answer, hint string }{
		{"{http: /, role: raft.stat}", `{"raft":{"state":"leader","term":1}}`, `did you mean "state"?`},
		{"{http: /, role: rft.state}", `{"raft":{"state":"leader"}}`, `did you mean "raft"?`},
		{"{metrics: /, role: raft_leading}", "raft_leader 1\nraft_term 3\n", `did you mean "raft_leader"?`},
		{"{http: /, role: position}", `{"raft":1}`, "observe says where the role is in it; where those that follow leave it out, say so: follower: ''"},
		{"{http: /, role: IsLeader, leader: Leader}", `{"Leader":"n1"}`, "observe says where the role is in it; where those that follow leave it out, say so: follower: ''"},
		{"{http: /, role: IsLeader, leader: Leader, term: term}", `{"Leader":"n1","IsLeader":false}`, ""},
		{"{http: /, role: raft.state.name}", `{"raft":{"state":"leader"}}`, ""},
	} {
		s := parse(t, "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: "+c.observe+"\n")
		y := driver(t, s, nil).(*system)
		all := withServers(3, 0)
		_, err := y.reader(all[0], all).view([]byte(c.answer))
		require.ErrorContains(t, err, "the answer has no")
		require.Equal(t, c.hint, hint.Of(err))
	}
}
