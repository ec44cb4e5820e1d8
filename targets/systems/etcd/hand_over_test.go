package etcd

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
)

// gateway is a server that tells its raft status, and answers to the request to move the leadership.
type gateway struct {
	status  string // of raft
	later   string // once it was asked; "" for the same
	code    int
	answer  string
	silent  bool // it gives no answer while whoever asks waits
	targets []string
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/debug/vars" {
		fmt.Fprintf(w, `{"raft.status": %s}`, g.status)
		return
	}
	body, _ := io.ReadAll(r.Body)
	g.targets = append(g.targets, r.Method+" "+r.URL.Path+" "+string(body))
	if g.later != "" {
		g.status = g.later
	}
	if g.silent {
		<-r.Context().Done()
		return
	}
	w.WriteHeader(g.code)
	fmt.Fprint(w, g.answer)
}

func (g *gateway) ask(t *testing.T, heir election.ID) error {
	server := httptest.NewServer(g)
	defer server.Close()
	_, _, s := etcdWith(t, map[string]string{"election-timeout": "500ms"})
	all := etcdMembers()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return election.HandOverOf(s)(ctx, all[0], all, heir, func(ctx context.Context, port int) (net.Conn, error) {
		require.Equal(t, ClientPort, port)
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	})
}

// leads is the raft status of n1 as a leader to whom n2 and n3 answer, n3 with more of the log, while it hands over to somebody.
func leads(heir election.ID) string {
	id := func(m election.ID) uint64 { return raftID(etcdMembers()[m-1]) }
	transferee := "0"
	if heir != election.None {
		transferee = fmt.Sprintf("%x", id(heir))
	}
	return fmt.Sprintf(`{"id":"%[1]x","term":4,"lead":"%[1]x","raftState":"StateLeader","progress":{`+
		`"%[1]x":{"match":9,"state":"StateReplicate"},"%[2]x":{"match":7,"state":"StateReplicate"},"%[3]x":{"match":8,"state":"StateReplicate"}},`+
		`"leadtransferee":"%[4]s"}`, id(1), id(2), id(3), transferee)
}

func TestEtcdHandsOver(t *testing.T) {
	to := func(m election.ID) []string {
		return []string{fmt.Sprintf(`POST /v3/maintenance/transfer-leadership {"targetID":"%d"}`, raftID(etcdMembers()[m-1]))}
	}
	g := &gateway{status: leads(0), code: 200, answer: "{}"}
	require.NoError(t, g.ask(t, election.None))
	require.Equal(t, to(3), g.targets, "n3 has more of the log than n2")

	g = &gateway{status: leads(0), code: 200, answer: "{}"}
	require.NoError(t, g.ask(t, 2))
	require.Equal(t, to(2), g.targets)

	probes := &gateway{status: strings.Replace(leads(0), `8,"state":"StateReplicate"`, `8,"state":"StateProbe"`, 1), code: 200, answer: "{}"}
	require.NoError(t, probes.ask(t, election.None))
	require.Equal(t, to(2), probes.targets, "n3 does not answer")

	g = &gateway{status: strings.Replace(leads(0), "StateLeader", "StateFollower", 1)}
	require.ErrorIs(t, g.ask(t, election.None), election.ErrNotLeader)
	require.Empty(t, g.targets)

	alone := &gateway{status: strings.ReplaceAll(leads(0), "StateReplicate", "StateProbe")}
	require.ErrorIs(t, alone.ask(t, election.None), election.ErrRefused)
	require.Empty(t, alone.targets)
}

// What etcd answers to those who ask, and what is known then.
func TestEtcdAnswersAboutHandOvers(t *testing.T) {
	for answer, want := range map[string]error{
		`{"code":9,"message":"etcdserver: not leader"}`:                                        election.ErrNotLeader,
		`{"error":"etcdserver: not leader","message":"etcdserver: not leader"}`:                election.ErrNotLeader, // 3.4, 3.5
		`{"code":9,"message":"etcdserver: bad leader transferee"}`:                             election.ErrRefused,
		`{"code":14,"message":"etcdserver: request timed out, leader transfer took too long"}`: nil,
	} {
		g := &gateway{status: leads(0), code: 503, answer: answer}
		if err := g.ask(t, election.None); want == nil {
			require.NoError(t, err, answer)
		} else {
			require.ErrorIs(t, err, want, answer)
		}
	}
	for _, unclear := range []string{"", `{"code":14,"message":"etcdserver: no leader"}`} {
		err := (&gateway{status: leads(0), code: 503, answer: unclear}).ask(t, election.None)
		require.ErrorContains(t, err, "answered 503")
		require.NotErrorIs(t, err, election.ErrRefused)
	}
}

// One that gives no answer in time is asked whom it hands over to.
func TestEtcdHandsOverInVain(t *testing.T) {
	g := &gateway{status: leads(0), later: leads(3), silent: true}
	require.NoError(t, g.ask(t, election.None))
	for _, later := range []string{leads(0), leads(2), strings.Replace(leads(3), `"term":4`, `"term":5`, 1)} {
		g = &gateway{status: leads(0), later: later, silent: true}
		err := g.ask(t, election.None)
		require.ErrorContains(t, err, "no answer within half an election timeout")
		require.NotErrorIs(t, err, election.ErrRefused)
	}
}
