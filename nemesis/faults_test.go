package nemesis

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/option"
)

// begin starts a fault on a scene of so many nodes, of which n1 leads.
func begin(t *testing.T, nodes int, st Step) *scene {
	s := newScene(t, nodes)
	require.NoError(t, Schedule{st}.Check(s.c.Nodes()))
	s.n.Start(Schedule{st})
	s.run(time.Millisecond)
	return s
}

// hears is who hears whom: "n2n3" for n1 means that n1 hears n2 and n3.
func (s *scene) hears() map[string]string {
	deaf := map[[2]string]bool{}
	for _, l := range s.c.State().Links {
		deaf[[2]string{l.To, l.From}] = l.Cut
	}
	heard := map[string]string{}
	for _, a := range s.c.Nodes() {
		for _, b := range s.c.Nodes() {
			if a != b && !deaf[[2]string{a, b}] {
				heard[a] += b
			}
		}
	}
	return heard
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		step Step
		want map[string]string
	}{
		{Step{Fault: "majority-minority", Nodes: []string{"n4"}}, map[string]string{"n1": "n2n3", "n2": "n1n3", "n3": "n1n2"}},
		{Step{Fault: "bridge", Nodes: []string{"n2"}}, map[string]string{"n2": "n1n3n4"}},
		{Step{Fault: "send-only", Nodes: []string{"n2"}}, map[string]string{"n1": "n2n3n4", "n3": "n1n2n4", "n4": "n1n2n3"}},
		{Step{Fault: "receive-only", Nodes: []string{"n2"}}, map[string]string{"n1": "n3n4", "n2": "n1n3n4", "n3": "n1n4", "n4": "n1n3"}},
		{Step{Fault: "two-leaf", Nodes: []string{"n1", "n2", "n3"}}, map[string]string{"n1": "n3", "n2": "n3", "n3": "n1n2n4", "n4": "n3"}},
		{Step{Fault: "flap-node", Nodes: []string{"n4"}}, map[string]string{"n1": "n2n3", "n2": "n1n3", "n3": "n1n2"}},
	} {
		got := begin(t, 4, c.step).hears()
		if c.step.Fault == "bridge" { // whoever stands on the shore that is one node wide hears the bridge alone
			require.Equal(t, c.want["n2"], got["n2"])
			require.Len(t, got["n1"]+got["n3"]+got["n4"], len("n2")+len("n2n3")+len("n2n4"))
			continue
		}
		require.Equal(t, c.want, got, c.step.Fault)
	}
}

func TestALineHasTwoEnds(t *testing.T) {
	for nodes := 3; nodes <= 7; nodes++ {
		heard := begin(t, nodes, Step{Fault: "line"}).hears()
		ends := 0
		for _, who := range heard {
			if len(who) == 2 {
				ends++
			} else {
				require.Len(t, who, 4)
			}
		}
		require.Equal(t, 2, ends)
		require.Len(t, heard["n1"], 4, "the leader is in the middle")
	}
}

func TestEachHearsItsOwnMajority(t *testing.T) {
	for nodes := 3; nodes <= 9; nodes++ {
		heard := begin(t, nodes, Step{Fault: "majorities-ring"}).hears()
		var majorities []string
		for n, who := range heard {
			all := append(strings.SplitAfter(strings.ReplaceAll(who, "n", " n"), " ")[1:], n)
			for i := range all {
				all[i] = strings.TrimSpace(all[i])
			}
			require.Len(t, all, nodes/2+1, "%s hears %s", n, who)
			slices.Sort(all)
			majorities = append(majorities, strings.Join(all, ","))
		}
		slices.Sort(majorities)
		require.Len(t, slices.Compact(majorities), nodes)
	}
	s := begin(t, 2, Step{Fault: "majorities-ring"})
	require.True(t, s.c.State().Empty())
	require.Equal(t, []string{"0s fail inject majorities-ring "}, s.actions())
}

func TestALeaderWithAMinority(t *testing.T) {
	for nodes := 3; nodes <= 7; nodes++ {
		require.Len(t, begin(t, nodes, Step{Fault: "leader-with-minority"}).hears()["n1"], 2*((nodes-1)/2-1))
	}
}

func TestLinksTakeTheStateThatWasAskedFor(t *testing.T) {
	for fault, c := range map[string]struct {
		with map[string]string
		want history.LinkState
	}{
		"loss":      {map[string]string{"chance": "12.5%"}, history.LinkState{Loss: 0.125}},
		"delay":     {map[string]string{"delay": "70ms", "jitter": "0s"}, history.LinkState{Delay: 70 * time.Millisecond}},
		"reorder":   {map[string]string{"chance": "50%", "delay": "1s"}, history.LinkState{Reorder: 0.5, Delay: time.Second}},
		"duplicate": {map[string]string{"chance": "100%"}, history.LinkState{Duplicate: 1}},
		"rate":      {map[string]string{"rate": "1.5kbit"}, history.LinkState{Rate: 1500}},
		"reset":     {nil, history.LinkState{Reset: true}},
	} {
		s := begin(t, 3, Step{Fault: fault, With: c.with, Nodes: []string{"n2", "n3"}})
		require.Equal(t, []history.Link{
			{From: "n2", To: "n3", LinkState: c.want}, {From: "n3", To: "n2", LinkState: c.want},
		}, s.c.State().Links)
	}
	s := begin(t, 3, Step{Fault: "loss", With: map[string]string{"way": "there"}})
	require.Len(t, s.c.State().Links, 2)
	require.Equal(t, "n1", s.c.State().Links[1].From)
	s = begin(t, 3, Step{Fault: "loss", With: map[string]string{"way": "back"}})
	require.Equal(t, "n1", s.c.State().Links[1].To)
	require.Len(t, begin(t, 3, Step{Fault: "delay", Nodes: []string{"all", "all"}}).c.State().Links, 6)
}

func TestAFaultOfSomePorts(t *testing.T) {
	s := newScene(t, 3)
	s.n.Start(Schedule{
		{Fault: "cut-link", Nodes: []string{"n1", "n2"}, With: map[string]string{"ports": "2380,7000"}, For: 2 * time.Second},
		{At: time.Second, Fault: "cut-one-way", Nodes: []string{"n1", "n2"}, For: 2 * time.Second},
	})
	port := func(from, to string, p int) history.Link {
		return history.Link{From: from, To: to, Port: p, LinkState: history.LinkState{Cut: true}}
	}
	of := []history.Link{port("n1", "n2", 2380), port("n1", "n2", 7000), port("n2", "n1", 2380), port("n2", "n1", 7000)}
	s.run(time.Millisecond)
	require.Equal(t, of, s.c.State().Links)
	s.run(time.Second)
	require.Equal(t, append([]history.Link{port("n1", "n2", 0)}, of...), s.c.State().Links)
	s.run(time.Second)
	require.Equal(t, cut("n1>n2"), s.c.State().Links)
	s.run(time.Second)
	require.True(t, s.c.State().Empty())
}

func (s *scene) down() (names []string) {
	for _, p := range s.c.State().Procs {
		names = append(names, p.Node)
	}
	return names
}

func TestACascadeKillsWhoeverTakesOver(t *testing.T) {
	s := begin(t, 5, Step{Fault: "cascade", With: map[string]string{"every": "1s"}, For: time.Minute})
	require.Equal(t, []string{"n1"}, s.down())
	s.run(5 * time.Second)
	require.Equal(t, []string{"n1"}, s.down(), "nobody else has led")
	for i, want := range []string{"n1,n2", "n2,n3", "n3,n4", "n1,n4"} {
		next := s.c.Nodes()[(i+1)%4]
		s.sight(next, history.Leader, uint64(i+2), next)
		s.run(time.Second)
		require.Equal(t, want, strings.Join(s.down(), ","), "a majority is left, and who died first comes back")
	}
	require.Equal(t, []string{
		"0s ok inject cascade n1", "5.02s ok change cascade n2", "6.02s ok change cascade n3", "7.02s ok change cascade n4",
		"8.02s ok change cascade n1",
	}, s.actions(), "the history tells who died")
	s.heal()
	require.True(t, s.c.State().Empty())
}

func TestACascadeLeavesSomebodyWhoCanTakeOver(t *testing.T) {
	s := begin(t, 2, Step{Fault: "cascade", For: time.Minute})
	require.Empty(t, s.down())
	require.Equal(t, []string{"0s fail inject cascade n1"}, s.actions(), "of two voters none may die")

	f, err := Find("cascade")
	require.NoError(t, err)
	with, err := option.Parse(f.Name, f.Options, nil)
	require.NoError(t, err)
	die := f.Shape(Scene{All: []string{"n1", "n2", "s1", "s2", "s3"}, Voters: []string{"s1", "s2", "s3"}, Options: with}).Phases[0].Then
	for _, leader := range []string{"n1", "n2", "n1"} {
		c, ready := die([][]string{{leader}})
		require.True(t, ready)
		require.Equal(t, []history.Proc{{Node: leader, State: history.Down}}, c.Procs, "one candidate of two is left")
	}
}

func TestAnUnstableTopDiesAfterEachElectionItWins(t *testing.T) {
	s := begin(t, 3, Step{Fault: "unstable-top", With: map[string]string{"after": "1s", "down": "2s"}})
	require.Equal(t, []string{"n1"}, s.down())
	s.sight("n2", history.Leader, 2, "n2")
	s.run(10 * time.Second)
	require.Empty(t, s.down(), "another leads")
	s.sight("n1", history.Leader, 3, "n1")
	s.run(500 * time.Millisecond)
	require.Empty(t, s.down())
	s.run(time.Second)
	require.Equal(t, []string{"n1"}, s.down())
	require.Len(t, s.actions(), 3, "no word about what changes nothing")
}

func TestARollingRestartTakesOneAtATime(t *testing.T) {
	s := begin(t, 3, Step{Fault: "rolling-restart", With: map[string]string{"down": "1s", "up": "1s", "how": "stop"}})
	var seen []string
	for range 7 {
		seen = append(seen, fmt.Sprint(s.c.State().Procs))
		s.run(time.Second)
	}
	require.Equal(t, []string{"[{n1 stopped}]", "[]", "[{n2 stopped}]", "[]", "[{n3 stopped}]", "[]", "[]"}, seen)
}

func TestARestartStormSparesTheOthers(t *testing.T) {
	s := begin(t, 5, Step{Fault: "restart-storm", Nodes: []string{"minority"}, With: map[string]string{"every": "100ms"}})
	all := s.down()
	require.Len(t, all, 2)
	seen := map[string]bool{}
	for range 100 {
		s.run(100 * time.Millisecond)
		down := s.down()
		require.Subset(t, all, down)
		seen[strings.Join(down, ",")] = true
	}
	require.Len(t, seen, 4, "none, either, both")
}

// unit knows two times of a target.
func unit(of string) (time.Duration, error) {
	d, known := map[string]time.Duration{"": 2 * time.Second, "heartbeat": 10 * time.Millisecond}[of]
	if !known {
		return 0, fmt.Errorf("no time %q", of)
	}
	return d, nil
}

func TestTimesThatAreMultiples(t *testing.T) {
	written := Schedule{
		{Fault: "pause", For: time.Second, Of: "whatever"},
		{Fault: "pause", After: Voted, Times: 0.5, Of: "heartbeat", ForTimes: 3},
		{Fault: "pause", ForTimes: 1.1},
	}
	timed, err := written.Timed(unit)
	require.NoError(t, err)
	require.Equal(t, time.Second, timed[0].For)
	require.Equal(t, 5*time.Millisecond, timed[1].Wait)
	require.Equal(t, 30*time.Millisecond, timed[1].For)
	require.Equal(t, 2200*time.Millisecond, timed[2].For)
	require.Equal(t, written, timed.Untimed())
	_, err = Schedule{{Fault: "pause", ForTimes: 1}, {Fault: "pause", Times: 1, Of: "hartbeat"}}.Timed(unit)
	require.ErrorContains(t, err, `step 2: no time "hartbeat"`)
}

func TestAStepIsWithinItsRun(t *testing.T) {
	for name, c := range map[string]struct {
		step Step
		want string
	}{
		"heals as the run ends":         {Step{At: 9 * time.Second, For: time.Second}, ""},
		"heals later":                   {Step{At: 9 * time.Second, For: time.Second + 1}, "step 2: kill ends at 10.000000001s, and the run at 10s"},
		"begins before the run ends":    {Step{At: 9 * time.Second, Wait: time.Second - 1}, ""},
		"begins as the run ends":        {Step{At: 10 * time.Second}, "step 2: kill begins at 10s, and the run ends at 10s"},
		"begins so with its cue":        {Step{At: 9 * time.Second, After: Voted, Wait: time.Second}, "step 2: kill begins at 10s, and the run ends at 10s"},
		"begins and heals after it all": {Step{At: 11 * time.Second, For: time.Second}, "step 2: kill begins at 11s, and the run ends at 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			c.step.Fault = "kill"
			s := Schedule{{Fault: "pause"}, c.step}
			err := cmp.Or(s.CheckBegins(10*time.Second), s.CheckEnds(10*time.Second))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.want)
		})
	}
}

func TestAStepWaitsForItsCue(t *testing.T) {
	s := newScene(t, 4)
	schedule, err := Schedule{
		{At: time.Second, After: Elected, Times: 1.5, Fault: "pause", ForTimes: 0.5},
		{At: time.Second, After: LeaderChanged, Fault: "isolate", Nodes: []string{"leader"}, For: time.Second},
		{After: Voted, Wait: time.Second, Fault: "kill", Nodes: []string{"candidate"}, For: time.Second},
		{At: 10 * time.Second, After: Voted, Fault: "kill", Nodes: []string{"voter"}},
		{At: time.Hour, After: Voted, Fault: "kill"},
	}.Timed(unit)
	require.NoError(t, err)
	require.NoError(t, schedule.Check(s.c.Nodes()))
	require.Equal(t, time.Hour, schedule.End())
	s.n.Start(schedule)
	vote := func(node, who string) {
		s.r.Append(history.Op{Time: s.c.Now(), Type: history.OK, F: history.Granted, Node: node, Vote: history.Vote{Term: 2, For: who}})
	}
	s.run(500 * time.Millisecond)
	s.sight("n2", history.Leader, 2, "n2") // too early
	s.run(1500 * time.Millisecond)
	vote("n3", "n3") // for itself
	s.sight("n2", history.Leader, 3, "n2")
	s.run(time.Second)
	vote("n4", "n3")
	s.sight("n3", history.Leader, 4, "n3")
	s.run(20 * time.Second)
	require.Equal(t, []string{
		"3s ok inject isolate n3", "4s ok inject kill n3", "4s ok heal isolate n3", "5s ok heal kill n3",
		"5.02s ok inject pause n3", "6.02s ok heal pause n3",
	}, s.actions())
	s.heal()
	actions := s.actions()
	require.Equal(t, "23s fail inject kill ", actions[len(actions)-1], "the one that was due, not the one that was not")
	h, err := s.r.History()
	require.NoError(t, err)
	require.Equal(t, "no vote was seen from 11s on", h.Ops[len(h.Ops)-1].Error)
	var after []string
	for _, op := range h.Ops {
		if op.F == history.Inject && op.Type == history.OK {
			after = append(after, op.Fault.After)
		}
	}
	require.Equal(t, []string{"election of n3 in term 4", "vote of n4 for n3 in term 2", "election of n2 in term 3"}, after)
}

func TestTheNextLeaderIsWaitedFor(t *testing.T) {
	s := begin(t, 3, Step{Fault: "pause", Nodes: []string{"next-leader"}})
	s.run(time.Second)
	require.True(t, s.c.State().Empty())
	s.sight("n2", history.Leader, 2, "n2")
	s.run(time.Second)
	require.Equal(t, []string{"1.02s ok inject pause n2"}, s.actions())
}

func TestClocksErrAsAsked(t *testing.T) {
	s := newScene(t, 3)
	s.n.Start(Schedule{
		{Fault: "clock-jump", Nodes: []string{"n1"}, With: map[string]string{"by": "-2m"}, For: 2 * time.Second},
		{At: time.Second, Fault: "clock-drift", Nodes: []string{"n1"}, With: map[string]string{"by": "-50%"}, For: 2 * time.Second},
		{At: time.Second, Fault: "clock-drift", Nodes: []string{"n1"}, With: map[string]string{"by": "500ppm"}, For: 2 * time.Second},
	})
	clocks := func() history.Clock {
		require.Equal(t, s.n.Holds(), s.c.State())
		require.Len(t, s.c.State().Clocks, 1)
		return s.c.State().Clocks[0]
	}
	s.run(time.Millisecond)
	require.Equal(t, history.Clock{Node: "n1", Offset: -2 * time.Minute}, clocks())
	s.run(time.Second)
	require.InDelta(t, -0.49975, clocks().Drift, 1e-12, "one clock that errs against another that does")
	require.Equal(t, -2*time.Minute, clocks().Offset)
	s.run(time.Second)
	require.Zero(t, clocks().Offset)
	s.run(time.Second)
	require.True(t, s.c.State().Empty())
}

func TestClocksRunApart(t *testing.T) {
	s := begin(t, 3, Step{Fault: "clock-drift", Nodes: []string{"n2"}, With: map[string]string{"by": "-5%", "apart": "true"}, For: time.Second})
	s.run(time.Millisecond)
	require.Equal(t, []history.Clock{{Node: "n1", Drift: 0.05}, {Node: "n2", Drift: -0.05}, {Node: "n3", Drift: 0.05}}, s.c.State().Clocks)
	s.run(time.Second)
	require.True(t, s.c.State().Empty())
}

func TestAStrobingClockJumpsToAndFro(t *testing.T) {
	s := begin(t, 3, Step{Fault: "clock-strobe", With: map[string]string{"by": "-5s", "every": "1s"}, For: 4500 * time.Millisecond})
	var seen []time.Duration
	for range 6 {
		s.c.ReadClocks(func(r map[string]history.Reading) { seen = append(seen, r["n1"].Wall) })
		s.run(time.Second)
	}
	require.Equal(t, []time.Duration{-5 * time.Second, 0, -5 * time.Second, 0, -5 * time.Second, 0}, seen)
}

func TestJumpsThatCancelOutLeaveAHealthyClock(t *testing.T) {
	s := newScene(t, 3)
	for _, by := range []string{"3s", "-3s"} {
		s.n.Start(Schedule{{Fault: "clock-jump", Nodes: []string{"n1"}, With: map[string]string{"by": by}}})
	}
	s.run(time.Millisecond)
	require.True(t, s.c.State().Empty())
	require.True(t, s.n.Holds().Empty())
}

func TestDisksFailAsAsked(t *testing.T) {
	for fault, c := range map[string]struct {
		with map[string]string
		want history.DiskState
	}{
		"disk-full":   {nil, history.DiskState{Full: true}},
		"disk-slow":   {map[string]string{"by": "1.5s"}, history.DiskState{Slow: 1500 * time.Millisecond}},
		"disk-wipe":   {nil, history.DiskState{Wiped: true}},
		"disk-errors": {map[string]string{"chance": "20%"}, history.DiskState{WriteErrors: 0.2, SyncErrors: 0.2, ReadErrors: 0.2}},
	} {
		s := begin(t, 3, Step{Fault: fault, With: c.with, Nodes: []string{"n2"}})
		require.Equal(t, []history.Disk{{Node: "n2", DiskState: c.want}}, s.c.State().Disks)
	}
	for on, want := range map[string]history.DiskState{"write": {WriteErrors: 1}, "sync": {SyncErrors: 1}, "read": {ReadErrors: 1}} {
		require.Equal(t, want, begin(t, 3, Step{Fault: "disk-errors", With: map[string]string{"on": on}}).c.State().Disks[0].DiskState)
	}
	require.Equal(t, procs([]string{"n1", "n2", "n3"}, history.Crashed), begin(t, 3, Step{Fault: "lose-writes", Nodes: []string{"all"}}).c.State())
}

func TestFaultsOfADiskAddUp(t *testing.T) {
	s := newScene(t, 3)
	slow := func(at, hold time.Duration) Step {
		return Step{At: at, Fault: "disk-slow", Nodes: []string{"n1"}, With: map[string]string{"by": "1s"}, For: hold}
	}
	s.n.Start(Schedule{
		slow(0, 4*time.Second), slow(time.Second, 2*time.Second),
		{At: 2 * time.Second, Fault: "disk-errors", Nodes: []string{"n1"}, With: map[string]string{"on": "sync", "chance": "50%"}, For: 3 * time.Second},
	})
	var seen []string
	s.run(time.Millisecond)
	for range 6 {
		state := history.DiskState{}
		for _, d := range s.c.State().Disks {
			state = d.DiskState
		}
		seen = append(seen, state.String())
		s.run(time.Second)
	}
	require.Equal(t, []string{
		"syncs take 1s longer", "syncs take 2s longer", "syncs take 2s longer, 50% of syncs fail", "syncs take 1s longer, 50% of syncs fail",
		"50% of syncs fail", "healthy",
	}, seen)
}

// What a failing disk has made end is started again when it is healed, unless another fault wants it down.
func TestWhatADiskMadeEndStartsAgain(t *testing.T) {
	failing, down := disks([]string{"n1"}, history.DiskState{Full: true}), procs([]string{"n1"}, history.Down)
	slow := disks([]string{"n1"}, history.DiskState{Slow: 1})
	healed := disks([]string{"n1"}, history.DiskState{})
	up := procs([]string{"n1"}, history.Up).Procs
	for _, c := range []struct {
		before, after []history.Changes
		want          history.Changes
	}{
		{[]history.Changes{failing}, nil, history.Changes{Disks: healed.Disks, Procs: up}},
		{[]history.Changes{failing, down}, nil, history.Changes{Disks: healed.Disks, Procs: up}},
		{[]history.Changes{failing, down}, []history.Changes{down}, healed},
		{[]history.Changes{failing, down}, []history.Changes{failing}, history.Changes{Procs: up}},
		{[]history.Changes{failing, slow}, []history.Changes{slow}, history.Changes{Disks: slow.Disks, Procs: up}},
		{[]history.Changes{slow}, nil, healed},
	} {
		require.Equal(t, c.want, changesTo(history.Merge(c.after...), history.Merge(c.before...)))
	}
}

// picky is a cluster that cannot pause.
type picky struct{ Cluster }

func (p picky) Can(c history.Changes) error {
	for _, l := range c.Links {
		if l.Loss > 0 {
			return fmt.Errorf("cannot lose")
		}
	}
	return nil
}

func TestAPhaseThatCannotBeLeavesWhatWasBefore(t *testing.T) {
	s := newScene(t, 3)
	s.n = New(picky{s.c}, s.r, s.s, rand.New(rand.NewPCG(1, 2)))
	a := &active{shape: Shape{Phases: []Phase{
		{For: time.Second, Changes: history.Changes{Links: cut("n1>n2")}},
		{For: time.Second, Changes: history.Changes{Links: []history.Link{{From: "n1", To: "n2", LinkState: history.LinkState{Loss: 1}}}}},
		{Changes: history.Changes{Links: cut("n2>n1")}},
	}}, fault: history.Fault{Name: "odd"}}
	s.n.active = append(s.n.active, a)
	s.n.turn(func() { s.n.enter(history.Inject, a, 0, nil) })
	s.run(1500 * time.Millisecond)
	require.Equal(t, cut("n1>n2"), s.c.State().Links)
	s.run(time.Second)
	require.Equal(t, cut("n2>n1"), s.c.State().Links)
	require.Equal(t, []string{"0s ok inject odd ", "1s fail change odd ", "2s ok change odd "}, s.actions())
	s.heal()
	require.True(t, s.c.State().Empty())
}
