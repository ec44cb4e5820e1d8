package harness

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
)

// What nodes said last is compared: what they said before may have been another time's.
func TestNodesAtOddsWhileTheyAreTried(t *testing.T) {
	leads := func(node string, term uint64) ProbeView {
		return ProbeView{Node: node, View: history.View{Role: history.Leader, Term: term, Leader: node}}
	}
	follows := func(node string, term uint64, whom string) ProbeView {
		return ProbeView{Node: node, View: history.View{Role: history.Follower, Term: term, Leader: whom}}
	}
	torn := leads("n2", 7)
	torn.View.Torn = true
	for _, c := range []struct {
		views []ProbeView
		want  string
	}{
		{[]ProbeView{leads("n1", 7), follows("n2", 7, "n1"), follows("n3", 7, "")}, ""},
		{[]ProbeView{follows("n1", 7, "n2"), follows("n2", 7, "n2"), leads("n3", 7)}, "n3 says that it leads in term 7, and n1 names n2: is that what servers call each other?"},
		{[]ProbeView{leads("n1", 7), leads("n2", 7)}, "n1 and n2 both say that they lead in term 7: does each tell of itself?"},
		{[]ProbeView{leads("n1", 0), leads("n2", 0)}, "n1 and n2 both say that they lead: does each tell of itself?"},
		{[]ProbeView{leads("n1", 7), torn}, ""},
		{[]ProbeView{leads("n1", 7), leads("n2", 8)}, ""},
		{[]ProbeView{leads("n1", 7), leads("n2", 7), follows("n1", 7, "n2")}, ""},
		{nil, ""},
	} {
		p := &Probe{Nodes: []string{"n1", "n2", "n3"}, Views: c.views}
		require.Equal(t, c.want, p.AtOdds())
	}
}

// What a node wrote of its leadership and what it answered are of one term; of which of several a poll may have missed.
func TestNodesWhoseLogsNumberTermsOtherwise(t *testing.T) {
	leads := func(term uint64, told bool) ProbeView {
		return ProbeView{Node: "n2", Told: told, View: history.View{Role: history.Leader, Term: term, Leader: "n2"}}
	}
	torn := leads(1, true)
	torn.View.Torn = true
	for _, c := range []struct {
		views []ProbeView
		want  string
	}{
		{[]ProbeView{leads(1, true), leads(2, false)}, "n2 wrote that it leads in term 1, and answered that it leads in term 2: do its lines number terms as its answers do, and does a line tell of each?"},
		{[]ProbeView{leads(2, false), leads(1, true)}, "n2 wrote that it leads in term 1, and answered that it leads in term 2: do its lines number terms as its answers do, and does a line tell of each?"},
		{[]ProbeView{leads(1, true), leads(2, true), leads(2, false)}, ""},
		{[]ProbeView{leads(2, true), leads(2, false), leads(3, false)}, ""},
		{[]ProbeView{leads(1, true)}, ""},
		{[]ProbeView{leads(2, false)}, ""},
		{[]ProbeView{leads(0, true), leads(2, false)}, ""},
		{[]ProbeView{torn, leads(2, false)}, ""},
		{[]ProbeView{{Node: "n1", View: leads(1, true).View, Told: true}, leads(2, false)}, ""},
	} {
		p := &Probe{Nodes: []string{"n1", "n2"}, Views: c.views}
		require.Equal(t, c.want, p.TwoCounts())
	}
}

// A process of several elections writes lines of each, and what is asked tells of one.
func TestNodesWhoseLogsTellOfOtherElections(t *testing.T) {
	view := func(role history.Role, term uint64, told bool) ProbeView {
		return ProbeView{Node: "n2", Told: told, View: history.View{Role: role, Term: term}}
	}
	const leader, candidate, follower = history.Leader, history.Candidate, history.Follower
	answers := "n2 wrote that it leads in term 2, and answered in it that it does not, and never that it does: do its lines tell of other elections, too, as of shards? A pattern is to match those of one alone"
	for _, c := range []struct {
		views []ProbeView
		want  string
	}{
		{[]ProbeView{view(leader, 2, true), view(follower, 2, false)}, answers},
		{[]ProbeView{view(leader, 2, true), view(follower, 1, false), view(follower, 2, false)}, answers},
		{[]ProbeView{view(leader, 2, true), view(follower, 1, false), view(candidate, 2, true)},
			"n2 wrote that it leads in term 2, and then that it is a candidate in it: do its lines tell of other elections, too, as of shards? A pattern is to match those of one alone"},
		{[]ProbeView{view(leader, 2, true), view(follower, 2, false), view(leader, 2, false)}, ""}, // an answer that was under way
		{[]ProbeView{view(leader, 2, true), view(leader, 2, false), view(follower, 2, false)}, ""}, // it has stepped down
		{[]ProbeView{view(candidate, 2, true), view(leader, 2, true), view(follower, 2, true), view(candidate, 3, true)}, ""},
		{[]ProbeView{view(follower, 2, false), view(leader, 2, true)}, ""},
		{[]ProbeView{view(leader, 0, true), view(follower, 0, false)}, ""},
		{[]ProbeView{{Node: "n1", View: view(leader, 2, true).View, Told: true}, view(follower, 2, false)}, ""},
	} {
		p := &Probe{Nodes: []string{"n1", "n2"}, Views: c.views}
		require.Equal(t, c.want, p.Mixed())
	}
}

// Of each node something is due where one tells that it follows; lines that tell of leaders alone come of no other.
func TestNodesOfWhichNothingIsSeen(t *testing.T) {
	tells := func(node string, role history.Role) ProbeView {
		return ProbeView{Node: node, View: history.View{Role: role, Term: 1}, Told: true}
	}
	for _, c := range []struct {
		views []ProbeView
		want  []string
		due   bool
	}{
		{[]ProbeView{tells("n1", history.Follower), tells("n1", history.Candidate), tells("n1", history.Leader)}, []string{"n2", "n3"}, true},
		{[]ProbeView{tells("n1", history.Leader), tells("n1", history.Follower)}, []string{"n2", "n3"}, false},
		{[]ProbeView{tells("n1", history.Candidate), tells("n1", history.Follower), tells("n2", history.Leader)}, []string{"n3"}, false},
		{[]ProbeView{tells("n1", history.Follower), tells("n2", history.Leader), tells("n3", history.Follower)}, nil, true},
	} {
		p := &Probe{Nodes: []string{"n1", "n2", "n3", "s1"}, servers: []string{"s1"}, Views: c.views}
		silent, due := p.Silent()
		require.Equal(t, c.want, silent)
		require.Equal(t, c.due, due)
	}
}

// Who never names the leader beside it has not joined, and is waited for.
func TestNodesThatNeverNameTheLeader(t *testing.T) {
	try := func(oldnew ...string) *Probe {
		p, err := Try(t.Context(), record.Plan{Target: raceWith(t, oldnew...), On: record.OnVirtual, Nodes: 3}, Config{Results: t.TempDir()})
		require.NoError(t, err)
		require.True(t, p.Led)
		return p
	}
	require.Empty(t, try().Strangers())
	p := try(neverJoins...)
	require.Equal(t, []string{"n2", "n3"}, p.Strangers())
	require.Greater(t, p.Watched, 15*time.Second, "an election may take so long")
	p.Names = false
	require.Empty(t, p.Strangers(), "nobody names another there")
	p.Names, p.servers = true, []string{"n3"}
	require.Equal(t, []string{"n2"}, p.Strangers())
}

func TestNodesThatNeverAnswer(t *testing.T) {
	u := countUnread(&answers{}, history.Bounds{Poll: 50 * time.Millisecond}, true)
	u.Observe("n3", func(_ history.View, err error) { require.Error(t, err) })
	require.Equal(t, "Never answered: n3. The last time of n3: no connection.", u.words())
	u.came["n3"] = true
	require.Empty(t, u.words(), "it did once")
}

// What is tried in virtual time is seen as in containers, by the servers' own clocks, and the same each time.
func TestNodesAreTriedInVirtualTime(t *testing.T) {
	try := func() *Probe {
		p, err := Try(context.Background(), record.Plan{Target: "../examples/race/election.yaml", On: record.OnVirtual, Nodes: 3}, Config{Results: t.TempDir()})
		require.NoError(t, err)
		return p
	}
	p := try()
	require.True(t, p.Led)
	require.Zero(t, p.Failed)
	require.Positive(t, p.Told)
	require.NotEmpty(t, p.Answer)
	whole, err := filepath.Glob(p.Answers)
	require.NoError(t, err)
	require.Len(t, whole, 3, "what each answered last is kept, since its beginning alone is shown")
	for _, file := range whole {
		answer, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, json.Valid(answer), "%s", answer)
	}
	require.NotEmpty(t, slices.Concat(p.Log...))
	require.Equal(t, "race, built for virtual time", p.Image)
	require.Equal(t, p.Views, try().Views)
	counted := 0
	for node, words := range p.Roles {
		require.Contains(t, p.Nodes, node)
		for _, n := range words {
			counted += n
		}
	}
	require.Equal(t, p.Asked, counted-len(p.Nodes), "each answer told a role, and that which was waited for")
}

// Who ends while he is looked at has said why.
func TestANodeThatEndsWhileItIsTried(t *testing.T) {
	plan := sealed()
	plan.Time, plan.Options = 0, map[string]string{"lasts": "1s"}
	_, err := Try(t.Context(), plan, Config{Results: t.TempDir()})
	require.ErrorContains(t, err, "ended by itself with exit status 1; it wrote")
	require.ErrorContains(t, err, "FATAL: it is worn out")
}

// raceWith is the file of examples/race, elsewhere and with words of it replaced.
func raceWith(t *testing.T, oldnew ...string) (file string) {
	text, err := os.ReadFile("../examples/race/election.yaml")
	require.NoError(t, err)
	folder, err := filepath.Abs("../examples/race")
	require.NoError(t, err)
	for i := 0; i < len(oldnew); i += 2 {
		require.Contains(t, string(text), oldnew[i])
	}
	file = filepath.Join(t.TempDir(), "mine.yaml")
	changed := strings.NewReplacer(append(oldnew, "package: .", "package: "+folder)...).Replace(string(text))
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o644))
	return file
}

// neverJoins has n1 lead alone, of which n2 and n3 never hear.
var neverJoins = []string{`--peers={{others "," "http://{addr}:{http}"}}`, "--peers=", `--timeout={{param "timeout"}}`, `--timeout={{if eq .ID 1}}500ms{{else}}10m{{end}}`}

// What answers and is not understood is described wrongly: nothing failed.
func TestWhatIsNotUnderstoodIsAMistakeOfTheFile(t *testing.T) {
	for _, c := range []struct{ right, wrong, want, hint string }{
		{"http: /status", "http: /nope", "404 Not Found, not 200; the answer is `404 page not found`", "its server has no such path"},
		{"at: role,", "at: roles,", "the answer has no roles; the answer is `{", `did you mean "role"?`},
		{"at: role,", "at: position,", "the answer has no position; the answer is `{", "observe says where"},
	} {
		file := raceWith(t, c.right, c.wrong)
		_, err := Try(context.Background(), record.Plan{Target: file, On: record.OnVirtual, Nodes: 1}, Config{Results: t.TempDir()})
		require.ErrorContains(t, err, c.want)
		require.Contains(t, hint.Of(err), c.hint)
		require.True(t, IsUsage(err))
	}
}

func TestWhatCannotBeTriedInVirtualTime(t *testing.T) {
	_, err := Try(context.Background(), record.Plan{Target: described(t, t.TempDir()+"/server.yaml", definition).DescribedBy, On: record.OnVirtual, Nodes: 1}, Config{Results: t.TempDir()})
	require.ErrorContains(t, err, "does not run in virtual time")
	require.NotEmpty(t, hint.Of(err))
}

// slowly answers each question after so long, if it is not called off before.
type slowly struct {
	answers
	took map[string]time.Duration
	view history.View
}

func (s *slowly) Observe(node string, done func(history.View, error)) {
	before := s.now
	s.now += s.took[node]
	if s.took[node] <= answerWithin {
		done(s.view, nil)
	}
	s.now = before
}

func TestNodesThatAnswerTooLate(t *testing.T) {
	b := history.Bounds{Silence: time.Second, Poll: 50 * time.Millisecond}
	words := func(b history.Bounds, described bool, took map[string]time.Duration) string {
		s := &slowly{took: took}
		u := countUnread(s, b, described)
		for range 3 {
			for _, node := range sortedKeys(took) {
				u.Observe(node, func(history.View, error) {})
			}
			s.now += 6 * time.Second
		}
		return u.words()
	}
	require.Empty(t, words(b, true, map[string]time.Duration{"n1": 500 * time.Millisecond}))
	require.Equal(t, "Answers that came too late to count, after more than 500ms: 3 of n2, 3 of n3. The quickest took 3s: times: {poll: 400ms} waits for 4s.",
		words(b, true, map[string]time.Duration{"n1": time.Millisecond, "n2": 3 * time.Second, "n3": 4 * time.Second}))
	require.Equal(t, "Answers that came too late to count, after more than 500ms: 3 of n1. The quickest took 3s: ask for the status where it is answered sooner.",
		words(b, false, map[string]time.Duration{"n1": 3 * time.Second}))
	require.Equal(t, "No answer within 10s: n1. Observers wait for 500ms: poll in times can be no longer than silence, 1s, which waits for 10s: "+
		"ask for the status where it is answered sooner.", words(b, true, map[string]time.Duration{"n1": 11 * time.Second}))
}

// Who stood still for a while answers then what it was asked, and is no slow server.
func TestANodeThatStoodStillIsNotSlow(t *testing.T) {
	s := &slowly{took: map[string]time.Duration{"n1": 3 * time.Second}}
	u := countUnread(s, history.Bounds{Silence: time.Second, Poll: 50 * time.Millisecond}, true)
	ask := func() { u.Observe("n1", func(history.View, error) {}) }
	ask()
	s.took["n1"] = time.Millisecond
	ask()
	require.Empty(t, u.words())
}

// A leader whose status takes long is named, however quick it was as a follower; one that stood still is not, whatever it owes.
func TestALeaderThatAnswersTooLate(t *testing.T) {
	b := history.Bounds{Silence: time.Second, Poll: 50 * time.Millisecond}
	s := &slowly{took: map[string]time.Duration{}}
	u := countUnread(s, b, true)
	ask := func(times int, every, took time.Duration, role history.Role) {
		s.took["n1"], s.view.Role = took, role
		for range times {
			u.Observe("n1", func(history.View, error) {})
			s.now += every
		}
	}
	ask(40, b.Poll, time.Millisecond, history.Follower)
	ask(2, b.Poll, time.Millisecond, history.Leader)
	for owed := 10 * time.Second; owed > 0; owed -= time.Second { // each is answered when it goes on
		ask(1, time.Second, owed, history.Leader)
	}
	require.Empty(t, u.words())
	ask(4, 500*time.Millisecond, 3*time.Second, history.Leader)
	require.Equal(t, "Answers that came too late to count, after more than 500ms: 5 of n1 while it led. The quickest took 3s: times: {poll: 400ms} waits for 4s.", u.words())
	ask(5, b.Poll, time.Millisecond, history.Leader)
	require.Empty(t, u.words())
}
