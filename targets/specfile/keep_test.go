package specfile

import (
	"context"
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

const initiated = `image: a
ports: {http: 80}
times: {silence: 1s}
bootstrap:
  - {http: /init, keep: {root: tokens.root, key: 'keys[0]'}}
  - {http: '/unseal/{{kept "key"}}', at: all, body: '{"key": "{{kept "key"}}"}'}
observe: {http: /, role: role, headers: {X-Token: '{{kept "root"}}'}}
resign: {http: /resign, headers: {X-Token: '{{kept "root"}}'}}
`

// What a node answers as the cluster is made is told from then on, in paths, bodies and headers.
func TestNodesAreToldWhatBootstrapWasAnswered(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Token")+" "+string(body)))
		switch r.URL.Path {
		case "/init":
			io.WriteString(w, `{"tokens": {"root": "s.R00t"}, "keys": ["c0ffee"]}`)
		case "/":
			io.WriteString(w, `{"role": "leader"}`)
		}
	}))
	defer server.Close()
	dial := func(ctx context.Context, _ int) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	all := withServers(2, 0)
	y := driver(t, parse(t, initiated), nil)
	require.NoError(t, y.(interface {
		Fits([]election.Member) error
	}).Fits(all), "before anything was told")
	require.Equal(t, election.FromHere, y.(election.Observed).Observed(), "nothing beside a node has the token")
	o := y.Observer(all[0], all, dial)
	defer o.Close()
	_, _, err := o.Observe(t.Context())
	require.ErrorContains(t, err, `"root" is not known before bootstrap was answered`)
	require.Empty(t, got)

	require.NoError(t, y.(election.Bootstrapper).Bootstrap(t.Context(), all, func(election.Member) election.Dial { return dial }))
	st, _, err := o.Observe(t.Context())
	require.NoError(t, err)
	require.Equal(t, election.Leader, st.Role)
	require.NoError(t, y.(election.Abdicator).HandOver()(t.Context(), all[0], all, election.None, dial))
	require.Equal(t, []string{
		"POST /init", `POST /unseal/c0ffee  {"key": "c0ffee"}`, `POST /unseal/c0ffee  {"key": "c0ffee"}`, "GET / s.R00t", "GET / s.R00t", "POST /resign s.R00t",
	}, got)
}

func TestAnAnswerThatLacksWhatIsToBeKept(t *testing.T) {
	for _, c := range [][3]string{
		{"{root: tokens.root, key: 'keys[0]'}", `{"tokens": {"rot": "r"}, "keys": ["k"]}`, "keep: root: the answer has no tokens.root; the answer is"},
		{"{root: tokens.root, key: 'keys[0]'}", `{"tokens": {"root": "r"}, "keys": []}`, "keep: key: the answer has no keys.0"},
		{"{root: tokens.root, key: 'keys[0]'}", `{"tokens": {"root": null}, "keys": ["k"]}`, "keep: root: it is empty"},
		{"{root: tokens.root, key: 'keys[0]'}", `welcome`, "is no JSON"},
		{`'root=(?P<root>\w*) key=(?P<key>\w+)'`, `root= key=k`, "keep: root: it is empty"},
		{`'root=(?P<root>\w*) key=(?P<key>\w+)'`, `{}`, "keep: it matches nothing in the answer `{}`"},
		{`'root=(?P<root>\w*) key=(?P<key>\w+)'`, `root=r key=k`, ""},
	} {
		k := parse(t, strings.Replace(initiated, "{root: tokens.root, key: 'keys[0]'}", c[0], 1)).Bootstrap[0].Keep
		said, err := k.of([]byte(c[1]))
		if c[2] == "" {
			require.NoError(t, err)
			require.Equal(t, map[string]string{"root": "r", "key": "k"}, said)
			continue
		}
		require.ErrorContains(t, err, c[2])
	}
	_, err := parse(t, initiated).Bootstrap[0].Keep.of([]byte(`{"tokens": {"rot": "r"}, "keys": ["k"]}`))
	require.Equal(t, `did you mean "rot"?`, hint.Of(err))
}

// What a command prints can be kept, too.
func TestWhatACommandPrintsIsKept(t *testing.T) {
	y := driver(t, parse(t, strings.NewReplacer(`{http: /init, keep: {root: tokens.root, key: 'keys[0]'}}`,
		`{command: [/cli, init], keep: 'key: (?P<key>\S+), root: (?P<root>\S+)'}`, `{http: '/unseal/{{kept "key"}}', at: all, body: '{"key": "{{kept "key"}}"}'}`,
		`{command: [/cli, unseal, '{{kept "key"}}'], at: others}`).Replace(initiated)), nil)
	var ran []string
	y.(election.Executor).Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
		ran = append(append(ran, m.Name), command...)
		return []byte("key: c0ffee, root: r\n"), nil
	})
	require.NoError(t, y.(election.Bootstrapper).Bootstrap(t.Context(), withServers(2, 0), unreached))
	require.Equal(t, []string{"n1", "/cli", "init", "n2", "/cli", "unseal", "c0ffee"}, ran)
}

func TestMistakesInWhatIsKept(t *testing.T) {
	for _, c := range [][3]string{
		{`'{{kept "root"}}'}}` + "\n", `'{{kept "rot"}}'}}` + "\n", `did you mean "root"?`},
		{"keep: {root: tokens.root, key: 'keys[0]'}", "keep: {root: 'tokens..root', key: x}", "keep: root:"},
		{"keep: {root: tokens.root, key: 'keys[0]'}", `keep: 'root'`, "has no group that is named"},
		{"keep: {root: tokens.root, key: 'keys[0]'}", "keep: {root: tokens.root, key: 'keys[0]'}, at: all", "keep beside at or about"},
		{"image: a", "image: a\ncommand: ['{{kept \"root\"}}']", "filled before it"},
		{"{http: /init, keep: {root: tokens.root, key: 'keys[0]'}}", `{http: '/init?{{kept "key"}}', keep: {root: tokens.root, key: 'keys[0]'}}`, `nothing is kept as "key"`},
		{"headers: {X-Token: '{{kept \"root\"}}'}}\nresign", "headers: {X-Token: \"a\\nb\"}}\nresign", "is no header of HTTP"},
	} {
		text := strings.Replace(initiated, c[0], c[1], 1)
		require.NotEqual(t, initiated, text, c[0])
		_, err := Parse("a.yaml", []byte(text))
		require.Error(t, err, c[1])
		require.Contains(t, err.Error()+" "+hint.Of(err), c[2], c[1])
	}
}
