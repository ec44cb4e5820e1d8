package specfile

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

const resigning = `image: a
ports: {http: 80, admin: 81}
times: {silence: 1s}
observe: {http: /, port: http, role: role}
resign: {http: /step-down, port: admin, body: '{"of": "{{.Name}}"}'}
`

var resigningBy = strings.Replace(resigning, `{http: /step-down, port: admin, body: '{"of": "{{.Name}}"}'}`, `{command: [/cli, step-down, '{{.Name}}'], refused: no leader}`, 1)

// asked is a spec's system whose nodes answer so, and how to reach one of them.
func asked(t *testing.T, text, role string, status int, got *[]string) (election.System, election.Dial) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(`{"role": "` + role + `"}`))
			return
		}
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		*got = append(*got, r.URL.Path, string(body))
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	y := driver(t, parse(t, text), nil)
	y.(election.Executor).Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
		*got = append(append(*got, m.Name), command...)
		if status != http.StatusOK {
			return nil, errors.New("exit status 1: there is no leader here")
		}
		return nil, nil
	})
	return y, func(ctx context.Context, port int) (net.Conn, error) {
		*got = append(*got, map[int]string{80: "http", 81: "admin"}[port])
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
}

func TestALeaderIsAskedToResign(t *testing.T) {
	for _, c := range []struct {
		text, role string
		status     int
		heir       election.ID
		want       error // nil for none
		certain    bool
		got        []string
	}{
		{resigning, "leader", 204, 0, nil, true, []string{"http", "admin", "/step-down", `{"of": "n2"}`}},
		{resigning, "leader", 409, 0, election.ErrRefused, true, []string{"http", "admin", "/step-down", `{"of": "n2"}`}},
		{resigning, "leader", 500, 0, nil, false, []string{"http", "admin", "/step-down", `{"of": "n2"}`}},
		{resigning, "follower", 204, 0, election.ErrNotLeader, true, []string{"http"}},
		{resigning, "leader", 204, 3, election.ErrNoHeir, true, nil},
		{resigningBy, "leader", 200, 0, nil, true, []string{"http", "n2", "/cli", "step-down", "n2"}},
		{resigningBy, "leader", 500, 0, election.ErrRefused, true, []string{"http", "n2", "/cli", "step-down", "n2"}},
		{resigningBy, "follower", 200, 0, election.ErrNotLeader, true, []string{"http"}},
	} {
		var got []string
		y, dial := asked(t, c.text, c.role, c.status, &got)
		all := withServers(3, 0)
		err := election.HandOverOf(y)(t.Context(), all[1], all, c.heir, dial)
		require.Equal(t, c.got, got)
		switch {
		case c.want != nil:
			require.ErrorIs(t, err, c.want)
		case c.certain:
			require.NoError(t, err)
		default:
			require.Error(t, err)
			require.NotErrorIs(t, err, election.ErrRefused, "nobody knows")
		}
	}
	require.Nil(t, election.HandOverOf(driver(t, parse(t, resigning[:strings.Index(resigning, "resign:")]), nil)), "it does not say how")
}

// What a command said and how it ended are told apart.
func TestARefusalSaysWhatWasSaid(t *testing.T) {
	for said, want := range map[string]string{"not the leader\n": "not the leader: exit status 1", "": "exit status 1"} {
		y := driver(t, parse(t, strings.Replace(resigningBy, "refused: ", "refused: exit|", 1)), nil).(*system)
		y.Use(func(context.Context, election.Member, []string) ([]byte, error) {
			return []byte(said), errors.New("exit status 1")
		})
		all := withServers(3, 0)
		err := y.askBy(t.Context(), &y.Resign, y.words(all[1], all))
		require.ErrorIs(t, err, election.ErrRefused)
		require.True(t, strings.HasSuffix(err.Error(), ": "+want), err.Error())
	}
}

func TestWhatIsWrongWithResign(t *testing.T) {
	for given, want := range map[string]string{
		"{http: /a, port: http, command: [a]}":      "one of http and command is wanted",
		"{}":                                        "one of http and command is wanted",
		"{http: /a, port: http, refused: b}":        "refused goes with command",
		"{command: [a], body: b}":                   "body goes with http",
		"{http: a, port: http}":                     `does not begin with /`,
		"{command: ['{{.Nome}}']}":                  "Nome",
		"{http: /a, port: http, body: '{{.Nome}}'}": "Nome",
		"{command: [a], refused: '('}":              "refused",
	} {
		_, err := Parse("a.yaml", []byte(strings.Replace(resigning, resigning[strings.Index(resigning, "resign: ")+8:], given+"\n", 1)))
		require.ErrorContains(t, err, want, given)
	}
}
