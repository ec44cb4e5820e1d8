package draft

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/targets/specfile"
)

func logOf(led bool, terms []uint64, lines ...string) Log { return Log{lines, true, led, terms} }

func TestLinesThatTellOfAChangeAreFound(t *testing.T) {
	one, two := []uint64{1, 2}, []uint64{2}
	for _, c := range []struct {
		server string
		logs   []Log
		terms  Terms
		want   []string
	}{
		{"the example", []Log{
			logOf(true, one, "2026/03/14 n1 becomes candidate at term 1", "2026/03/14 n1 becomes leader at term 1"), logOf(false, one, "n2 becomes follower at term 1"),
		}, AllTerms, []string{
			`{match: 'becomes leader at term (?P<term>\d+)', role: leader}`, `{match: 'becomes candidate at term (?P<term>\d+)', role: candidate}`,
			`{match: 'becomes follower at term (?P<term>\d+)', role: follower}`,
		}},
		{"etcd", []Log{logOf(true, two, `{"level":"info","msg":"8e9e05c52164694d became leader at term 2"}`, `{"msg":"raft.node: 8e9e elected leader 8e9e at term 2"}`)}, AllTerms,
			[]string{`{match: 'became leader at term (?P<term>\d+)', role: leader}`}},
		{"hashicorp/raft", []Log{
			logOf(true, two, `entering follower state: follower="Node at 10.0.0.1:7000" leader-address=`, `election won: term=2 tally=2`, `entering leader state: leader="Node at 10.0.0.1:7000"`),
		}, AllTerms, []string{`{match: 'election won: term=(?P<term>\d+)', role: leader}`}},
		{"the same, without terms", []Log{logOf(true, nil, `entering follower state: f`, `entering leader state: leader="Node at 10.0.0.1:7000"`)}, NoTerms,
			[]string{`{match: 'entering leader', role: leader}`, `{match: 'entering follower', role: follower}`}},
		{"what stands between differs", []Log{logOf(true, two, `state changed to StateLeader id="a7" term=2`)}, AllTerms,
			[]string{`{match: 'changed to StateLeader.*\bterm=(?P<term>\d+)', role: leader}`}},
		{"others' leaders", []Log{logOf(true, two, "n1 became leader at term 2"), logOf(false, two, "n1 became leader at term 2")}, AllTerms, nil},
		{"two elections", []Log{logOf(true, two, "n1 became leader at term 2", "n1 became leader at term 2")}, AllTerms, nil},
		{"another number", []Log{logOf(true, two, "became leader, epoch 77")}, AllTerms, nil},
		{"followers alone", []Log{logOf(true, two, "became follower at term 1")}, AllTerms, nil},
		{"nothing of the kind", []Log{logOf(true, two, "the leader is n1", "looking for a leader in term 2")}, AllTerms, nil},
	} {
		var got []string
		for _, l := range Lines(c.logs, c.terms) {
			got = append(got, l.String())
		}
		require.Equal(t, c.want, got, c.server)
		if got != nil {
			file := "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /, role: role, logs: [" + strings.Join(got, ", ") + "]}\n"
			if c.terms == AllTerms {
				file = strings.Replace(file, "role: role", "role: role, term: term", 1)
			}
			_, err := specfile.Parse("a.yaml", []byte(file))
			require.NoError(t, err, file)
		}
	}
}
