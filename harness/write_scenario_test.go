package harness

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/nemesis"
	"recount/scenarios"
)

func TestAWrittenScenarioIsReadAgain(t *testing.T) {
	seed := uint64(7)
	s := &Scenario{
		Name: "mine", About: "a story: of n1, and # signs", Target: "raft", Options: map[string]string{"scale": "2"}, Nodes: 3,
		Time: 66 * time.Second, Seed: &seed, Workloads: []string{"fence"}, Require: []string{"no-ping-pong"},
		Schedule: nemesis.Schedule{
			{At: time.Second, Fault: "flap-link", Nodes: []string{"leader", "n3"}, For: 1500 * time.Millisecond, With: map[string]string{"up": "1s"}},
			{Fault: "kill"},
		},
	}
	b, err := s.Encode("What happened:\n\n  n1 leads\n")
	require.NoError(t, err)
	require.Equal(t, `# What happened:
#
#   n1 leads
about: 'a story: of n1, and # signs'
target: raft
options:
  scale: "2"
nodes: 3
time: 1m6s
seed: 7
workloads: [fence]
schedule:
  - {at: 1s, fault: flap-link, nodes: [leader, n3], for: 1.5s, with: {up: 1s}}
  - {at: 0s, fault: kill}
require: [no-ping-pong]
`, string(b))
	path := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(path, b, 0o644))
	again, err := LoadScenario(path)
	require.NoError(t, err)
	again.Schedule = placeless(again.Schedule)
	require.Equal(t, s, again)
}

// placeless is a schedule without the places that a file had its steps at.
func placeless(s nemesis.Schedule) nemesis.Schedule {
	s = slices.Clone(s)
	for i := range s {
		s[i].Place = ""
	}
	return s
}

func TestEveryScenarioSurvivesBeingWritten(t *testing.T) {
	for _, name := range scenarios.Names() {
		p := scenarioPlan(t, name, record.Plan{Seed: 3})
		timed := p
		var err error
		timed.Schedule, err = p.Schedule.Timed(func(string) (time.Duration, error) { return time.Second, nil })
		require.NoError(t, err)
		b, err := ScenarioOf(timed).Encode("")
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), name+".yaml")
		require.NoError(t, os.WriteFile(path, b, 0o644))
		s, err := LoadScenario(path)
		require.NoError(t, err)
		require.Equal(t, uint64(3), *s.Seed)
		p.Schedule, s.Schedule = placeless(p.Schedule), placeless(s.Schedule)
		require.Equal(t, p, s.Plan(record.Plan{Seed: 3}))
	}
}

// An order of goroutines is for runs with real servers in virtual time; elsewhere the scenario is run without.
func TestGoroutinesOfAScenario(t *testing.T) {
	s := ScenarioOf(record.Plan{Target: "etcd", Goroutines: record.PCT})
	for on, want := range map[string]string{record.OnVirtual: record.PCT, record.OnDocker: "", record.OnSim: ""} {
		require.Equal(t, want, s.Plan(record.Plan{On: on}).Goroutines)
	}
	p := s.Plan(record.Plan{On: record.OnVirtual, Goroutines: record.FIFO})
	require.Equal(t, record.FIFO, p.Goroutines, "what is given goes before")
	require.NoError(t, Check(p))
	p.On = record.OnDocker
	require.ErrorContains(t, Check(p), "only real servers in virtual time have them")
}

func TestPartitionsAndListsOfNodesAreWordsOfASchedule(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sides.yaml")
	text := "schedule:\n  - {at: 1s, partition: [[n1, n4], [n2, n3]], for: 2s}\n  - {at: 4s, fault: kill, nodes: [[n1, n2]], for: 1s}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	s, err := LoadScenario(file)
	require.NoError(t, err)
	require.Equal(t, nemesis.Schedule{
		{At: time.Second, Fault: "partition", Nodes: nemesis.Named{"n1,n4", "n2,n3"}, For: 2 * time.Second},
		{At: 4 * time.Second, Fault: "kill", Nodes: nemesis.Named{"n1,n2"}, For: time.Second},
	}, placeless(s.Schedule))
	require.NoError(t, s.Schedule.Check([]string{"n1", "n2", "n3", "n4"}))
	require.ErrorContains(t, s.Schedule.Check([]string{"n1", "n2", "n3"}), `unknown node "n4"`)
	written, err := s.Encode("")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, written, 0o644))
	again, err := LoadScenario(file)
	require.NoError(t, err)
	require.Equal(t, s.Schedule, again.Schedule)

	require.NoError(t, os.WriteFile(file, []byte("schedule:\n  - {at: 1s, fault: kill, partition: [n1, n2]}\n"), 0o644))
	_, err = LoadScenario(file)
	require.ErrorContains(t, err, "step 1: a partition beside fault or nodes")
}
