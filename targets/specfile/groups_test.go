package specfile

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

// Alternatives may have groups of one name: what counts is the one that took part.
func TestGroupsOfOneName(t *testing.T) {
	text := "image: a\ntimes: {silence: 1s}\nobserve: {logs: [" +
		`{match: 'leads in (?P<term>\d+)|won the election, term=(?P<term>\d+)', role: leader}, ` +
		`{match: 'follows in (?P<term>\d+)|stepped down(?:, term=(?P<term>\d+))?', role: follower}]}` + "\n"
	y := driver(t, parse(t, text), nil)
	unread := 0
	y.(election.LineCritic).OnUnreadLine(func(election.ID, error) { unread++ })
	all := withServers(3, 0)
	y.Observer(all[0], all, nil)
	for _, c := range []struct {
		line string
		want election.Status
		told bool
	}{
		{"leads in 3", election.Status{Role: election.Leader, Term: 3, Leader: 1}, true},
		{"won the election, term=4", election.Status{Role: election.Leader, Term: 4, Leader: 1}, true},
		{"stepped down, term=4", election.Status{Term: 4}, true},
		{"stepped down", election.Status{}, false}, // the term that it does not tell is not 0
		{"leads in 0", election.Status{}, false},
	} {
		got, told := y.(election.LogReader).ReadLog(1, c.line)
		require.Equal(t, c.told, told, c.line)
		require.Equal(t, c.want, got, c.line)
	}
	require.Equal(t, 2, unread)
}

// Who writes that somebody else leads does not lead.
func TestALineThatNamesAnotherLeader(t *testing.T) {
	text := "image: a\ntimes: {silence: 1s}\nobserve: {logs: [{match: 'n(?P<leader>\\d+) leads (?P<term>\\d+)', role: leader}]}\n"
	y := driver(t, parse(t, text), nil)
	all := withServers(3, 0)
	y.Observer(all[0], all, nil)
	own, _ := y.(election.LogReader).ReadLog(1, "n1 leads 4")
	require.Equal(t, election.Status{Role: election.Leader, Term: 4, Leader: 1}, own)
	others, _ := y.(election.LogReader).ReadLog(1, "n3 leads 5")
	require.Equal(t, election.Status{Role: election.Follower, Term: 5, Leader: 3}, others)
}

// A field that match has no group for would never be told.
func TestFieldsWithoutAGroup(t *testing.T) {
	for _, field := range []string{"role: {leader: [L]}", "term: {of: leader}", "leader: {nobody: x}"} {
		_, err := Parse("a.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /, match: 'state=(?P<state>\\w+)', "+field+"}\n"))
		require.ErrorContains(t, err, "match has no group", field)
	}
}

// A command whose words come to nothing fails, and is not run.
func TestACommandOfNothing(t *testing.T) {
	y := driver(t, parse(t, "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /, role: r}\nbootstrap: ['{{if gt .Size 3}}/init{{end}}']\n"), nil)
	y.(election.Executor).Use(func(context.Context, election.Member, []string) ([]byte, error) {
		require.Fail(t, "it was run")
		return nil, nil
	})
	require.ErrorContains(t, y.(election.Bootstrapper).Bootstrap(t.Context(), withServers(3, 0), unreached), "nothing is left on n1")
	for _, given := range []string{"observe: {command: []}", "observe: {http: /, role: r}\nready: {command: []}", "observe: {http: /, role: r}\nresign: {command: []}"} {
		_, err := Parse("a.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 1s}\n"+given+"\n"))
		require.ErrorContains(t, err, "empty", given)
	}
}

// An answer is read as it stands there, and no more into it.
func TestOddAnswers(t *testing.T) {
	p, err := parsePath("nodes.-1.role")
	require.NoError(t, err)
	root, err := ParseJSON([]byte(`{"nodes":[{"role":"leader"}]}`))
	require.NoError(t, err)
	_, err = p.find(root)
	require.ErrorAs(t, err, new(absent))
	_, err = ParseJSON([]byte(`{"term":5}{"term":6}`))
	require.ErrorContains(t, err, "something comes after it")

	samples, err := ParseSamples("a{x=\"}\"} 9007199254740993 # {trace=\"y\"} 1.5\nb {x=\"1\"} 2 1700000000.5\nodd{x=\"\\y\"} 1\nterm7\n")
	require.NoError(t, err)
	for name, want := range map[string]string{"a": "9007199254740993", "b": "2"} {
		got, err := (Metric{Name: name}).find(samples)
		require.NoError(t, err, name)
		require.Equal(t, want, got)
	}
	_, err = (Metric{Name: "odd"}).find(samples)
	require.ErrorContains(t, err, "label x")
	_, err = (Metric{Name: "term7"}).find(samples)
	require.ErrorContains(t, err, "is no sample of a metric")
	_, err = ParseSamples("<html>\n")
	require.ErrorContains(t, err, "is no sample of a metric")
}
