package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/election"
	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
	"recount/targets/specfile"
)

// A target that bears long silences gets faults that fit into the run, and its report says what they are not.
func TestFaultsFitIntoAShortRun(t *testing.T) {
	plan := func(d time.Duration) record.Plan {
		return record.Plan{Target: "raft", Options: map[string]string{"scale": "100"}, On: record.OnSim, Time: d, Faults: []string{"isolate"}}
	}
	silence := 0 * time.Second
	for seed := range uint64(20) {
		p := plan(time.Minute)
		p.Seed = seed
		s, err := resolve(p)
		require.NoError(t, err)
		silence = s.bounds.Silence
		require.NotEmpty(t, s.Schedule)
		require.LessOrEqual(t, s.Schedule.End(), time.Minute)
	}
	require.Greater(t, 4*silence, time.Minute)

	r, err := Simulate(context.Background(), plan(time.Minute))
	require.NoError(t, err)
	require.Len(t, r.Notes, 1)
	require.Contains(t, r.Notes[0], "1m0s has room for faults of about")
	r, err = Simulate(context.Background(), plan(20*4*silence))
	require.NoError(t, err)
	require.Empty(t, r.Notes)
	require.ErrorContains(t, Check(plan(time.Second)), "1s is too short for a fault of raft")

	told := map[int]string{} // by how many there are
	for seed := range uint64(20) {
		p := plan(12 * silence)
		p.Seed, p.Faults = seed, []string{"isolate", "kill", "pause"}
		s, err := resolve(p)
		require.NoError(t, err)
		told[len(s.Schedule)] = strings.Join(s.notes, "\n")
	}
	require.Contains(t, told[1], fmt.Sprintf("has room for 1 fault only: where a leader may be silent for %v, one begins about every %v", silence, 5*silence))
	require.NotEmpty(t, told[2])
	require.Empty(t, told[3])
}

// answers is a cluster whose nodes answer what cannot be read.
type answers struct {
	Cluster
	*systemNode
	now time.Duration
}

func (a *answers) Now() time.Duration { return a.now }

func (a *answers) Observe(node string, done func(history.View, error)) {
	if node == "n3" {
		done(history.View{}, errors.New("no connection"))
		return
	}
	done(a.View(context.Background()))
}

func TestAnswersThatCannotBeReadAreSaidToBe(t *testing.T) {
	spec, err := specfile.Parse("mine.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 1s}\n"+
		"observe: {http: /, role: {at: role, leader: [primary], follower: [replica, standby]}}\n"))
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"role":"boss"}`) }))
	defer server.Close()
	options, err := spec.Target("mine").Parse(nil)
	require.NoError(t, err)
	system, err := spec.System(options)
	require.NoError(t, err)
	n2 := election.Member{ID: 2, Name: "n2"}
	observer := system.Observer(n2, []election.Member{n2}, func(ctx context.Context, _ int) (net.Conn, error) {
		return net.Dial("tcp", server.Listener.Addr().String())
	})
	u := countUnread(&answers{systemNode: &systemNode{Observer: observer}}, spec.Target("mine").Bounds(options), true)
	require.Empty(t, u.words())
	failed := 0
	for _, node := range []string{"n3", "n2", "n1", "n2", "n3"} {
		u.Observe(node, func(_ history.View, err error) {
			require.Error(t, err)
			failed++
		})
	}
	require.Equal(t, 5, failed, "observers are told")
	require.Equal(t, "Answers that could not be read: 1 of n1, 2 of n2. The first: "+
		`spec: observe n2: role "boss" is none of leader (primary), candidate (candidate, Candidate, CANDIDATE) and follower (replica, standby)`+
		"; the answer is `{\"role\":\"boss\"}`; "+`say which words mean what: role: {at: …, leader: […], candidate: […], follower: […]}.`+
		` Never answered: n3. The last time of n3: no connection.`, u.words())
	require.Empty(t, (*unread)(nil).words(), "algorithms answer in no words")

	u = countUnread(&starting{answers: u.Cluster.(*answers), then: func() { u.Observe("n2", func(history.View, error) {}) }}, u.slow.bounds, true)
	require.NoError(t, u.Start(t.Context()))
	require.Empty(t, u.words(), "it was not ready")
	u.Observe("n2", func(history.View, error) {})
	require.Contains(t, u.words(), "Answers that could not be read: 1 of n2.")
}

// starting is a cluster that is asked while it is being started.
type starting struct {
	*answers
	then func()
}

func (s *starting) Start(context.Context) error {
	s.then()
	return nil
}

// A scenario that was made for quick elections shows little of slow ones, and says so.
func TestFaultsThatEndBeforeALeaderIsMissed(t *testing.T) {
	slow := described(t, t.TempDir()+"/slow.yaml", strings.Replace(definition, "silence: 1s", "silence: 10s", 1)).DescribedBy
	brief := "the scenario's faults last for 8s at most, and a leader may be silent for 10s: nobody has to miss it meanwhile; for-times in a copy of it are multiples of that"
	short := nemesis.Step{Fault: "pause", For: 8 * time.Second}
	for _, c := range []struct {
		name     string
		schedule nemesis.Schedule
		expect   map[string]checkers.Verdict
		want     []string
	}{
		{"slow", nemesis.Schedule{short}, nil, []string{brief}},
		{"", nemesis.Schedule{short}, nil, nil},
		{"slow", nemesis.Schedule{short}, map[string]checkers.Verdict{"elects": checkers.Valid}, nil},
		{"slow", nemesis.Schedule{short, {Fault: "pause", At: time.Second}}, nil, nil},
		{"slow", nemesis.Schedule{short, {Fault: "pause", ForTimes: 1.5}}, nil, nil},
		{"slow", nemesis.Schedule{short, {Fault: "pause", ForTimes: 0.5}}, nil, []string{brief}},
	} {
		s, err := resolve(record.Plan{Target: slow, On: record.OnDocker, Nodes: 3, Time: time.Minute, Scenario: c.name, Schedule: c.schedule, Expect: c.expect})
		require.NoError(t, err)
		require.Equal(t, c.want, s.notes)
	}
}
