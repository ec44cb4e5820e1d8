package specfile

import (
	"context"
	"errors"
	"fmt"
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
			return nil, exited{1, "", "there is no leader here"}
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

// exited is how a command ended that printed something.
type exited struct {
	status       int
	stdout, errs string
}

func (e exited) Error() string                    { return fmt.Sprintf("exit status %d", e.status) }
func (e exited) Printed() (stdout, stderr string) { return e.stdout, e.errs }

// A refusal is the command's own word, wherever it is printed, and not what stands in the command or in why nobody knows how it ended.
func TestARefusalIsWhatACommandSays(t *testing.T) {
	for _, c := range []struct {
		pattern string
		out     string
		err     error
		want    string // "" where nobody knows, or it succeeded
	}{
		{"'^not the leader$'", "not the leader\n", nil, "it refused: not the leader"},
		{"'^not the leader$'", "", exited{1, "not the leader\n", ""}, "it refused: exit status 1"},
		{"'^not the leader$'", "", exited{1, "asked\n", "not the leader\n"}, "it refused: exit status 1"},
		{"'^exit status 3$'", "", fmt.Errorf("exec /cli on n2: %w", exited{3, "", ""}), "it refused: exec /cli on n2: exit status 3"},
		{"'^$'", "", exited{1, "", "it broke"}, ""},
		{"no leader", "", errors.New("exec /cli || echo no leader on n2: context deadline exceeded"), ""},
		{"no leader", "done", nil, ""},
	} {
		y := driver(t, parse(t, strings.Replace(resigningBy, "refused: no leader", "refused: "+c.pattern, 1)), nil).(*system)
		y.Use(func(context.Context, election.Member, []string) ([]byte, error) { return []byte(c.out), c.err })
		all := withServers(3, 0)
		_, err := y.askBy(t.Context(), &y.Resign, y.words(all[1], all))
		if c.want == "" {
			require.NotErrorIs(t, err, election.ErrRefused)
			require.Equal(t, c.err, err)
			continue
		}
		require.ErrorIs(t, err, election.ErrRefused)
		require.EqualError(t, err, c.want)
	}
}

// Who could not be asked whether it leads was not asked to hand over. One that only writes is asked if it wrote last that it leads.
func TestWhoIsAskedToResign(t *testing.T) {
	all := withServers(3, 0)
	y, _ := asked(t, resigningBy, "leader", http.StatusOK, new([]string))
	err := election.HandOverOf(y)(t.Context(), all[1], all, election.None, func(context.Context, int) (net.Conn, error) { return nil, errors.New("nobody there") })
	require.ErrorIs(t, err, election.ErrRefused)

	ran := 0
	logs := "image: a\ntimes: {silence: 1s}\nobserve: {logs: [{match: 'leads (?P<term>\\d+)', role: leader}, {match: 'follows (?P<term>\\d+)', role: follower}]}\nresign: {command: [/cli]}\n"
	l := driver(t, parse(t, logs), nil)
	l.(election.Executor).Use(func(context.Context, election.Member, []string) ([]byte, error) { ran++; return nil, nil })
	l.Observer(all[1], all, nil)
	for i, line := range []string{"", "leads 1", "follows 2"} {
		l.(election.LogReader).ReadLog(all[1].ID, line)
		err := election.HandOverOf(l)(t.Context(), all[1], all, election.None, nil)
		if require.Equal(t, min(i, 1), ran, line); line == "leads 1" {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, election.ErrNotLeader, line)
		}
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
