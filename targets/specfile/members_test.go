package specfile

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

const reseating = `image: a
command: ['--data=/data/{{.Joined}}', '--id={{.Name}}']
ports: {http: 80, admin: 81}
times: {silence: 1s}
observe: {http: /, port: http, role: role}
members:
  remove: {http: /remove, port: admin, body: '{{.Member.Name}}'}
  add: {http: /add, port: admin, body: '{{.Member.Name}} {{.Member.Joined}} by {{.Name}}'}
  learner: {http: /learner, port: admin, body: '{{.Member.Name}} {{.Member.Joined}}'}
  promote: {http: /promote, port: admin, body: '{{.Member.ID}} {{.Member.Joined}}'}
  list: {http: /list, port: admin, voters: '\b{{.Member.Name}}=v', learners: '\b{{.Member.Name}}=l'}
`

// cluster is a node that answers so, and what it was asked.
type cluster struct {
	list   string
	status int
	asked  []string
}

func (c *cluster) dial(t *testing.T) election.Dial {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, c.list)
			return
		}
		body, _ := io.ReadAll(r.Body)
		c.asked = append(c.asked, r.URL.Path+" "+string(body))
		w.WriteHeader(c.status)
	}))
	t.Cleanup(server.Close)
	return func(ctx context.Context, port int) (net.Conn, error) {
		require.Equal(t, 81, port)
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
}

func TestMembersAreChanged(t *testing.T) {
	y := driver(t, parse(t, reseating), nil).(election.Reconfigurable)
	c := &cluster{status: 200}
	dial, all := c.dial(t), withServers(3, 0)
	ask := func(as election.Membership) error { return y.Reconfigure(t.Context(), all[0], all, 3, as, dial) }
	started := func() string { return strings.Join(y.(election.System).Container(all[2], all).Command, " ") }

	require.Equal(t, "--data=/data/0 --id=n3", started())
	require.NoError(t, ask(election.Removed))
	require.NoError(t, ask(election.Learner))
	require.Equal(t, "--data=/data/1 --id=n3", started())
	require.NoError(t, ask(election.Voter))
	require.NoError(t, ask(election.Removed))
	c.status = 500
	require.False(t, election.Certain(ask(election.Voter)), "nobody knows")
	require.Equal(t, "--data=/data/1 --id=n3", started())
	c.status = 200
	require.NoError(t, ask(election.Voter))
	require.Equal(t, "--data=/data/2 --id=n3", started())
	require.Equal(t, []string{"/remove n3", "/learner n3 1", "/promote 3 1", "/remove n3", "/add n3 2 by n1", "/add n3 2 by n1"}, c.asked)

	// Who refuses is asked whether it is so already, unless it may be behind.
	c.status, c.list = 400, "n1=v n3=v"
	require.NoError(t, ask(election.Voter))
	require.ErrorIs(t, ask(election.Removed), election.ErrRefused)
	c.status, c.list = 409, "n1=v"
	require.ErrorIs(t, ask(election.Removed), election.ErrNotYet)
}

// Who was to be added, and nobody knows whether it was, is whom the next questions are about.
func TestMembersOfWhomNobodyKnows(t *testing.T) {
	text := strings.NewReplacer("body: '{{.Member.Name}}'", "body: '{{.Member.Name}}.{{.Member.Joined}}'", `voters: '\b{{.Member.Name}}`, `voters: '\b{{.Member.Name}}\.{{.Member.Joined}}`).Replace(reseating)
	y := driver(t, parse(t, text), nil).(election.Reconfigurable)
	c := &cluster{status: 200}
	dial, all := c.dial(t), withServers(3, 0)
	ask := func(as election.Membership) error { return y.Reconfigure(t.Context(), all[0], all, 3, as, dial) }
	require.NoError(t, ask(election.Removed))
	c.status = 503
	require.False(t, election.Certain(ask(election.Voter)))
	c.status, c.list = 400, "n1.0=v n3.1=v"
	require.NoError(t, ask(election.Voter), "it is one already")
	require.ErrorIs(t, ask(election.Removed), election.ErrRefused, "it is one still")
	require.Equal(t, []string{"/remove n3.0", "/add n3 1 by n1", "/add n3 1 by n1", "/remove n3.1"}, c.asked)
	require.Equal(t, "--data=/data/1", y.(election.System).Container(all[2], all).Command[0])
}

// What a server calls a node may have the number of how often it was added in it.
func TestNamesOfWhoWasAdded(t *testing.T) {
	text := strings.Replace(reseating, "role: role}", "role: role, leader: {at: leader, named: '{{.Name}}{{if .Joined}}.{{.Joined}}{{end}}'}}", 1)
	all := withServers(3, 0)
	y := driver(t, parse(t, text), nil).(*changing)
	for called, who := range map[string]election.ID{"n3": 3, "n3.1": 3, "n3.27": 3, "n1.2": 1} {
		id, err := y.reader(all[0], all).who(called)
		require.NoError(t, err, called)
		require.Equal(t, who, id, called)
	}
	_, err := y.reader(all[0], all).who("n4.1")
	require.Error(t, err)
}

// A name that two nodes of a run would share, be it after one was added so often, would have the one lead for the other.
func TestNamesThatNodesShare(t *testing.T) {
	for named, why := range map[string]string{
		"{{.ID}}{{.Joined}}": `n1 and n11 would both be called "110"`,
		"{{if le .ID 3}}{{.Name}}.{{.Joined}}{{else}}other{{end}}": `n4 and n5 would both be called "other"`,
	} {
		text := strings.Replace(reseating, "role: role}", "role: role, leader: {at: leader, named: '"+named+"'}}", 1)
		y := driver(t, parse(t, text), nil).(*changing)
		require.NoError(t, y.Fits(members(3)), named)
		require.ErrorContains(t, y.Fits(members(11)), why)
	}
}

func TestWhoNodesTakeForMembers(t *testing.T) {
	y := driver(t, parse(t, reseating), nil).(election.Reconfigurable)
	c := &cluster{list: "n1=v n2=l n33=v"}
	dial, all := c.dial(t), withServers(3, 0)
	for who, as := range map[election.ID]election.Membership{1: election.Voter, 2: election.Learner, 3: election.Removed} {
		is, err := y.Membership(t.Context(), all[0], all, who, dial)
		require.NoError(t, err)
		require.Equal(t, as, is, who)
	}
	_, can := driver(t, parse(t, reseating[:strings.Index(reseating, "members:")]), nil).(election.Reconfigurable)
	require.False(t, can, "it does not say how")
}

// Many clusters have no learners: who is added votes.
func TestMembersOfAClusterWithoutLearners(t *testing.T) {
	lines := strings.SplitAfter(reseating, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  learner:") || strings.HasPrefix(l, "  promote:") })
	text := strings.Join(lines, "")
	_, err := Parse("a.yaml", []byte(text))
	require.ErrorContains(t, err, "list: learners goes with learner and promote")

	s := parse(t, strings.Replace(text, `, learners: '\b{{.Member.Name}}=l'`, "", 1))
	y := driver(t, s, nil).(election.Learnerless)
	require.True(t, y.Learnerless())
	require.False(t, driver(t, parse(t, reseating), nil).(election.Learnerless).Learnerless())
	c := &cluster{list: "n1=v n2=l", status: 200}
	dial, all := c.dial(t), withServers(3, 0)
	require.NoError(t, y.Reconfigure(t.Context(), all[0], all, 3, election.Removed, dial))
	require.NoError(t, y.Reconfigure(t.Context(), all[0], all, 3, election.Voter, dial))
	require.ErrorIs(t, y.Reconfigure(t.Context(), all[0], all, 3, election.Learner, dial), election.ErrCannot)
	require.Equal(t, []string{"/remove n3", "/add n3 1 by n1"}, c.asked)
	is, err := y.Membership(t.Context(), all[0], all, 2, dial)
	require.NoError(t, err)
	require.Equal(t, election.Removed, is)
}

func TestMembersAreChangedByCommands(t *testing.T) {
	text := strings.NewReplacer("{http: /remove, port: admin, body: '{{.Member.Name}}'}", "{command: [/cli, remove, '{{.Member.Name}}'], refused: unknown}",
		"{http: /list, port: admin,", "{command: [/cli, list],").Replace(reseating)
	y := driver(t, parse(t, text), nil)
	var ran []string
	said := "unknown member"
	y.(election.Executor).Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
		ran = append(ran, m.Name+" "+strings.Join(command, " "))
		return []byte(said), nil
	})
	all := withServers(3, 0)
	ask := func() error {
		return y.(election.Reconfigurable).Reconfigure(t.Context(), all[0], all, 3, election.Removed, nil)
	}
	require.NoError(t, ask(), "it is none")
	said = "unknown n3=v"
	require.ErrorIs(t, ask(), election.ErrRefused)
	require.Equal(t, []string{"n1 /cli remove n3", "n1 /cli list", "n1 /cli remove n3", "n1 /cli list"}, ran)
}

func TestWhatIsWrongWithMembers(t *testing.T) {
	for from, to := range map[string][2]string{
		"  promote: {":                               {"  promotes: {", `"promotes"`},
		"  add: {http: /add,":                        {"  add: {https: /add,", `"https"`},
		"{{.Member.ID}}":                             {"{{.Member.Nome}}", "Nome"},
		"{http: /remove, ":                           {"{http: /remove, command: [a], ", "remove: one of http and command is wanted"},
		"voters: '\\b":                               {"voters: '(", "voters: error parsing regexp"},
		", learners: '\\b":                           {", learner: '", `"learner"`},
		"--data=/data/{{.Joined}}":                   {"--data=/data", "neither command nor environment nor files use {{.Joined}}"},
		"observe: {http: /, port: http, role: role}": {"observe: {logs: [{match: leads, role: leader}]}", "by their logs alone"},
	} {
		text := strings.Replace(reseating, from, to[0], 1)
		require.NotEqual(t, reseating, text, from)
		_, err := Parse("a.yaml", []byte(text))
		require.ErrorContains(t, err, to[1], from)
		require.NotContains(t, err.Error(), "\n")
	}
	at := strings.Index(reseating, "  list:")
	_, err := Parse("a.yaml", []byte(reseating[:at]))
	require.ErrorContains(t, err, "members: list is missing")
}
