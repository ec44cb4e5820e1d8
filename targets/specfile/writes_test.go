package specfile

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

const written = `image: a
parameters: {fence: true}
ports: {http: 80}
times: {silence: 1s}
services:
  store: {image: redis:7, ports: {client: 6379}, nodes: 1}
observe: {http: /, role: role, term: term}
writes: {command: [/cli, '{{servers "store" "," "{addr}:{client}"}}', 'set {{.Value}} at {{.Token}} by {{.Name}}'], accepted: ^OK, refused: ^$}
promises: [fencing]
`

// told has its nodes tell of their writes, and heard its service.
var (
	told  = strings.Replace(written, written[strings.Index(written, "writes:"):strings.Index(written, "promises:")], `writes: {begins: 'sends (?P<value>\d+) at (?P<token>\d+)', log: 'sent (?P<value>\d+) at (?P<token>\d+)', accepted: taken, refused: stale}`+"\n", 1)
	heard = strings.Replace(told, `begins: 'sends (?P<value>\d+) at (?P<token>\d+)', log: 'sent`, `of: store, log: '(?P<by>\w+) sent`, 1)
)

func TestAWriteByACommand(t *testing.T) {
	y, all := driver(t, parse(t, written), nil), withServers(3, 1)
	var ran []string
	says, fails := "OK\n", error(nil)
	y.(election.Executor).Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
		ran = append([]string{m.Name}, command...)
		return []byte(says), fails
	})
	w, r := y.(election.Guard).Resource()
	require.Nil(t, r)
	write := func() (bool, error) {
		return w.Write(t.Context(), all[1], all, election.Write{Token: 7, Value: 1 << 40})
	}
	accepted, err := write()
	require.NoError(t, err)
	require.True(t, accepted)
	require.Equal(t, []string{"n2", "/cli", all[3].Addr.String() + ":6379", "set 1099511627776 at 7 by n2"}, ran)
	says = "\n"
	accepted, err = write()
	require.NoError(t, err)
	require.False(t, accepted)
	says = "no such table"
	_, err = write()
	require.ErrorContains(t, err, `"no such table" is neither accepted nor refused`)
	says, fails = "OK", errors.New("exit status 1")
	_, err = write()
	require.Error(t, err, "a command that failed tells nothing")
}

func TestWritesToldByNodes(t *testing.T) {
	y, all := driver(t, parse(t, told), nil), withServers(3, 1)
	y.Container(all[3], all) // the server is met
	w, r := y.(election.Guard).Resource()
	require.Nil(t, w)
	for line, stage := range map[string]election.WriteStage{
		"12:00 sends 5 at 3": election.Begun, "sent 5 at 3: taken": election.Accepted, "sent 5 at 3: stale": election.Refused,
		"sent 5 at 3: timeout": election.Unclear, "sent 5 at 3: taken or stale": election.Unclear,
	} {
		n, ok := r.ReadWrite(2, line)
		require.True(t, ok, line)
		require.Equal(t, election.WriteNews{Write: election.Write{Token: 3, Value: 5}, Stage: stage}, n, line)
	}
	_, ok := r.ReadWrite(4, "sent 5 at 3: taken")
	require.False(t, ok, "a server is none of the nodes")
	_, ok = r.ReadWrite(1, "ready")
	require.False(t, ok)
}

func TestWritesToldByTheirResource(t *testing.T) {
	y, all := driver(t, parse(t, heard), nil), withServers(3, 1)
	y.Container(all[3], all)
	_, r := y.(election.Guard).Resource()
	n, ok := r.ReadWrite(4, "n2 sent 5 at 3: taken")
	require.True(t, ok)
	require.Equal(t, election.WriteNews{Write: election.Write{Token: 3, Value: 5}, By: 2, Stage: election.Accepted, Decided: true}, n)
	_, ok = r.ReadWrite(1, "n2 sent 5 at 3: taken")
	require.False(t, ok, "only the resource decides")
}

func TestMistakesOfWrites(t *testing.T) {
	for _, c := range []struct{ spec, line, instead, want, way string }{
		{written, " at {{.Token}}", "", "writes: the command does not present the token", "{{.Token}}"},
		{written, "{{.Token}}", "{{.Tokn}}", "can't evaluate field Tokn", "{{.ID}}"},
		{written, "command: [/cli", "log: a, command: [/cli", "both command and log", "workload fence"},
		{written, "command: ", "comand: ", `unknown field "comand"`, `did you mean "command"?`},
		{written, ", term: term", "", "the token is the term, and no term is observed", "term: FIELD"},
		{written, "accepted: ^OK, ", "", "accepted is missing", "accepted: PATTERN"},
		{written, "accepted: ^OK", "accepted: (", "missing closing )", "regexp/syntax"},
		{written, "accepted: ^OK", "accepted: ^$", "the same pattern", "refused"},
		{written, "writes: {", "writes: {of: store, ", "of goes with log", "leave it out"},
		{told, `(?P<value>\d+) at (?P<token>\d+)', acc`, `(?P<value>\d+) at (\d+)', acc`, "log: the pattern has no group token", "(?P<token>"},
		{told, `sends (?P<value>\d+)`, `sends (\d+)`, "begins: the pattern has no group value", "(?P<value>"},
		{told, `sent (?P<value>`, `(?P<who>\w+) sent (?P<value>`, `not "who"`, "(?P<token>"},
		{told, `sent (?P<value>`, `(?P<by>\w+) sent (?P<value>`, "by is for those of a service", "leave the group out"},
		{told, `begins: 'sends (?P<value>\d+) at (?P<token>\d+)', `, "", "when did a write begin?", "of: SERVICE"},
		{heard, "of: store", "of: stor", `unknown service "stor"`, `did you mean "store"?`},
		{heard, "nodes: 1", "nodes: 3", "store has 3 servers", "begins: PATTERN"},
		{written, "fence: true}", "fence: true}\ncommand: ['{{.Token}}']", "can't evaluate field Token", "{{.ID}}"},
	} {
		require.Contains(t, c.spec, c.line)
		_, err := Parse("mine.yaml", []byte(strings.Replace(c.spec, c.line, c.instead, 1)))
		require.ErrorContains(t, err, c.want, c.instead)
		require.Regexp(t, `^spec: mine\.yaml:[0-9]+:[0-9]+: [^\n]+$`, err.Error(), c.instead)
		require.Contains(t, hint.Of(err), c.way, "%s: %v", c.instead, err)
	}
	_, err := Parse("mine.yaml", []byte(strings.Replace(told, ", term: term", "", 1)))
	require.NoError(t, err, "the log tells the token")
}
