package specfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

// ofThree are the readers of three nodes, which share what they learn.
func ofThree(t *testing.T, observe string) []*reader {
	t.Helper()
	s := parse(t, "image: a\nports: {http: 8080}\ntimes: {silence: 1s}\nobserve: "+observe+"\n")
	var all []*reader
	var d directory
	for _, m := range members(3) {
		r, err := s.reader(words{s: s, self: m, all: members(3)}, &d)
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

// Ids that servers draw at random become known as soon as each has been asked.
func TestIdsFromTheAnswer(t *testing.T) {
	all := ofThree(t, "{http: /, id: {at: me}, role: role, leader: lead}")
	view := func(n int, me, role, lead string) (election.Status, error) {
		return all[n-1].view([]byte(fmt.Sprintf(`{"me":%q,"role":%q,"lead":%q}`, me, role, lead)))
	}
	_, err := view(2, "8e9e05c52164694d", "follower", "91bc3c398fb3c146")
	require.ErrorContains(t, err, `leader "91bc3c398fb3c146" is none of the nodes`)
	require.Contains(t, hint.Of(err), "has called itself so yet")
	var stranger *Stranger
	require.ErrorAs(t, err, &stranger)
	require.False(t, stranger.Told())
	st, err := view(1, "91bc3c398fb3c146", "leader", "91bc3c398fb3c146")
	require.NoError(t, err)
	require.Equal(t, election.Status{Role: election.Leader, Leader: 1}, st)
	require.True(t, stranger.Told())
	st, err = view(2, "8e9e05c52164694d", "follower", "91bc3c398fb3c146")
	require.NoError(t, err)
	require.Equal(t, election.Status{Leader: 1}, st)

	_, err = view(3, "91bc3c398fb3c146", "follower", "")
	require.ErrorContains(t, err, `n1 and n3 both call themselves "91bc3c398fb3c146"`)
	st, err = view(3, "", "follower", "8e9e05c52164694d")
	require.NoError(t, err, "it has no id yet, and names whose is known")
	require.Equal(t, election.ID(2), st.Leader)
	_, err = view(1, "fd422379fda50e48", "follower", "fd422379fda50e48")
	require.NoError(t, err, "it took another id in its next life")
	st, err = view(3, "", "follower", "91bc3c398fb3c146")
	require.NoError(t, err)
	require.Equal(t, election.ID(1), st.Leader, "what others say of it may be old")
	_, err = all[0].view([]byte(`{"me":["a"],"role":"follower"}`))
	require.ErrorContains(t, err, "me is not a single value")
}

// 0 is nobody, as with Raft's libraries, unless the spec says what else nobody is called.
func TestIdsFromZero(t *testing.T) {
	st := func(observe, answer string) election.Status {
		t.Helper()
		all := ofThree(t, observe)
		for i, r := range all {
			_, err := r.view([]byte(fmt.Sprintf(`{"me":%d,"lead":-1}`, i)))
			require.NoError(t, err)
		}
		st, err := all[1].view([]byte(answer))
		require.NoError(t, err)
		return st
	}
	const zero = "{http: /, id: {at: me}, leader: {at: lead, nobody: '-1'}}"
	require.Equal(t, election.ID(1), st(zero, `{"me":1,"lead":0}`).Leader)
	require.Equal(t, election.ID(3), st(zero, `{"me":1,"lead":2}`).Leader)
	require.Equal(t, election.None, st(zero, `{"me":1,"lead":-1}`).Leader)
	require.Equal(t, election.None, st("{http: /, id: {at: me}, leader: lead}", `{"me":1,"lead":0}`).Leader)

	for _, r := range ofThree(t, "{http: /, id: {at: me}, leader: {at: lead, nobody: '-1'}}") {
		_, err := r.view([]byte(`{"me":-1,"lead":-1}`))
		require.NoError(t, err, "none has an id yet")
	}
}

func TestIdsFromTheLog(t *testing.T) {
	all := ofThree(t, `{http: /, id: {log: 'my id is (?P<id>\w+)'}, leader: lead}`)
	for i, r := range all {
		_, announces, err := r.line(fmt.Sprintf("12:00 my id is x%d", i+1))
		require.NoError(t, err)
		require.False(t, announces)
	}
	st, err := all[0].view([]byte(`{"lead":"x3"}`))
	require.NoError(t, err)
	require.Equal(t, election.Status{Leader: 3}, st)
}

func TestWordsForNodes(t *testing.T) {
	self := ofThree(t, "{http: /, leader: {at: lead, self: [self, me], nobody: other}}")
	for n, want := range map[string]election.Status{
		"self": {Role: election.Leader, Leader: 2}, "me": {Role: election.Leader, Leader: 2}, "other": {}, "n3": {Leader: 3},
	} {
		st, err := self[1].view([]byte(fmt.Sprintf(`{"lead":%q}`, n)))
		require.NoError(t, err)
		require.Equal(t, want, st, n)
	}
	table := ofThree(t, "{http: /, leader: {at: lead, table: {alpha: n1, beta: n2, old-beta: n2, delta: n9}}}")
	for n, want := range map[string]election.ID{"alpha": 1, "beta": 2, "old-beta": 2, "": 0} {
		st, err := table[2].view([]byte(fmt.Sprintf(`{"lead":%q}`, n)))
		require.NoError(t, err)
		require.Equal(t, want, st.Leader, n)
	}
	_, err := table[2].view([]byte(`{"lead":"delta"}`))
	require.ErrorContains(t, err, "none of the nodes")
	require.Contains(t, hint.Of(err), "alpha, beta, old-beta")
	_, err = self[1].view([]byte(`{"lead":"Not Set"}`))
	require.ErrorContains(t, err, `leader "Not Set" is none of the nodes`)
	require.Contains(t, hint.Of(err), "nobody: …", "it may be no node that is called so")
}

// What a line tells may hold until the next one.
func TestLogsThatStand(t *testing.T) {
	of := func(logs string) *Spec {
		return parse(t, "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {logs: "+logs+"}\n")
	}
	const lines = "[{match: leads, role: leader}, {match: lost, role: follower}]"
	require.True(t, parse(t, "image: a\nports: {http: 8080}\ntimes: {silence: 1s}\nobserve: {http: /, role: r, term: {at: t, of: leader}}\n").Target("mine.yaml").Tokens)
	require.True(t, of("{standing: true, lines: "+lines+"}").Target("mine.yaml").Standing)
	require.False(t, of("{lines: "+lines+"}").Target("mine.yaml").Standing)
	require.False(t, of(lines).Target("mine.yaml").Standing)
	require.Len(t, of("{match: leads, role: leader}").Observe.Logs, 1)
	told := func(s *Spec) string { return strings.Join(s.Missing(), "\n") }
	require.Contains(t, told(of(lines)), "standing: true")
	require.NotContains(t, told(of("{standing: true, lines: "+lines+"}")), "standing: true")
}

// A server that is found by its URL names the leader by it, with the slash at its end or without.
func TestALeaderByItsURL(t *testing.T) {
	r := ofThree(t, "{http: /, role: role, leader: lead}")[0]
	addr := members(3)[1].Addr.String()
	for _, called := range []string{addr, addr + ":8080", "http://" + addr + ":8080", "http://" + addr + ":8080/", "https://" + addr + ":8080/"} {
		st, err := r.view([]byte(`{"role":"follower","lead":"` + called + `"}`))
		require.NoError(t, err)
		require.Equal(t, election.ID(2), st.Leader, called)
	}
	for _, called := range []string{"http://" + addr + ":8081/", addr + "/", "n2/", "http://" + addr + ":8080/page"} {
		_, err := r.view([]byte(`{"role":"follower","lead":"` + called + `"}`))
		require.ErrorContains(t, err, "none of the nodes", called)
	}
}

// What a node may be called is told in a few words: with three nodes and two ports there are thirty names.
func TestFewNamesAreTold(t *testing.T) {
	require.Equal(t, "alpha, beta", few([]string{"alpha", "beta"}))
	require.Equal(t, "1, 2, n1, n2, 10.0.0.1, 10.0.0.2, 2 more",
		few([]string{"1", "10.0.0.1", "10.0.0.1:80", "10.0.0.2", "2", "http://10.0.0.1:80", "n1", "n2"}))
}
