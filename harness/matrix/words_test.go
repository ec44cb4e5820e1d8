package matrix

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/nemesis"
	"recount/scenarios"
	"recount/targets"
)

func names[T any](all []T, name func(T) string) (list []string) {
	for _, a := range all {
		list = append(list, name(a))
	}
	return list
}

func TestWordsForElections(t *testing.T) {
	rows, err := ParseRows([]string{"raft", "raft:forget-vote", "raft", "bully:scale=0.5"}, record.OnSim)
	require.NoError(t, err)
	require.Equal(t, []string{"raft", "raft:forget-vote", "bully:scale=0.5"}, names(rows, func(r Row) string { return r.Word }))
	require.Equal(t, []bool{false, true, false}, []bool{rows[0].FootGun(), rows[1].FootGun(), rows[2].FootGun()})
	require.Equal(t, map[string]string{"scale": "0.5"}, rows[2].Options)
	require.Contains(t, rows[1].Breaks, "vote-once")

	for word, want := range map[string]string{
		"rafd":            `unknown target "rafd"`,
		"etcd":            "it cannot be simulated",
		"raft:forgetvote": `unknown option "forgetvote"`,
		"raft:scale=much": "is not a positive number",
	} {
		_, err := ParseRows([]string{word}, record.OnSim)
		require.ErrorContains(t, err, want)
		require.NotEmpty(t, hint.Of(err), word)
	}
}

// On virtual the rows are real servers that are built from Go source, and what else is named is refused with the reason.
func TestWordsForElectionsInVirtualTime(t *testing.T) {
	rows, err := ParseRows([]string{"etcd", "hashicorp-raft:version=1.6.1"}, record.OnVirtual)
	require.NoError(t, err)
	require.Equal(t, "etcd", rows[0].Target)
	for word, want := range map[string]string{
		"raft":                "is an algorithm, not a real server",
		"zookeeper":           "it is made of packages of Debian, not from Go source: in virtual time run servers that are all Go",
		"etcd:version=3.4.23": "it is made of packages of Debian, not from Go source",
	} {
		_, err := ParseRows([]string{word}, record.OnVirtual)
		require.ErrorContains(t, err, want)
		require.NotEmpty(t, hint.Of(err), word)
	}
	rows, err = ParseRows([]string{AllRows}, record.OnVirtual)
	require.NoError(t, err)
	words := names(rows, func(r Row) string { return r.Word })
	require.Contains(t, words, "nats")
	require.NotContains(t, words, "raft")
	require.NotContains(t, words, "zookeeper")
}

func TestAllMeansEveryElectionAndEveryFootGun(t *testing.T) {
	rows, err := ParseRows([]string{AllRows}, record.OnSim)
	require.NoError(t, err)
	words := names(rows, func(r Row) string { return r.Word })
	for _, target := range targets.All() {
		require.Equal(t, target.Node != nil, slices.Contains(words, target.Name), target.Name)
	}
	guns, err := ParseRows([]string{FootGuns}, record.OnSim)
	require.NoError(t, err)
	require.Contains(t, names(guns, func(r Row) string { return r.Word }), "raft:forget-vote")
	for _, r := range guns {
		require.True(t, r.FootGun(), r.Word)
		require.Contains(t, words, r.Word)
		require.Len(t, r.guns(), 1)
		require.Empty(t, r.without.guns(), "there is the same without it")
	}
}

func TestWordsForFaultsAndScenarios(t *testing.T) {
	columns, err := ParseColumns([]string{AllColumns}, []string{AllColumns})
	require.NoError(t, err)
	want := []string{NoFaults}
	for _, f := range nemesis.All() {
		if f.Name != "disk-wipe" && f.Name != "squeeze-memory" && f.Name != "own" {
			want = append(want, f.Name)
		}
	}
	want = append(append(want, Everything), scenarios.Names()...)
	require.Equal(t, want, names(columns, func(c Column) string { return c.Name }))
	for _, c := range columns {
		require.NotEmpty(t, c.About, c.Name)
	}
	columns, err = ParseColumns([]string{"kill", "none", "kill", "mixed"}, []string{"none"})
	require.NoError(t, err)
	require.Equal(t, []string{"kill", "none", "mixed"}, names(columns, func(c Column) string { return c.Name }))

	_, err = ParseColumns([]string{"kil"}, nil)
	require.ErrorContains(t, err, `unknown fault "kil"`)
	require.Equal(t, `did you mean "kill"?`, hint.Of(err))
	_, err = ParseColumns(nil, []string{"ping-pon"})
	require.ErrorContains(t, err, `unknown scenario "ping-pon"`)
}

func TestPlansAreChecked(t *testing.T) {
	for want, spoil := range map[string]func(*Plan){
		"nothing to measure":              func(p *Plan) { p.Rows = nil },
		"no size":                         func(p *Plan) { p.Nodes = nil },
		"a run of 1 node":                 func(p *Plan) { p.Nodes = []int{3, 1} },
		"0 seeds":                         func(p *Plan) { p.Seeds = 0 },
		"-1 seeds":                        func(p *Plan) { p.Seeds, p.Budget = -1, time.Second },
		"time -1s":                        func(p *Plan) { p.Time = -time.Second },
		"0 runs at a time":                func(p *Plan) { p.Jobs = 0 },
		"no matrix is made on containers": func(p *Plan) { p.On = record.OnDocker },
		`unknown workload "fencing"`:      func(p *Plan) { p.Workloads = []string{"fencing"} },
	} {
		p := planned(t, []string{"raft"}, []string{"none"}, nil)
		spoil(&p)
		err := p.Check()
		require.ErrorContains(t, err, want)
		require.NotEmpty(t, hint.Of(err))
	}
	p := planned(t, []string{"raft"}, []string{"none"}, nil)
	p.Seeds, p.Budget = 0, time.Second
	require.NoError(t, p.Check(), "a budget is limit enough")
}

func TestTargetsAreNoFootGuns(t *testing.T) {
	rows, err := ParseRows([]string{Targets}, record.OnSim)
	require.NoError(t, err)
	all, err := ParseRows([]string{Targets, FootGuns}, record.OnSim)
	require.NoError(t, err)
	every, err := ParseRows([]string{AllRows}, record.OnSim)
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	require.False(t, slices.ContainsFunc(rows, Row.FootGun))
	require.Len(t, all, len(every))
}

func TestEveryPropertyHasAnAbbreviationOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checkers.All() {
		short := abbreviations[c.Property]
		require.NotEmpty(t, short, c.Property)
		require.LessOrEqual(t, len(short), 6)
		require.False(t, seen[short], short)
		seen[short] = true
	}
}
