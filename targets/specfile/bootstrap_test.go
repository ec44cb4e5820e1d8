package specfile

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

const founding = `image: a
ports: {http: 80, admin: 81}
times: {silence: 1s}
observe: {http: /, port: http, role: role}
bootstrap:
  - {http: /init, port: admin, method: PUT, status: [200, 409], body: '{{.Size}}'}
  - {http: '/join?{{.Member.Name}}', port: admin, about: others}
  - {http: /seal, port: http, at: others}
  - {http: /open, port: http, at: all}
`

func unreached(election.Member) election.Dial {
	return func(context.Context, int) (net.Conn, error) { return nil, errors.New("nobody is there") }
}

// founds is a spec's system whose nodes answer by status, and what they were asked, each with the node and the port.
func founds(t *testing.T, text string, status func(asked string) int) (boot func() error, got *[]string) {
	got = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		at := strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		(*got)[len(*got)-1] += " " + at
		w.WriteHeader(status(at))
	}))
	t.Cleanup(server.Close)
	y := driver(t, parse(t, text), nil).(election.Bootstrapper)
	return func() error {
		return y.Bootstrap(t.Context(), withServers(3, 0), func(m election.Member) election.Dial {
			return func(ctx context.Context, port int) (net.Conn, error) {
				*got = append(*got, m.Name+" "+map[int]string{80: "http", 81: "admin"}[port])
				return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
			}
		})
	}, got
}

// What was done is not asked for again: nodes that take it once would refuse it from then on.
func TestNodesAreToldOnceThatTheyAreACluster(t *testing.T) {
	refuses := true
	boot, got := founds(t, founding, func(asked string) int {
		switch {
		case strings.Contains(asked, "/init"):
			return http.StatusConflict // it is so already
		case asked == "POST /join?n3" && refuses:
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	require.ErrorContains(t, boot(), "bootstrap of n1: POST /join?n3 answered 503")
	require.ErrorContains(t, boot(), "503")
	refuses = false
	require.NoError(t, boot())
	require.Equal(t, []string{
		"n1 admin PUT /init 3", "n1 admin POST /join?n2", "n1 admin POST /join?n3", "n1 admin POST /join?n3", "n1 admin POST /join?n3",
		"n2 http POST /seal", "n3 http POST /seal", "n1 http POST /open", "n2 http POST /open", "n3 http POST /open",
	}, *got)
	some, byCommand := driver(t, parse(t, founding), nil).(election.Bootstrapper).Bootstraps()
	require.True(t, some)
	require.False(t, byCommand)
}

// A command may be one of the requests.
func TestNodesAreToldByCommandsBesides(t *testing.T) {
	y := driver(t, parse(t, strings.Replace(founding, "{http: /init, port: admin, method: PUT, status: [200, 409], body: '{{.Size}}'}", "{command: [/init, '{{.Name}}'], at: all}", 1)), nil)
	some, byCommand := y.(election.Bootstrapper).Bootstraps()
	require.True(t, some)
	require.True(t, byCommand)
	var ran []string
	y.(election.Executor).Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
		ran = append(append(ran, m.Name), command...)
		return nil, nil
	})
	require.ErrorContains(t, y.(election.Bootstrapper).Bootstrap(t.Context(), withServers(2, 0), unreached), "nobody is there")
	require.Equal(t, []string{"n1", "/init", "n1", "n2", "/init", "n2"}, ran)
}

func TestMistakesInHowNodesAreMadeACluster(t *testing.T) {
	for _, c := range [][3]string{
		{"{http: /seal, port: http, at: others}", "{http: /seal, port: http, at: other}", `did you mean "others"?`},
		{"{http: /seal, port: http, at: others}", "{http: /seal, port: http, at: n2}", "known: all, others"},
		{"about: others}", "about: others, at: all}", "at beside about"},
		{"about: others}", "about: all}", `unknown about "all"`},
		{"{http: /seal, port: http, at: others}", "{at: others}", "one of http and command is wanted"},
		{"{http: /seal, port: http, at: others}", "{command: [/seal], status: [200]}", "status goes with http"},
		{"{http: /seal, port: http, at: others}", "/seal", "is not a mapping"},
		{"{http: /seal, port: http, at: others}", "{http: '/{{.Member.Name}}', port: http}", "Member"},
	} {
		text := strings.Replace(founding, c[0], c[1], 1)
		require.NotEqual(t, founding, text, c[0])
		_, err := Parse("a.yaml", []byte(text))
		require.Error(t, err, c[1])
		require.Contains(t, err.Error()+" "+hint.Of(err), c[2], c[1])
	}
	_, err := Parse("a.yaml", []byte("image: a\ntimes: {silence: 1s}\nobserve: {command: [/status], role: role}\nbootstrap: []\n"))
	require.ErrorContains(t, err, "bootstrap: it is empty")
}
