package cli

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/history"
	"recount/targets/specfile"
)

// Nodes that were started and are seen by nothing would be followers of nobody knows whom in each run.
func TestNodesThatTellNothingAreWrong(t *testing.T) {
	s, err := specfile.Parse("mine.yaml", []byte("image: a\ntimes: {silence: 4s}\nobserve: {logs: {standing: true, lines: [{match: won, role: leader}, {match: lost, role: follower}]}}\n"))
	require.NoError(t, err)
	p := &harness.Probe{Nodes: []string{"n1", "n2", "n3"}, ProbeAnswers: harness.ProbeAnswers{Asked: 9, Failed: 9}, Told: 2, Led: true, Watched: 9 * time.Second}
	see := func(roles ...history.Role) (string, []string) {
		p.Views = nil
		for _, role := range roles {
			p.Views = append(p.Views, harness.ProbeView{Node: "n1", View: history.View{Role: role}, Told: true})
		}
		var out bytes.Buffer
		wrong := tell(&out, s, p)
		return out.String(), wrong
	}
	_, wrong := see(history.Follower, history.Leader)
	require.Equal(t, []string{"n2, n3 told nothing in 9s: were they told of the others rightly? Their logs may say"}, wrong)
	out, wrong := see(history.Leader)
	require.Empty(t, wrong)
	require.Contains(t, out, "missing\tn2, n3 told nothing in 9s, and no line told that a node follows")
}

// Nodes that never name the leader beside them are no cluster with it, or lines are described wrongly.
func TestNodesThatNameNobodyAreToldOf(t *testing.T) {
	p := &harness.Probe{Nodes: []string{"n1", "n2", "n3"}, Names: true, ProbeAnswers: harness.ProbeAnswers{Asked: 9}, Told: 2, Led: true, Watched: 9 * time.Second}
	for node, v := range map[string]history.View{"n1": {Role: history.Leader, Leader: "n1"}, "n2": {Role: history.Follower}, "n3": {Role: history.Follower, Leader: "n1"}} {
		p.Views = append(p.Views, harness.ProbeView{Node: node, View: v})
	}
	see := func(observe string) (string, []string) {
		s, err := specfile.Parse("mine.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 4s}\nobserve: "+observe+"\n"))
		require.NoError(t, err)
		var out bytes.Buffer
		wrong := tell(&out, s, p)
		return out.String(), wrong
	}
	asked, heard := "{http: /, role: role, leader: leader}", "{logs: {standing: true, lines: [{match: won, role: leader}, {match: 'after (?P<leader>.*)', role: follower}]}}"
	_, wrong := see(asked)
	require.Equal(t, []string{"n2 named no leader in 9s, and another leads: " + harness.NotJoined}, wrong)
	out, wrong := see(heard)
	require.Empty(t, wrong)
	require.Contains(t, out, "missing\tn2 named no leader in 9s, and another leads: each run waits until a majority has")
	p.Unread, p.Strange = 5, errors.New("leader \"x\" is none of the nodes")
	_, wrong = see(asked)
	require.Equal(t, []string{`5 of 9 answers could not be read; the last: leader "x" is none of the nodes`}, wrong, "who is not understood may have named it")
	p.Names, p.Unread = false, 0
	_, wrong = see(asked)
	require.Empty(t, wrong)
}

// Lines that may tell of a change are shown to who says nothing of logs, if they fit with what was seen.
func TestLinesOfLogsAreSuggested(t *testing.T) {
	p := &harness.Probe{Nodes: []string{"n1", "n2"}, Led: true, ProbeAnswers: harness.ProbeAnswers{Asked: 9},
		ProbeLogs: harness.ProbeLogs{Log: [][]string{{"n1 became leader at term 3"}, {"n2 became follower at term 3"}}}}
	p.Views = []harness.ProbeView{{Node: "n1", View: history.View{Role: history.Leader, Term: 3}}, {Node: "n2", View: history.View{Role: history.Follower, Term: 3}}}
	see := func(observe string) string {
		s, err := specfile.Parse("mine.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 4s}\nobserve: {http: /, role: role, term: term"+observe+"}\n"))
		require.NoError(t, err)
		var out bytes.Buffer
		tell(&out, s, p)
		return out.String()
	}
	require.Contains(t, see(""), `perhaps	logs: [{match: 'became leader at term (?P<term>\d+)', role: leader}, {match: 'became follower at term (?P<term>\d+)', role: follower}]`)
	require.NotContains(t, see(`, logs: [{match: 'leader at term (?P<term>\d+)', role: leader}]`), "perhaps")
	p.Views[0].View.Term = 4
	require.NotContains(t, see(""), "perhaps")
}

// Who listens at the loopback is never reached by the others, and logs often say nothing of it.
func TestWhoListensForHimselfAloneIsToldOf(t *testing.T) {
	s, err := specfile.Parse("mine.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 4s}\nobserve: {http: /, role: role}\n"))
	require.NoError(t, err)
	p := &harness.Probe{Nodes: []string{"n1", "n2"}, ProbeAnswers: harness.ProbeAnswers{Asked: 9}, Alone: map[string][]int{"n2": {80, 81}, "n1": {80}}}
	require.Equal(t, []string{"nobody led, of 2 nodes: role was never leader or Leader or LEADER or true or 1; is that right?",
		"n1 (80), n2 (80 81) listen at 127.0.0.1 alone, where no other node reaches them: others connect to {{.Addr}}"}, whatIsWrong(s, p, 9))
}

func TestALogIsShownFromBothEnds(t *testing.T) {
	require.Equal(t, []string{"a", "b", "c", "d"}, bothEnds([]string{"a", "b", "c", "d"}, 2))
	require.Equal(t, []string{"a", "b", "… and 3 more lines", "f", "g"}, bothEnds([]string{"a", "b", "c", "d", "e", "f", "g"}, 2))
	require.Equal(t, []string{"a", "… and 3 more lines, among them:", "E1: Error while opening WAL store", "…", "g"},
		bothEnds([]string{"a", "b", "E1: Error while opening WAL store", "terrors", "g"}, 1))
}

// Where nobody is seen to lead the author is told what was looked for, and where: the field may have another name.
func TestWhoNeverLedIsToldWhatWasLookedFor(t *testing.T) {
	for observe, want := range map[string]string{
		"{http: /s, role: {at: raft.state, leader: [Leader, Boss]}}": "role was never Leader or Boss",
		"{http: /s, leader: raft.lead}":                              "none named itself at raft.lead",
		"{http: /s, match: 'at (?P<leader>.*)'}":                     "none named itself at leader",
		"{metrics: /m, leader: 'raft_lead{of=\"me\"}'}":              `none named itself at raft_lead{of="me"}`,
		"{logs: [{match: 'n(?P<leader>.) leads', role: follower}]}":  "none of the values of leader was seen",
	} {
		s, err := specfile.Parse("mine.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 4s}\nobserve: "+observe+"\n"))
		require.NoError(t, err)
		require.Equal(t, "nobody led, of 3 nodes: "+want+"; is that right?", neverLed(s, &harness.Probe{Nodes: []string{"n1", "n2", "n3"}}))
	}
	store, err := specfile.Parse("mine.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 4s}\nobserve: {http: /s, role: {at: name, leader: none}}\n"+
		"register: {get: {http: /x}, put: {http: '/x?v={{.Value}}'}}\n"))
	require.NoError(t, err)
	require.Contains(t, neverLed(store, &harness.Probe{Nodes: []string{"n1", "n2", "n3"}}), "--workload register --require linearizable judges that alone")
}

// A line that all nodes write of who leads says of the leader that it follows itself, if it has a role: what was seen tells so.
func TestWhoFollowsItselfIsTold(t *testing.T) {
	s, err := specfile.Parse("mine.yaml", []byte("image: a\ntimes: {silence: 4s}\n"+
		"observe: {logs: [{match: 'becomes leader', role: leader}, {match: 'elected (?P<leader>n.)', role: follower}]}\n"))
	require.NoError(t, err)
	p := &harness.Probe{Nodes: []string{"n1", "n2"}, Views: []harness.ProbeView{
		{At: time.Second, Node: "n2", View: history.View{Role: history.Leader, Leader: "n2"}, Told: true},
		{At: time.Second, Node: "n1", View: history.View{Role: history.Follower, Leader: "n2"}, Told: true},
		{At: time.Second, Node: "n2", View: history.View{Role: history.Follower, Leader: "n2"}, Told: true},
	}}
	require.Equal(t, "nobody led, of 2 nodes: n2 at 1.00s names itself, as a follower: what each node says of who leads, be it itself, takes no role; is that right?",
		neverLed(s, p))
	p.Views = p.Views[:2]
	require.Equal(t, "nobody led, of 2 nodes: none of the values of leader was seen; is that right?", neverLed(s, p))
}
