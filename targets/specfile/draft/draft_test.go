package draft

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
	"recount/targets/specfile"
)

// drafted is the file that is written from answers, which was read again.
func drafted(t *testing.T, answers ...string) string {
	t.Helper()
	var all []Answer
	for _, text := range answers {
		all = append(all, Answer{From: "answer.json", Text: []byte(text)})
	}
	d, err := New("mine.yaml", all)
	require.NoError(t, err)
	_, err = specfile.Parse("mine.yaml", d.Text)
	require.NoError(t, err, string(d.Text))
	return string(d.Text)
}

// What servers answer, and what is to be read out of it.
func TestFieldsAreFoundInAnswersOfServers(t *testing.T) {
	for _, c := range []struct {
		server  string
		answers []string
		lines   []string // of observe
		not     []string
	}{
		{"hashicorp/raft", []string{
			`{"last_log_term":"9","last_snapshot_term":"0","state":"Leader","term":"4","latest_configuration":"[]"}`,
			`{"last_log_term":"9","last_snapshot_term":"0","state":"Follower","term":"4","latest_configuration":"[]"}`,
		}, []string{`role: state   # it says "Leader", "Follower"`, `term: term   # it says "4"`}, []string{"  leader:", "CHANGE: what does it"}},
		{"Patroni", []string{`{"state":"running","role":"replica","timeline":2,"patroni":{"name":"pg1"}}`},
			[]string{"role: {at: role, leader: master}", "CHANGE: what does it say of a leader?", "term: timeline"}, nil},
		{"Vault", []string{`{"ha_enabled":true,"is_self":false,"leader_address":"http://10.0.0.2:8200","leader_cluster_address":""}`},
			[]string{"role: is_self", "leader: leader_address", "exclusive-leadership"}, []string{"  term:", "single-leader-per-term"}},
		{"SeaweedFS", []string{`{"IsLeader":true,"Leader":"10.0.0.1:9333","Peers":["10.0.0.2:9333"]}`, `{"Leader":"10.0.0.1:9333","Peers":["10.0.0.2:9333"]}`},
			[]string{`role: {at: IsLeader, follower: ''}   # it says "true", ""`, "leader: Leader"}, []string{"  term:"}},
		{"what is left out now and then", []string{`{"role":"Leader","term":2}`, `{"term":2}`, `{"role":"Follower","term":2}`},
			[]string{`role: {at: role, leader: Leader, follower: ['', Follower]}`}, nil},
		{"NATS", []string{`{"server_id":"NC","server_name":"n1","meta_cluster":{"leader":"n2","replicas":[{"name":"n2","role":"leader"}]}}`},
			[]string{"leader: meta_cluster.leader"}, []string{"  role:", "id:", "CHANGE: whom"}},
		{"etcd", []string{"etcd_server_has_leader 1\n# TYPE x gauge\netcd_server_is_leader 0\netcd_server_leader_changes_seen_total 1\nraft_term 7\n"},
			[]string{"metrics: /metrics", "role: etcd_server_is_leader", "term: raft_term"}, []string{"has_leader", "  leader:"}},
		{"metrics with labels", []string{"raft_state{state=\"leader\"} 1\nraft_state{state=\"follower\"} 0\nraft_leader_info{leader=\"n2\"} 1\nterm_total 3\n"},
			[]string{`role: 'raft_state#state'`, `leader: 'raft_leader_info#leader'`}, []string{"  term:"}},
		{"metrics of all nodes", []string{"x_leader{leader=\"n1\"} 1\nx_leader{leader=\"n2\"} 1\nx_is_leader 1\n"}, []string{"role: x_is_leader"}, []string{"  leader:"}},
		{"ZooKeeper", []string{"Zookeeper version: 3.8.0-1\nLatency min/avg/max: 0/0.0/0\nMode: follower\nNode count: 5\n"},
			[]string{`match: '(?s)Mode: (?P<role>[^\s",;]*)'`}, []string{"  term:"}},
		{"lines with all of it", []string{"id=n1 term=3 leader=n2 mode=slave\n"},
			[]string{`match: '(?s)term=(?P<term>\d+).*?leader=(?P<leader>[^\s",;]*).*?mode=(?P<role>[^\s",;]*)'`, "role: {leader: master}"}, []string{"at:"}},
		{"Consul", []string{`"10.0.0.1:8300"`}, []string{`match: '(?s)^"(?P<leader>[^\s",;]*)'`}, nil},
		{"Redis", []string{"# Replication\r\nrole:slave\r\nmaster_host:10.0.0.1\r\nmaster_port:6379\r\nmaster_link_status:up\r\n"},
			[]string{`match: '(?s)role:(?P<role>[^\s",;]*).*?master_host:(?P<leader>[^\s",;]*)'`, "role: {leader: master}"}, []string{"  term:"}},
		{"MongoDB", []string{`{"isWritablePrimary":false,"secondary":true,"setName":"rs0","primary":"a:27017","me":"b:27017","maxWireVersion":17}`},
			[]string{"role: isWritablePrimary", "leader: primary", "id: me"}, []string{"  term:"}},
		{"client-go", []string{"leader_election_master_status{name=\"x\"} 1\ngo_goroutines 12\n"}, []string{"role: leader_election_master_status"}, []string{"  leader:"}},
		{"ids that nodes tell", []string{`{"nodeID":"a3f","leaderID":"77b","term":3,"isLeader":false}`, `{"nodeID":"77b","leaderID":"77b","term":3,"isLeader":true}`},
			[]string{"role: isLeader", "leader: leaderID", "id: nodeID"}, []string{"CHANGE: whom", "named:"}},
		{"names with numbers", []string{`{"raft":{"role":"StateFollower","epoch":12,"leader":{"id":"node-0","addr":"x.example:80"}}}`},
			[]string{"role: {at: raft.role, leader: StateLeader}", "term: raft.epoch", `leader: {at: raft.leader.id, named: 'node-{{.Index}}'}`}, nil},
		{"names of no pattern", []string{`{"role":"leader","leader":"alpha"}`}, []string{"leader: leader", "CHANGE: whom it means is not known"}, nil},
		{"a lock", []string{`{"role":"leader","token":12}`, `{"role":"follower","token":null}`}, []string{"term: {at: token, of: leader}"}, nil},
		{"a key with a point", []string{`{"a.b":{"role":"leader"}}`}, []string{`role: '["a.b"].role'`}, nil},
		{"numbers for yes and no", []string{`{"is_leader":1,"leader":1,"term":1e3}`}, []string{"role: is_leader", "leader: leader", `it says "1000"`}, nil},
		{"other words for state", []string{`{"state":"running","status":"ok","leader":"n3"}`}, []string{"leader: leader"}, []string{"  role:"}},
		{"words of a third role", []string{`{"role":"leader"}`, `{"role":"observer"}`}, []string{"role: {at: role, leader: leader}"}, nil},
	} {
		t.Run(c.server, func(t *testing.T) {
			got := drafted(t, c.answers...)
			for _, line := range c.lines {
				require.Contains(t, got, line)
			}
			for _, line := range c.not {
				require.NotContains(t, got[strings.Index(got, "observe:"):], line)
			}
		})
	}
}

// Logs tell besides answers, or alone.
func TestLinesOfLogsAreDrafted(t *testing.T) {
	const (
		raft     = "2026 [INFO] raft: entering follower state: follower=x\n2026 [INFO] raft: election won: term=2 tally=2\n2026 [INFO] raft: entering leader state: leader=x\n"
		termed   = "n1 becomes leader at term 1\nn1 becomes follower at term 2\n"
		zap      = `{"level":"info","msg":"8e9e became leader at term 2"}` + "\n" + `{"level":"info","msg":"8e9e became follower at term 3"}` + "\n"
		leaders  = "starting\nnow leader\n"
		follower = "starting\nbecame follower\n"
	)
	got := drafted(t, `{"role":"leader","term":1}`, termed)
	require.Contains(t, got, "  role: role   # it says \"leader\"\n  term: term   # it says \"1\"\n  logs:\n    - {match: 'becomes leader at term (?P<term>\\d+)', role: leader}\n")
	require.NotContains(t, drafted(t, `{"role":"leader","term":1}`, raft), "entering", "lines without a term beside answers with one")
	require.Contains(t, drafted(t, `{"role":"leader"}`, raft), "    - {match: 'election won', role: leader}\n")

	got = drafted(t, termed)
	require.Contains(t, got, "logs:\n    standing: true")
	require.Contains(t, got, "single-leader-per-term")
	require.NotContains(t, got, "http: /")
	require.Contains(t, drafted(t, zap), "became leader at term")
	got = drafted(t, raft)
	require.Contains(t, got, "  term: {of: leader}\n  logs:\n    standing: true")
	require.Contains(t, got, `- {match: 'election won: term=(?P<term>\d+)', role: leader}`)
	require.Contains(t, got, `- {match: 'entering follower', role: follower}`)
	require.Contains(t, drafted(t, leaders), "CHANGE: which lines tell that a node leads no more?")

	_, err := New("mine.yaml", []Answer{{From: "n2.log", Text: []byte(follower)}})
	require.EqualError(t, err, "no line in n2.log is known to tell that a node leads")
	require.Contains(t, hint.Of(err), "a node that has led")
}

// Where a server was asked stands in the file.
func TestWhereTheAnswerIsFromIsKept(t *testing.T) {
	u, err := url.Parse("https://127.0.0.1:9443/v1/{{status}}?a=1")
	require.NoError(t, err)
	d, err := New("mine.yaml", []Answer{
		{From: u.String(), URL: u, Status: 200, Text: []byte(`{"role":"leader"}`)}, {From: u.String(), URL: u, Status: 503, Text: []byte(`{"role":"follower"}`)},
	})
	require.NoError(t, err)
	require.Contains(t, string(d.Text), "ports: {http: 9443}\n")
	require.Contains(t, string(d.Text), "  tls: true\n  status: [200, 503]\n")
	require.Equal(t, []Found{{"role", "role", `"leader", "follower"`}}, d.Found)
	s, err := specfile.Parse("mine.yaml", d.Text)
	require.NoError(t, err)
	require.NoError(t, s.Observe.HTTP.Path.Execute(new(strings.Builder), nil))
}

func TestAnswersThatTellNothing(t *testing.T) {
	for _, c := range []struct{ answers, want, hint string }{
		{`{"a":1,"b":{"c":"x"}}`, "nothing in answer.json is known to tell who leads: it has a, b.c", "recount init FILE"},
		{`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":0}`, "h, 2 more", ""},
		{`[{"role":"leader"}]`, "no single value", ""},
		{`{"node":1,"shards":[{"role":"leader","of":{"a b":2}},{"role":"follower"}]}`, `it has node, shards[0].of["a b"], shards[0].role`, "name the place that it has in the list"},
		{`{"role":`, "is no JSON", ""},
		{`{"role":"leader"}|role: leader`, "answer.json is JSON, and answer.json is text", "one question"},
		{"<html>\n", "no single value", ""},
		{"\x00\xff", "no single value", ""},
	} {
		var all []Answer
		for _, text := range strings.Split(c.answers, "|") {
			all = append(all, Answer{From: "answer.json", Text: []byte(text)})
		}
		_, err := New("mine.yaml", all)
		require.ErrorContains(t, err, c.want, c.answers)
		require.Contains(t, hint.Of(err), c.hint, c.answers)
	}
}

// Whatever a server answers, there is a file that reads well or an error.
func FuzzDraft(f *testing.F) {
	for _, seed := range []string{`{"role":"leader","term":1,"leader":"n1"}`, "raft_state{a=\"b\"} 1", "Mode: leader\n", "Mode: l\xb3eader", `"x"`, `{"le'ader":"# x: {{"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		d, err := New("mine.yaml", []Answer{{From: "a", Text: answer}})
		if err == nil {
			require.NotEmpty(t, d.Found)
		} else {
			require.NotContains(t, err.Error(), "no spec file")
		}
	})
}
