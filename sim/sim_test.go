package sim

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/sim/clock"
)

// beacon is an algorithm for these tests: it sends a number to everybody in every period, and notes what reaches it.
type beacon struct {
	env     election.Env
	sent    uint64
	got     []received
	expired []time.Duration // on its own clock
}

type received struct {
	from election.ID
	n    uint64
	at   time.Duration
}

const period = 100 * time.Millisecond

func (b *beacon) Start() {
	if v := b.env.Load("sent"); v != nil {
		b.sent = uint64(v[0])
	}
	b.env.SetTimer(0, period)
}

func (b *beacon) Receive(from election.ID, m election.Message) {
	b.got = append(b.got, received{from, m.Value, b.env.Now()})
}

func (b *beacon) Expire(election.Timer) {
	b.expired = append(b.expired, b.env.Now())
	b.sent++
	b.env.Store("sent", []byte{byte(b.sent)})
	if b.sent%10 == 0 {
		b.env.Sync()
	}
	for id := election.ID(1); int(id) <= b.env.Size(); id++ {
		if id != b.env.ID() {
			b.env.Send(id, election.Message{Kind: "Beacon", Value: b.sent})
		}
	}
	b.env.SetTimer(0, period)
}

func (b *beacon) Status() election.Status {
	return election.Status{Role: election.Leader, Term: b.sent, Leader: b.env.ID()}
}

// beacons is a started cluster of n beacons; lives holds the beacon of each start.
func beacons(t *testing.T, n int) (c *Cluster, lives map[election.ID][]*beacon) {
	lives = map[election.ID][]*beacon{}
	c, err := New(Config{Nodes: n, Seed: 1, New: func(env election.Env) election.Node {
		b := &beacon{env: env}
		lives[env.ID()] = append(lives[env.ID()], b)
		return b
	}})
	require.NoError(t, err)
	c.Start()
	run(t, c, time.Second)
	return c, lives
}

func run(t *testing.T, c *Cluster, d time.Duration) {
	require.NoError(t, c.Run(context.Background(), c.Now()+d))
}

// impose applies changes that must take effect.
func impose(t *testing.T, c *Cluster, ch history.Changes) {
	var e history.Effect
	c.Apply(ch, func(got history.Effect) { e = got })
	require.Equal(t, history.Effect{Seen: history.OK}, e)
}

func link(from, to string, s history.LinkState) history.Changes {
	return history.Changes{Links: []history.Link{{From: from, To: to, LinkState: s}}}
}

func proc(node string, s history.ProcState) history.Changes {
	return history.Changes{Procs: []history.Proc{{Node: node, State: s}}}
}

// from returns the numbers that b received from a node.
func (b *beacon) from(id election.ID) (numbers []uint64) {
	for _, r := range b.got {
		if r.from == id {
			numbers = append(numbers, r.n)
		}
	}
	return numbers
}

func TestEveryMessageArrivesOnHealthyLinks(t *testing.T) {
	_, lives := beacons(t, 3)
	for id := election.ID(1); id <= 3; id++ {
		b := lives[id][0]
		require.Equal(t, uint64(9), b.sent)
		for other := election.ID(1); other <= 3; other++ {
			if other != id {
				require.Equal(t, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}, b.from(other))
			}
		}
	}
}

func TestACutIsOneWayAndHeals(t *testing.T) {
	c, lives := beacons(t, 3)
	impose(t, c, link("n1", "n2", history.LinkState{Cut: true}))
	run(t, c, time.Second)
	require.Len(t, lives[2][0].from(1), 9, "cut")
	require.Len(t, lives[1][0].from(2), 19, "the way back is whole")
	require.Len(t, lives[3][0].from(1), 19, "so is the way to others")
	require.Equal(t, link("n1", "n2", history.LinkState{Cut: true}), c.State())
	impose(t, c, link("n1", "n2", history.LinkState{}))
	run(t, c, time.Second)
	require.Len(t, lives[2][0].from(1), 19)
	require.True(t, c.State().Empty())
}

func TestLossDuplicationAndDelay(t *testing.T) {
	c, lives := beacons(t, 2)
	impose(t, c, link("n1", "n2", history.LinkState{Loss: 0.5}))
	run(t, c, 100*time.Second)
	require.InDelta(t, 500, len(lives[2][0].from(1))-9, 75)
	impose(t, c, link("n1", "n2", history.LinkState{Duplicate: 1}))
	before := len(lives[2][0].from(1))
	run(t, c, 10*time.Second)
	require.Equal(t, 200, len(lives[2][0].from(1))-before)

	c, lives = beacons(t, 2)
	impose(t, c, link("n1", "n2", history.LinkState{Delay: 500 * time.Millisecond}))
	run(t, c, 450*time.Millisecond)
	require.Len(t, lives[2][0].from(1), 9)
	run(t, c, 300*time.Millisecond)
	require.Greater(t, len(lives[2][0].from(1)), 9)
}

func TestARateMakesMessagesWaitAndThenLoses(t *testing.T) {
	// A beacon is 28+8+6 = 42 bytes long: at 4200 bits a second it takes 80 ms, and 10 a second go through.
	c, lives := beacons(t, 2)
	impose(t, c, link("n1", "n2", history.LinkState{Rate: 4200}))
	run(t, c, 10*time.Second)
	require.InDelta(t, 109, len(lives[2][0].from(1)), 1)
	for _, r := range lives[2][0].got {
		if r.from == 1 && r.n > 9 {
			sent := lives[1][0].expired[r.n-1] - lives[1][0].expired[0] + 100*time.Millisecond
			require.Greater(t, r.at-lives[2][0].expired[0]+100*time.Millisecond-sent, 60*time.Millisecond)
		}
	}
	impose(t, c, link("n1", "n2", history.LinkState{Rate: 2100})) // 160 ms each: half of them is too much
	before := len(lives[2][0].from(1))
	run(t, c, 100*time.Second)
	require.InDelta(t, 625, len(lives[2][0].from(1))-before, 10)
}

func TestAResetLosesWhatIsInFlight(t *testing.T) {
	c, lives := beacons(t, 2)
	impose(t, c, link("n1", "n2", history.LinkState{Delay: 450 * time.Millisecond}))
	run(t, c, time.Second)
	require.Len(t, lives[2][0].from(1), 9+6)
	impose(t, c, link("n1", "n2", history.LinkState{Delay: 450 * time.Millisecond, Reset: true}))
	run(t, c, 10*time.Second)
	got := lives[2][0].from(1)
	require.Equal(t, []uint64{15, 20, 21}, got[14:17], "those sent later arrive")
	require.Len(t, got, 9+6+96)
}

func TestAFaultOfOnePortIsFeltWhereNodesSpeakThere(t *testing.T) {
	for _, port := range []int{0, 7000} {
		c, err := New(Config{Nodes: 2, Seed: 1, Port: port, New: func(env election.Env) election.Node { return &beacon{env: env} }})
		require.NoError(t, err)
		c.Start()
		run(t, c, 20*time.Millisecond)
		cut := history.Link{From: "n1", To: "n2", Port: 7000, LinkState: history.LinkState{Cut: true}}
		slow := history.Link{From: "n1", To: "n2", LinkState: history.LinkState{Delay: time.Second}}
		both := history.Changes{Links: []history.Link{slow, cut}}
		impose(t, c, both)
		require.Equal(t, both, c.State())
		run(t, c, 10*time.Second)
		got := c.nodes[1].impl.(*beacon).from(1)
		if port == 0 {
			require.InDelta(t, 90, len(got), 1, "another port is nothing to them")
		} else {
			require.Empty(t, got)
		}
		cut.LinkState, slow.LinkState = history.LinkState{}, history.LinkState{}
		impose(t, c, history.Changes{Links: []history.Link{slow}})
		impose(t, c, history.Changes{Links: []history.Link{cut}})
		require.True(t, c.State().Empty())
	}
}

func TestAPausedNodeDoesNothingAndThenAllAtOnce(t *testing.T) {
	c, lives := beacons(t, 2)
	impose(t, c, proc("n1", history.Paused))
	run(t, c, time.Second)
	b := lives[1][0]
	require.Len(t, b.expired, 9)
	require.Len(t, b.from(2), 9)
	require.Equal(t, proc("n1", history.Paused), c.State())
	impose(t, c, proc("n1", history.Up))
	run(t, c, time.Millisecond)
	require.Len(t, b.expired, 10, "one timer was due, once")
	require.Len(t, b.from(2), 19, "what was sent to it waited")
	require.Len(t, lives[1], 1, "it is the same life")
}

func TestWhatReachesAPausedNodeIsDecidedWhenItArrives(t *testing.T) {
	c, lives := beacons(t, 2)
	b := lives[1][0]
	impose(t, c, proc("n1", history.Frozen))
	impose(t, c, link("n2", "n1", history.LinkState{Cut: true}))
	run(t, c, time.Second)
	impose(t, c, link("n2", "n1", history.LinkState{}))
	run(t, c, time.Second)
	impose(t, c, link("n2", "n1", history.LinkState{Cut: true}))
	impose(t, c, proc("n1", history.Paused))
	require.Len(t, b.from(2), 9)
	impose(t, c, proc("n1", history.Up))
	run(t, c, time.Millisecond)
	require.Len(t, b.from(2), 19)
	require.Equal(t, uint64(20), b.from(2)[9], "what met a cut link is lost, what came after it has arrived")
}

// resigner is a beacon that tells everybody when it is asked to resign.
type resigner struct{ beacon }

func (r *resigner) Resign() {
	r.env.Store("resigned", []byte{1})
	r.env.Send(2, election.Message{Kind: "Bye", Value: 99})
}

func TestAStoppedNodeResignsFirst(t *testing.T) {
	c, err := New(Config{Nodes: 2, Seed: 1, New: func(env election.Env) election.Node { return &resigner{beacon{env: env}} }})
	require.NoError(t, err)
	c.Start()
	run(t, c, time.Second)
	impose(t, c, proc("n1", history.Stopped))
	require.Equal(t, proc("n1", history.Stopped), c.State())
	run(t, c, time.Second)
	got := c.nodes[1].impl.(*resigner).from(1)
	require.Equal(t, uint64(99), got[len(got)-1])
	impose(t, c, proc("n1", history.Up))
	require.Equal(t, []byte{1}, c.nodes[0].Load("resigned"), "what it wrote is kept")
	impose(t, c, proc("n2", history.Down))
	require.Nil(t, c.nodes[1].Load("resigned"), "a killed node resigns nothing")
}

func TestAKilledNodeKeepsWhatItWroteAndACrashedOneWhatItSynced(t *testing.T) {
	c, lives := beacons(t, 2)
	run(t, c, 500*time.Millisecond)
	require.Equal(t, uint64(14), lives[1][0].sent)
	impose(t, c, proc("n1", history.Down))
	run(t, c, time.Second)
	require.Equal(t, uint64(14), lives[1][0].sent, "dead")
	impose(t, c, proc("n1", history.Up))
	require.Len(t, lives[1], 2)
	require.Equal(t, uint64(14), lives[1][1].sent, "written, if not synced")
	impose(t, c, proc("n1", history.Crashed))
	impose(t, c, proc("n1", history.Up))
	require.Equal(t, uint64(10), lives[1][2].sent, "synced")
	run(t, c, time.Second)
	require.Len(t, lives[1][0].expired, 14, "timers of an earlier life never expire")
}

func TestClocksDriftAndJump(t *testing.T) {
	c, lives := beacons(t, 2)
	b := lives[1][0]
	before, wall := b.env.Now(), b.env.Wall()
	require.Equal(t, wall, lives[2][0].env.Wall(), "healthy wall clocks agree")
	impose(t, c, history.Changes{Clocks: []history.Clock{{Node: "n1", Offset: -time.Hour, Drift: 0.5}}})
	require.Equal(t, before, b.env.Now(), "the monotonic clock does not step")
	require.Equal(t, wall.Add(-time.Hour), b.env.Wall())
	run(t, c, 10*time.Second)
	require.Equal(t, before+15*time.Second, b.env.Now())
	require.InDelta(t, 9+150, len(b.expired), 1, "timers follow the node's own clock")
	for i := 1; i < len(b.expired); i++ {
		require.GreaterOrEqual(t, b.expired[i]-b.expired[i-1], period)
	}
	impose(t, c, history.Changes{Clocks: []history.Clock{{Node: "n1"}}})
	require.Equal(t, before+15*time.Second, b.env.Now(), "healing takes nothing back")
	require.Equal(t, lives[2][0].env.Wall(), b.env.Wall(), "but sets the wall clock right")
	require.True(t, c.State().Empty())
}

func TestWhatClocksAreSaidToRead(t *testing.T) {
	c, lives := beacons(t, 2)
	read := func() (all map[string]history.Reading) {
		c.ReadClocks(func(r map[string]history.Reading) { all = r })
		for id := election.ID(1); id <= 2; id++ {
			if reading, ok := all[id.String()]; ok {
				truth := clock.Epoch.Add(c.Now())
				require.Equal(t, reading.Wall, lives[id][0].env.Wall().Sub(truth))
			}
		}
		return all
	}
	require.Equal(t, map[string]history.Reading{"n1": {}, "n2": {}}, read())
	impose(t, c, history.Changes{Clocks: []history.Clock{{Node: "n1", Offset: time.Hour, Drift: 0.01}}})
	require.Equal(t, history.Reading{Wall: time.Hour}, read()["n1"])
	run(t, c, 100*time.Second)
	require.Equal(t, history.Reading{Wall: time.Hour + time.Second, Monotonic: time.Second}, read()["n1"])
	impose(t, c, history.Changes{Clocks: []history.Clock{{Node: "n1", Offset: -time.Hour, Drift: 0.01}}})
	require.Equal(t, history.Reading{Wall: -time.Hour + time.Second, Monotonic: time.Second}, read()["n1"], "a jump leaves the drift")
	impose(t, c, history.Changes{Clocks: []history.Clock{{Node: "n1"}}})
	run(t, c, 100*time.Second)
	require.Equal(t, history.Reading{Monotonic: time.Second}, read()["n1"])
	impose(t, c, history.Changes{Clocks: []history.Clock{{Node: "n1", Drift: -0.01}}})
	run(t, c, 100*time.Second)
	require.Equal(t, history.Reading{Wall: -time.Second}, read()["n1"])
	impose(t, c, proc("n2", history.Down))
	require.NotContains(t, read(), "n2", "who is dead tells no time")
}

func TestObserveAnswersRefusesAndWaits(t *testing.T) {
	c, _ := beacons(t, 2)
	var views []history.View
	var errs []error
	done := func(v history.View, err error) { views, errs = append(views, v), append(errs, err) }
	c.Observe("n1", done)
	run(t, c, 2*time.Millisecond)
	require.Equal(t, []history.View{{Role: history.Leader, Term: 9, Leader: "n1", Tenure: 10}}, views)
	require.NoError(t, errs[0])

	impose(t, c, proc("n1", history.Paused))
	c.Observe("n1", done)
	run(t, c, time.Second)
	require.Len(t, views, 1, "a paused node answers later")
	impose(t, c, proc("n1", history.Up))
	run(t, c, 2*time.Millisecond)
	require.Len(t, views, 2)

	impose(t, c, proc("n1", history.Paused))
	c.Observe("n1", done)
	run(t, c, 2*time.Millisecond)
	impose(t, c, proc("n1", history.Down))
	run(t, c, 2*time.Millisecond)
	require.ErrorIs(t, errs[2], errDown, "a question to a process that dies is refused")
}

func TestWhatLivesInAProcessDiesWithIt(t *testing.T) {
	var early, late int
	c, err := New(Config{Nodes: 1, Seed: 1, New: func(env election.Env) election.Node { return &beacon{env: env} }})
	require.NoError(t, err)
	c.OnStart(func(_ election.ID, p *Process) {
		p.After(100*time.Millisecond, func() { early++ })
		p.After(time.Second, func() { late++ })
	})
	c.Start()
	run(t, c, 500*time.Millisecond)
	impose(t, c, proc("n1", history.Down))
	impose(t, c, proc("n1", history.Up))
	run(t, c, 5*time.Second)
	require.Equal(t, 2, early)
	require.Equal(t, 1, late)
}

func TestImpossibleChangesAreRefused(t *testing.T) {
	c, _ := beacons(t, 2)
	for _, ch := range []history.Changes{
		link("n1", "n9", history.LinkState{Cut: true}),
		link("n1", "n1", history.LinkState{Cut: true}),
		{Links: []history.Link{{From: "n1", To: "n2", Port: 70000}}},
		proc("n9", history.Down),
		proc("n1", "asleep"),
		{Clocks: []history.Clock{{Node: "n1", Drift: -1}}},
		{Clocks: []history.Clock{{Node: "n9"}}},
		history.ChangesOf(history.CPU{Node: "n9"}),
		history.ChangesOf(history.Part{Node: "n1", Process: "agent", State: history.Paused}),
	} {
		require.Error(t, c.Can(ch))
		c.Apply(ch, func(e history.Effect) {
			require.Equal(t, history.Fail, e.Seen)
			require.Error(t, e.Err)
		})
	}
	require.True(t, c.State().Empty())
}

func TestConfigIsChecked(t *testing.T) {
	for _, cfg := range []Config{
		{Nodes: 0},
		{Nodes: maxNodes + 1},
		{Nodes: 3, LatencyMin: 2, LatencyMax: 1},
	} {
		_, err := New(cfg)
		require.Error(t, err)
	}
}

func BenchmarkEvents(b *testing.B) {
	c, err := New(Config{Nodes: 5, Seed: 1, New: func(env election.Env) election.Node { return &idle{beacon{env: env}} }})
	require.NoError(b, err)
	c.Start()
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Run(context.Background(), c.Now()+time.Second)
	}
	b.ReportMetric(float64(c.Events())/b.Elapsed().Seconds(), "events/s")
}

// idle is a beacon that keeps nothing.
type idle struct{ beacon }

func (i *idle) Receive(election.ID, election.Message) {}
func (i *idle) Status() election.Status               { return election.Status{} }
func (i *idle) Expire(election.Timer) {
	for id := election.ID(1); int(id) <= i.env.Size(); id++ {
		if id != i.env.ID() {
			i.env.Send(id, election.Message{Kind: "Beacon"})
		}
	}
	i.env.SetTimer(0, period)
}
