package specfile

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

const opened = `image: a
ports: {http: 80}
times: {silence: 1s}
observe: {http: /, role: role}
post-start:
  - {command: [/cli, join, '{{.Name}}', '{{addr 1}}'], refused: 'no'}
  - {http: '/open?{{.ID}}', status: [200, 409]}
`

func TestWhatNodesAreAskedOnceTheyWereStarted(t *testing.T) {
	y := driver(t, parse(t, opened), nil)
	starter := y.(election.Starter)
	some, byCommand := starter.Starts()
	require.True(t, some)
	require.True(t, byCommand)
	all := withServers(2, 1)
	require.Empty(t, starter.PostStart(all[2], all), "a server of a service")
	told := starter.PostStart(all[1], all)
	require.Len(t, told, 2)
	var ran []string
	y.(election.Executor).Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
		ran = append(append(ran, m.Name), command...)
		return []byte("no"), nil
	})
	err := told[0](t.Context(), unreached(all[1]))
	require.ErrorContains(t, err, "ask n2: it refused: no")
	require.Equal(t, []string{"n2", "/cli", "join", "n2", all[0].Addr.String()}, ran)
	require.ErrorContains(t, told[1](t.Context(), unreached(all[1])), "nobody is there")

	some, _ = driver(t, parse(t, founding), nil).(election.Starter).Starts()
	require.False(t, some)
}

func TestMistakesInWhatNodesAreAskedOnceTheyWereStarted(t *testing.T) {
	for with, want := range map[string]string{
		"post-start: []\n":                               "post-start: it is empty",
		"post-start: [/cli, join]\n":                     "is not a mapping",
		"post-start: {http: /open, at: all}\n":           `unknown field "at"`,
		"post-start: {http: '/open?{{kept \"key\"}}'}\n": `nothing is kept as "key"`,
		"post-start: {status: [200]}\n":                  "one of http and command is wanted",
	} {
		_, err := Parse("a.yaml", []byte(opened[:strings.Index(opened, "post-start")]+with))
		require.Error(t, err, with)
		require.Contains(t, err.Error()+" "+hint.Of(err), want, with)
	}
}
