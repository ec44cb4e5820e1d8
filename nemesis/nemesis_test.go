package nemesis

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/internal/option"
	_ "recount/internal/testseed" // the same cases each time
	"recount/sim"
)

// scene is a simulated cluster of silent nodes, with a nemesis and views that say n1 leads.
type scene struct {
	*testing.T
	c *sim.Cluster
	r *history.Recorder
	n *Nemesis
	s *Views
}

type silent struct{}

func (silent) Start()                                {}
func (silent) Receive(election.ID, election.Message) {}
func (silent) Expire(election.Timer)                 {}
func (silent) Status() election.Status               { return election.Status{} }

func newScene(t *testing.T, nodes int) *scene {
	c, err := sim.New(sim.Config{Nodes: nodes, Seed: 1, New: func(election.Env) election.Node { return silent{} }})
	require.NoError(t, err)
	r := history.NewRecorder(io.Discard, 1<<20)
	s := NewViews(c.Nodes(), r)
	c.Start()
	sc := &scene{t, c, r, New(c, r, s, rand.New(rand.NewPCG(1, 2))), s}
	sc.run(time.Second)
	sc.sight("n1", history.Leader, 1, "n1")
	return sc
}

func (s *scene) sight(node string, role history.Role, term uint64, leader string) {
	s.r.Append(history.Op{
		Time: s.c.Now(), Type: history.OK, F: history.Announce, Node: node,
		View: history.View{Role: role, Term: term, Leader: leader},
	})
}

func (s *scene) run(d time.Duration) { require.NoError(s, s.c.Run(context.Background(), s.c.Now()+d)) }

func (s *scene) heal() {
	healed := 0
	s.n.Heal(func() { healed++ })
	s.run(time.Millisecond)
	require.Equal(s, 1, healed)
}

// actions is what the nemesis recorded, without the invokes.
func (s *scene) actions() (lines []string) {
	h, err := s.r.History()
	require.NoError(s, err)
	for _, op := range h.Ops {
		if op.Process == history.Nemesis && op.Type != history.Invoke {
			lines = append(lines, fmt.Sprintf("%v %v %s %s %s", op.Time-time.Second, op.Type, op.F, op.Fault.Name, strings.Join(op.Fault.Nodes, ",")))
		}
	}
	return lines
}

func cut(pairs ...string) (links []history.Link) {
	for _, p := range pairs {
		from, to, _ := strings.Cut(p, ">")
		links = append(links, history.Link{From: from, To: to, LinkState: history.LinkState{Cut: true}})
	}
	return links
}

func TestAScheduleFiresAndHeals(t *testing.T) {
	s := newScene(t, 3)
	s.n.Start(Schedule{
		{At: time.Second, Fault: "cut-link", Nodes: []string{"leader", "n3"}, For: 2 * time.Second},
		{At: 2 * time.Second, Fault: "pause", Nodes: []string{"n2"}, For: 2 * time.Second},
	})
	s.run(2500 * time.Millisecond)
	want := history.Changes{Links: cut("n1>n3", "n3>n1"), Procs: []history.Proc{{Node: "n2", State: history.Paused}}}
	require.Equal(t, want, s.c.State())
	require.Equal(t, want, s.n.Holds())
	s.run(2 * time.Second)
	require.True(t, s.c.State().Empty())
	require.Equal(t, []string{
		"1s ok inject cut-link n1,n3", "2s ok inject pause n2", "3s ok heal cut-link n1,n3", "4s ok heal pause n2",
	}, s.actions())
}

func TestFaultsThatOverlapHealApart(t *testing.T) {
	s := newScene(t, 3)
	s.n.Start(Schedule{
		{At: 0, Fault: "cut-link", Nodes: []string{"n1", "n2"}, For: 3 * time.Second},
		{At: time.Second, Fault: "isolate", Nodes: []string{"n1"}, For: time.Second},
	})
	s.run(1500 * time.Millisecond)
	require.Equal(t, cut("n1>n2", "n1>n3", "n2>n1", "n3>n1"), s.c.State().Links)
	s.run(time.Second)
	require.Equal(t, cut("n1>n2", "n2>n1"), s.c.State().Links, "what cut-link wants is still so")
	s.run(time.Second)
	require.True(t, s.c.State().Empty())
}

func TestAFlappingLinkMovesUntilItIsHealed(t *testing.T) {
	s := newScene(t, 3)
	s.n.Start(Schedule{{Fault: "flap-link", Nodes: []string{"n1", "n2"}, With: map[string]string{"down": "2s", "up": "1s"}, For: 7 * time.Second}})
	var seen strings.Builder
	for range 9 {
		s.run(500 * time.Millisecond)
		seen.WriteString(map[bool]string{true: "u", false: "d"}[s.c.State().Empty()])
		s.run(500 * time.Millisecond)
	}
	require.Equal(t, "ddudduduu", seen.String())
	require.Equal(t, []string{
		"0s ok inject flap-link n1,n2", "2s ok change flap-link n1,n2", "3s ok change flap-link n1,n2",
		"5s ok change flap-link n1,n2", "6s ok change flap-link n1,n2", "7s ok heal flap-link n1,n2",
	}, s.actions())
}

func TestHealEndsEverythingAndFiresNothingMore(t *testing.T) {
	s := newScene(t, 4)
	s.n.Start(Schedule{
		{Fault: "flap-link"}, {Fault: "kill", Nodes: []string{"n4"}}, {At: time.Hour, Fault: "isolate"},
	})
	s.sight("n2", history.Follower, 1, "n1")
	s.run(time.Second)
	require.False(t, s.c.State().Empty())
	s.heal()
	require.True(t, s.c.State().Empty())
	require.True(t, s.n.Holds().Empty())
	ops := s.r.Len()
	s.run(2 * time.Hour)
	require.Equal(t, ops, s.r.Len())
}

func TestAStepWaitsForItsLeaderThenGivesUp(t *testing.T) {
	s := newScene(t, 3)
	s.sight("n1", history.Follower, 2, "")
	s.n.Start(Schedule{{Fault: "pause", Nodes: []string{"leader"}, For: time.Second}})
	s.run(time.Second)
	s.sight("n3", history.Leader, 2, "n3")
	s.run(2 * time.Second)
	s.sight("n3", history.Follower, 3, "")
	s.n.Start(Schedule{{Fault: "kill", Nodes: []string{"leader"}, For: time.Second}})
	s.run(10 * time.Second)
	require.Equal(t, []string{"1.02s ok inject pause n3", "2.02s ok heal pause n3", "8s fail inject kill "}, s.actions())
	h, err := s.r.History()
	require.NoError(t, err)
	require.Equal(t, `no node to be "leader"; last seen: n1→nobody (term 2), n2 not seen, n3→nobody (term 3)`, h.Ops[len(h.Ops)-1].Error)
}

func TestAStepThatFindsNoLeaderNamesTheOneThatAFaultHolds(t *testing.T) {
	s := newScene(t, 3)
	s.sight("n1", history.Leader, 2, "n1")
	s.n.Start(Schedule{
		{Fault: "kill", Nodes: []string{"leader"}, For: 20 * time.Second},
		{Fault: "pause", At: time.Second, Nodes: []string{"leader"}, For: time.Second},
	})
	s.run(15 * time.Second)
	h, err := s.r.History()
	require.NoError(t, err)
	require.Equal(t, `no node to be "leader"; last seen: n1 leads in term 2, n2 not seen, n3 not seen; held by a fault: n1 down`, h.Ops[len(h.Ops)-1].Error)
}

// stubborn is a cluster whose changes do not take effect, or that cannot make them.
type stubborn struct {
	Cluster
	effect history.Effect
	cannot error
}

func (s stubborn) Can(history.Changes) error { return s.cannot }
func (s stubborn) Apply(_ history.Changes, done func(history.Effect)) {
	done(s.effect)
}

func TestAFaultThatDoesNotTakeEffectIsRecordedSo(t *testing.T) {
	for _, want := range []string{"fail", "info", "cannot"} {
		s := newScene(t, 3)
		b := stubborn{Cluster: s.c, effect: history.Effect{Seen: history.Fail, Err: fmt.Errorf("still up")}}
		switch want {
		case "info":
			b.effect = history.Effect{Seen: history.Info, Err: fmt.Errorf("no answer")}
		case "cannot":
			b.cannot, want = fmt.Errorf("cannot pause"), "fail"
		}
		s.n = New(b, s.r, s.s, rand.New(rand.NewPCG(1, 2)))
		s.n.Start(Schedule{{Fault: "pause"}})
		s.run(time.Second)
		require.Equal(t, []string{"0s " + want + " inject pause n1"}, s.actions()[:1])
		h, err := s.r.History()
		require.NoError(t, err)
		require.NotEmpty(t, h.Ops[len(h.Ops)-1].Error)
	}
}

func TestWhatCameTrueInPartIsRecordedAndNotRepeated(t *testing.T) {
	s := newScene(t, 3)
	came := history.Changes{Procs: []history.Proc{{Node: "n1", State: history.Paused}}}
	b := stubborn{Cluster: s.c, effect: history.Effect{Seen: history.Info, Err: fmt.Errorf("n2 is down"), Found: came}}
	s.n = New(b, s.r, s.s, rand.New(rand.NewPCG(1, 2)))
	s.n.Start(Schedule{{Fault: "pause", Nodes: []string{"n1,n2"}}})
	s.run(time.Second)
	require.Equal(t, []string{"0s info inject pause n1,n2", "0s ok change pause n1,n2"}, s.actions())
	h, err := s.r.History()
	require.NoError(t, err)
	last := h.Ops[len(h.Ops)-1].Fault
	require.True(t, last.Found)
	require.Equal(t, came, last.Changes)
	h.Ops[0].F = history.Settle
	actions, err := ActionsOf(h)
	require.NoError(t, err)
	require.Len(t, actions, 1, "nothing was done by what was found")
	require.Len(t, actions[0].Fault.Procs, 2)
}

// A fault that repeats without taking time would keep a simulation at one instant for ever.
func TestWhatRepeatsTakesTime(t *testing.T) {
	for name, options := range map[string][]string{
		"flap-link": {"down", "up"}, "flap-node": {"down", "up"}, "clock-strobe": {"every"}, "restart-storm": {"every"}, "unstable-top": {"down"},
	} {
		for _, o := range options {
			err := Schedule{{Fault: name, With: map[string]string{o: "10us"}}}.Check([]string{"n1", "n2", "n3"})
			require.EqualError(t, err, fmt.Sprintf(`step 1: %s: option %s: "10us" is not a duration of 1ms or more such as 150ms`, name, o))
		}
		f, err := Find(name)
		require.NoError(t, err)
		_, err = option.Parse(name, f.Options, f.Draw(time.Millisecond, rand.New(rand.NewPCG(1, 2))))
		require.NoError(t, err)
	}
}

func TestTheOldLeaderIsTheDeposedOneThoughItStandsStill(t *testing.T) {
	for _, term := range []uint64{0, 1} { // numbered or not
		r := history.NewRecorder(io.Discard, 0)
		s := NewViews([]string{"n1", "n2", "n3"}, r)
		claim := func(node string, term uint64) {
			r.Append(history.Op{Type: history.OK, F: history.Announce, Node: node, View: history.View{Role: history.Leader, Term: term, Leader: node}})
		}
		claim("n1", term)
		claim("n2", 2*term)
		paused := history.Merge(procs([]string{"n1"}, history.Paused))
		for range 3 {
			aims, err := s.resolve([]string{"old-leader"}, "", paused, rand.New(rand.NewPCG(1, 2)))
			require.NoError(t, err)
			require.Equal(t, [][]string{{"n1"}}, aims)
			claim("n1", term) // it goes on, and has not noticed
			claim("n2", 2*term)
		}
	}
}

func TestWordsPickDistinctNodes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		nodes := []string{"n1", "n2", "n3", "n4", "n5"}
		r := history.NewRecorder(io.Discard, 0)
		s := NewViews(nodes, r)
		for term := range uint64(rapid.IntRange(1, 4).Draw(rt, "terms")) {
			who := rapid.SampledFrom(nodes).Draw(rt, "leader")
			r.Append(history.Op{Type: history.OK, F: history.Announce, Node: who, View: history.View{Role: history.Leader, Term: term + 1, Leader: who}})
		}
		var asked []string
		for range rapid.IntRange(1, 3).Draw(rt, "words") {
			asked = append(asked, rapid.SampledFrom([]string{"leader", "old-leader", "follower", "one", "minority", "majority", "others"}).Draw(rt, "word"))
		}
		down := history.Merge(procs([]string{"n5"}, history.Down))
		aims, err := s.resolve(asked, "", down, rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)))
		if err != nil {
			return // nobody left to be it
		}
		seen := map[string]bool{}
		for i, aim := range aims {
			require.NotEmpty(rt, aim)
			if asked[i] == "leader" {
				require.Equal(rt, []string{s.Leader()}, aim)
			}
			if asked[i] == "follower" {
				require.NotContains(rt, aim, s.Leader())
			}
			for _, n := range aim {
				require.False(rt, seen[n], "%v: %s twice", asked, n)
				require.True(rt, n != "n5" || asked[i] == "old-leader", "n5 is down")
				seen[n] = true
			}
		}
	})
}

// Others beside nobody would be all of them, which is not what anybody means by the word.
func TestOthersAreBesideSomebody(t *testing.T) {
	nodes := []string{"n1", "n2", "n3"}
	for _, tt := range []struct {
		fault string
		words Named
		good  bool
	}{
		{"kill", Named{"others"}, false},
		{"pause", Named{"others/agent"}, false},
		{"partition", Named{"others"}, false}, // on both sides
		{"partition", Named{"n1", "others"}, true},
		{"cut-link", Named{"others"}, true}, // than the follower at its other end
		{"kill-all", nil, true},
	} {
		err := Schedule{{Fault: tt.fault, Nodes: tt.words, Place: "mine.yaml: line 7"}}.Check(nodes)
		if tt.good {
			require.NoError(t, err, "%s %v", tt.fault, tt.words)
			continue
		}
		require.EqualError(t, err, "mine.yaml: line 7: step 1: "+tt.fault+": others than whom?")
	}
}

// Wherever "others" stands, it is what the other words leave.
func TestOthersAreWhatIsLeft(t *testing.T) {
	nodes := []string{"n1", "n2", "n3"}
	r := history.NewRecorder(io.Discard, 0)
	s := NewViews(nodes, r)
	r.Append(history.Op{Type: history.OK, F: history.Announce, Node: "n2", View: history.View{Role: history.Leader, Term: 1, Leader: "n2"}})
	for _, c := range []struct {
		asked []string
		want  [][]string
	}{
		{[]string{"leader", "others"}, [][]string{{"n2"}, {"n1", "n3"}}},
		{[]string{"others", "leader"}, [][]string{{"n1", "n3"}, {"n2"}}},
		{[]string{"all", "others", "n3"}, [][]string{nodes, {"n1", "n2"}, {"n3"}}},
	} {
		got, err := s.resolve(c.asked, "", nil, rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.asked)
	}
}

func TestSchedulesAreChecked(t *testing.T) {
	nodes := []string{"n1", "n2", "n3"}
	for want, step := range map[string]Step{
		`unknown fault "partion"`:          {Fault: "partion"},
		"times count forward":              {},
		`unknown node "n4"`:                {Fault: "kill", Nodes: []string{"n4"}},
		"2 nodes: want 1":                  {Fault: "kill", Nodes: []string{"n1", "n2"}},
		`unknown option "upp"`:             {Fault: "flap-link", With: map[string]string{"upp": "1s"}},
		"is not a duration of 1ms or more": {Fault: "flap-link", With: map[string]string{"up": "1"}},
	} {
		if step.Fault == "" {
			step, want = Step{Fault: "kill", At: -1}, "at -1ns"
		}
		require.ErrorContains(t, Schedule{step}.Check(nodes), want)
	}
	both := Schedule{{Fault: "kill", Nodes: []string{"n1", "n2"}}}
	require.Contains(t, hint.Of(both.Check(nodes)), "a step for each of several")
}

func TestFaultsOfDisksAreOfWhoHasOne(t *testing.T) {
	pace := Pace{Within: time.Minute, Gap: time.Second, Hold: time.Second, Diskless: true}
	s, err := Generate([]string{"disk-full", "crash", "kill"}, pace, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	aimed := map[string]map[string]bool{"disk-full": {}, "crash": {}, "kill": {}}
	for _, st := range s {
		aimed[st.Fault][st.Nodes[0]] = true
	}
	require.Equal(t, map[string]bool{"server": true}, aimed["disk-full"])
	require.Equal(t, map[string]bool{"server": true}, aimed["crash"])
	require.Contains(t, aimed["kill"], "leader")
}

func TestGeneratedSchedulesAreSoundAndSeeded(t *testing.T) {
	var all []string
	for _, f := range All() {
		all = append(all, f.Name)
	}
	pace := Pace{Within: time.Minute, Gap: 2 * time.Second, Hold: time.Second, Own: []string{"stuck"}}
	draw := func(seed uint64) Schedule {
		s, err := Generate(all, pace, rand.New(rand.NewPCG(seed, 0)))
		require.NoError(t, err)
		return s
	}
	for seed := range uint64(50) {
		s := draw(seed)
		require.NoError(t, s.Check([]string{"n1", "n2", "n3"}))
		require.Greater(t, len(s), 10)
		require.LessOrEqual(t, s.End(), pace.Within)
		require.Equal(t, s, draw(seed))
	}
	require.NotEqual(t, draw(1), draw(2))

	// Nothing waits for what nodes never tell.
	waits := func() map[Cue]bool {
		seen := map[Cue]bool{}
		for seed := range uint64(50) {
			for _, st := range draw(seed) {
				seen[st.After] = true
			}
		}
		return seen
	}
	require.Equal(t, map[Cue]bool{"": true, Elected: true, LeaderChanged: true, Voted: true}, waits())
	pace.Mute = true
	require.Equal(t, map[Cue]bool{"": true, Elected: true, LeaderChanged: true}, waits())
}

// Where a schedule has room for few faults, all of them might wait for what only a fault brings about.
func TestNotAllOfWhatIsGeneratedWaits(t *testing.T) {
	pace, waiting := Pace{Within: 10 * time.Second, Gap: 4 * time.Second, Hold: 2 * time.Second, Silence: time.Second}, 0
	for seed := range uint64(200) {
		s, err := Generate([]string{"kill", "isolate"}, pace, rand.New(rand.NewPCG(seed, 0)))
		require.NoError(t, err)
		idle := len(s) > 0
		for _, st := range s {
			if idle = idle && st.After != ""; st.After != "" {
				waiting++
			}
		}
		require.False(t, idle, "seed %d", seed)
	}
	require.NotZero(t, waiting)
}

// Where all goes quickly, what is drawn is still an option's value, and what goes to and fro takes a moment each way.
func TestWhatIsDrawnForQuickElectionsIsSound(t *testing.T) {
	for _, f := range All() {
		for seed := uint64(0); f.Draw != nil && seed < 20; seed++ {
			with := f.Draw(time.Millisecond, rand.New(rand.NewPCG(seed, 0)))
			values, err := option.Parse(f.Name, f.Options, with)
			require.NoError(t, err)
			for fault, names := range map[string][]string{
				"flap-link": {"down", "up"}, "flap-node": {"down", "up"}, "clock-strobe": {"every"}, "restart-storm": {"every"},
			} {
				for _, name := range names {
					require.True(t, f.Name != fault || values.Duration(name) >= time.Millisecond, "%s: %s %s", fault, name, with[name])
				}
			}
		}
	}
}

// Where nobody names a leader but itself, nobody can be waited for to agree.
func TestNamelessNodesAgreeOnceOneLeads(t *testing.T) {
	s := NewViews([]string{"n1", "n2", "n3"}, history.NewRecorder(io.Discard, 0))
	say := func(node string, v history.View) {
		s.see(&history.Op{Type: history.OK, F: history.Announce, Node: node, View: v})
	}
	agreed := func() [2]bool { return [2]bool{s.Agreed(), s.AllAgree()} }
	s.NoLeaderNames = true
	require.Equal(t, [2]bool{}, agreed())
	say("n1", history.View{Role: history.Candidate})
	require.Equal(t, [2]bool{}, agreed())
	say("n2", history.View{Role: history.Leader, Leader: "n2"})
	require.Equal(t, [2]bool{true, true}, agreed(), "n3 has said nothing, and need not")
	require.Equal(t, "n1→nobody, n2 leads, n3 not seen", s.String())
	say("n3", history.View{Role: history.Leader, Leader: "n3"})
	require.Equal(t, [2]bool{true, false}, agreed(), "two lead")
	s.NoLeaderNames = false
	require.Equal(t, [2]bool{}, agreed())
}

// Who tells a term only while it leads agrees without one: a run that waited for more would wait in vain.
func TestFollowersThatTellNoTermAgree(t *testing.T) {
	s := NewViews([]string{"n1", "n2", "n3"}, history.NewRecorder(io.Discard, 0))
	say := func(node string, v history.View) {
		s.see(&history.Op{Type: history.OK, F: history.Announce, Node: node, View: v})
	}
	agreed := func() [2]bool { return [2]bool{s.Agreed(), s.AllAgree()} }
	say("n1", history.View{Role: history.Leader, Leader: "n1", Term: 4})
	say("n2", history.View{Role: history.Follower, Leader: "n1"})
	say("n3", history.View{Role: history.Follower})
	require.Equal(t, [2]bool{}, agreed(), "term 0 is another one, where followers have terms")
	s.Tokens = true
	require.Equal(t, [2]bool{true, false}, agreed(), "n3 names nobody")
	say("n3", history.View{Role: history.Follower, Leader: "n1", Term: 3})
	require.Equal(t, [2]bool{true, false}, agreed(), "n3 tells a term, and it is an older one")
	say("n3", history.View{Role: history.Follower, Leader: "n1"})
	require.Equal(t, [2]bool{true, true}, agreed())
}

// An answer that was put together from several reads accuses nobody, and still tells whom to aim at and whom to wait for.
func TestTornAnswersTellWhoLeads(t *testing.T) {
	s := NewViews([]string{"n1", "n2", "n3"}, history.NewRecorder(io.Discard, 0))
	say := func(node, leader string, term uint64) {
		v := history.View{Role: history.Follower, Term: term, Leader: leader, Torn: true}
		if leader == node {
			v.Role = history.Leader
		}
		s.see(&history.Op{Type: history.OK, F: history.Observe, Node: node, View: v})
	}
	say("n1", "n1", 4)
	require.Equal(t, "n1", s.Leader())
	require.False(t, s.Agreed())
	say("n2", "n1", 4)
	say("n3", "n1", 4)
	require.True(t, s.AllAgree())
	say("n2", "n2", 5)
	aims, err := s.resolve([]string{"leader", "old-leader"}, "", nil, rand.New(rand.NewPCG(1, 2)))
	require.NoError(t, err)
	require.Equal(t, [][]string{{"n2"}, {"n1"}}, aims)
}

// Nodes that never heard of the one leader are strangers to it, where they are too many for a majority to have known it.
func TestNodesThatNeverHeardOfTheLeaderAreStrangers(t *testing.T) {
	s := NewViews([]string{"n1", "n2", "n3", "n4"}, history.NewRecorder(io.Discard, 0))
	say := func(f history.F, node, leader string) {
		v := history.View{Role: history.Follower, Leader: leader}
		if leader == node {
			v.Role = history.Leader
		}
		s.see(&history.Op{Type: history.OK, F: f, Node: node, View: v})
	}
	for _, n := range []string{"n2", "n3", "n4"} {
		say(history.Observe, n, "")
	}
	require.Empty(t, s.Strangers(), "nobody leads")
	say(history.Observe, "n1", "n1")
	require.Equal(t, []string{"n2", "n3", "n4"}, s.Strangers())
	say(history.Observe, "n2", "n1")
	say(history.Observe, "n2", "")
	require.Equal(t, []string{"n3", "n4"}, s.Strangers(), "n2 has known it")
	s.NoLeaderNames = true
	require.Empty(t, s.Strangers(), "they have no names for it")
	s.NoLeaderNames = false
	say(history.Observe, "n3", "n1")
	require.Empty(t, s.Strangers(), "a majority has known it")

	s = NewViews([]string{"n1", "n2", "n3"}, history.NewRecorder(io.Discard, 0))
	say(history.Observe, "n1", "n1")
	say(history.Announce, "n2", "")
	require.Empty(t, s.Strangers(), "who was not asked may know")
	say(history.Observe, "n2", "")
	say(history.Observe, "n3", "")
	require.Equal(t, []string{"n2", "n3"}, s.Strangers())
	say(history.Observe, "n3", "n3")
	say(history.Observe, "n3", "")
	require.Empty(t, s.Strangers(), "two have led: that is to be judged")
}

// needsDisks tells whether such states take disks that can fail, or lose what was not synced.
func needsDisks(c history.Changes) bool {
	return len(c.Disks) > 0 || slices.ContainsFunc(c.Traps(), func(t history.Trap) bool { return t.Do == history.Finish }) || slices.ContainsFunc(c.Procs, func(p history.Proc) bool { return p.State == history.Crashed })
}

// TestEveryFault walks the registry: each fault takes effect, leaves its mark in the history, and heals without a trace.
func TestEveryFault(t *testing.T) {
	for _, f := range All() {
		t.Run(f.Name, func(t *testing.T) {
			require.NotEmpty(t, f.About)
			for _, o := range f.Options {
				require.NotEmpty(t, o.About)
			}
			if f.Name == "cut-clients" || f.Asks || f.Members || f.Own {
				t.Skip("the clients are the harness, and its tests have them ask, and cut them off")
			}
			if f.Name == "squeeze-memory" {
				t.Skip("it takes containers, where the contract is tested")
			}
			s := newScene(t, 5)
			s.n.Start(Schedule{{Fault: f.Name, For: 10 * time.Second}})
			s.run(time.Millisecond)
			require.False(t, s.c.State().Empty())
			require.Equal(t, s.n.Holds(), s.c.State())
			require.Equal(t, f.Clocks, len(s.c.State().Clocks) > 0, "it says whether it concerns clocks")
			require.Equal(t, f.Disks, needsDisks(s.c.State()), "it says whether it needs disks that can fail")
			s.run(11 * time.Second)
			require.True(t, s.c.State().Empty())
			s.heal()
			actions := strings.Join(s.actions(), "\n")
			require.Contains(t, actions, "0s ok inject "+f.Name)
			require.Contains(t, actions, "10s ok heal "+f.Name)
		})
	}
}

func TestASplitInHalves(t *testing.T) {
	for nodes := 2; nodes <= 7; nodes++ {
		s := newScene(t, nodes)
		s.n.Start(Schedule{{Fault: "halves"}})
		s.run(time.Millisecond)
		small := nodes / 2
		require.Len(t, s.c.State().Links, 2*small*(nodes-small))
		var from bytes.Buffer
		for _, l := range s.c.State().Links {
			from.WriteString(l.From + " ")
		}
		require.Equal(t, nodes-small, strings.Count(from.String(), "n1 "), "the leader is in the smaller half")
	}
}
