package specfile

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

const afflicted = `image: a
ports: {http: 80}
times: {silence: 1s}
observe: {http: /, role: role}
faults:
  stuck: {inject: {http: /stick}, heal: {command: [/cli, loosen, '{{.Name}}']}}
  backup: {inject: {command: [/cli, backup]}}
promises: [{property: elects, while: nobody is stuck, suspended: {own: [stuck]}}]
`

// A node is asked to begin a fault, and to end it, each in its own way; what has no end is ended at once.
func TestNodesAreAskedForFaultsOfTheFilesOwn(t *testing.T) {
	s := parse(t, afflicted)
	target := s.Target("a.yaml")
	require.Equal(t, []string{"stuck", "backup"}, target.Own)
	require.True(t, target.OwnByCommand)
	y, all := driver(t, s, nil), withServers(2, 1)
	var ran []string
	y.(election.Executor).Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
		ran = append(append(ran, m.Name), command...)
		return nil, nil
	})
	asked := func(who election.Member, fault string, begin bool) error {
		return y.(election.Afflicted).Afflict(t.Context(), who, all, fault, begin, unreached(who))
	}
	require.ErrorContains(t, asked(all[1], "stuck", true), "nobody is there")
	require.NoError(t, asked(all[1], "stuck", false))
	require.NoError(t, asked(all[0], "backup", true))
	require.NoError(t, asked(all[0], "backup", false))
	require.Equal(t, []string{"n2", "/cli", "loosen", "n2", "n1", "/cli", "backup"}, ran)
	require.ErrorIs(t, asked(all[0], "stick", true), election.ErrCannot)
	require.ErrorIs(t, asked(all[2], "stuck", true), election.ErrCannot, "a server of a service")

	takes := s.Promises[0].Suspended
	own := func(fault string, on bool) history.Changes {
		return history.ChangesOf(history.Own{Node: "n1", Fault: fault, On: on})
	}
	require.True(t, takes(own("stuck", true)))
	require.False(t, takes(own("stuck", false)))
	require.False(t, takes(own("backup", true)))
	require.Empty(t, parse(t, founding).Target("a.yaml").Own)
}

func TestMistakesInFaultsOfTheFilesOwn(t *testing.T) {
	for _, c := range [][3]string{
		{"{inject: {command: [/cli, backup]}}", "{heal: {http: /x}}", "inject is missing"},
		{"{inject: {command: [/cli, backup]}}", "{inject: {}}", "one of http and command is wanted"},
		{"{inject: {command: [/cli, backup]}}", "{inject: {http: '/{{.Nobody}}'}}", "Nobody"},
		{"{inject: {command: [/cli, backup]}}", "{injcet: {http: /}}", `did you mean "inject"?`},
		{"  backup:", "  back up:", "cannot be the name of a fault"},
		{"own: [stuck]", "own: [stick]", `did you mean "stuck"?`},
	} {
		text := strings.Replace(afflicted, c[0], c[1], 1)
		require.NotEqual(t, afflicted, text, c[0])
		_, err := Parse("a.yaml", []byte(text))
		require.Error(t, err, c[1])
		require.Contains(t, err.Error()+" "+hint.Of(err), c[2], c[1])
	}
}
