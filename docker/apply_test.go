package docker

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"recount/docker/agent"
	"recount/history"
)

func TestCutBothWays(t *testing.T) {
	c := up(t, engine(t), runID(t), 3)
	requireSeen(t, c, links(link("n1", "n2", true), link("n2", "n1", true)))
	require.Contains(t, tell(t, c, "n1", "knock %s", address(c, "n2")), "timeout")
	require.Contains(t, tell(t, c, "n2", "knock %s", address(c, "n1")), "timeout")
	require.Equal(t, "ok", tell(t, c, "n1", "connect %s", address(c, "n3")))
	state, err := c.State(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []history.Link{link("n1", "n2", true), link("n2", "n1", true)}, state.Links)

	requireSeen(t, c, links(link("n1", "n2", false), link("n2", "n1", false)))
	require.Equal(t, "ok", tell(t, c, "n1", "connect %s", address(c, "n2")))
	state, err = c.State(t.Context())
	require.NoError(t, err)
	require.True(t, state.Empty(), "%+v", state)
}

func TestCutOneWay(t *testing.T) {
	c := up(t, engine(t), runID(t), 2)
	requireSeen(t, c, links(link("n1", "n2", true)))
	require.Equal(t, "ok", tell(t, c, "n1", "tell %s lost", address(c, "n2")), "the sender must not be told")
	require.Equal(t, "ok", tell(t, c, "n2", "tell %s hello", address(c, "n1")))
	require.Eventually(t, func() bool { return tell(t, c, "n1", "heard") == "hello" }, within, time.Millisecond)
	require.Contains(t, tell(t, c, "n1", "knock %s", address(c, "n2")), "timeout")

	requireSeen(t, c, links(link("n1", "n2", false)))
	require.Equal(t, "ok", tell(t, c, "n1", "tell %s found", address(c, "n2")))
	require.Eventually(t, func() bool { return tell(t, c, "n2", "heard") == "found" }, within, time.Millisecond)
}

func TestPartitionHalves(t *testing.T) {
	c := up(t, engine(t), runID(t), 5)
	var cut, heal []history.Link
	for _, a := range []string{"n1", "n2"} {
		for _, b := range []string{"n3", "n4", "n5"} {
			cut = append(cut, link(a, b, true), link(b, a, true))
			heal = append(heal, link(a, b, false), link(b, a, false))
		}
	}
	e := requireSeen(t, c, links(cut...))
	require.Positive(t, e.Spread)
	t.Logf("spread over five nodes: %v", e.Spread)
	var all sync.WaitGroup
	for i, a := range c.names {
		for j, b := range c.names {
			all.Go(func() {
				if (i < 2) == (j < 2) {
					assert.Equal(t, "ok", tell(t, c, a, "connect %s", address(c, b)), "%s to %s", a, b)
				} else {
					assert.Contains(t, tell(t, c, a, "knock %s", address(c, b)), "timeout", "%s to %s", a, b)
				}
			})
		}
	}
	all.Wait()
	requireSeen(t, c, links(heal...))
	require.Equal(t, "ok", tell(t, c, "n5", "connect %s", address(c, "n1")))
}

// Of a change to several nodes that one of them does not take, the others are not said to be as they were.
func TestWhatComesTrueInPart(t *testing.T) {
	c := up(t, engine(t), runID(t), 3)
	exited := false
	c.OnExit(func(string, int) { exited = true })
	conn, err := c.Dial(t.Context(), "n2", 7000)
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintln(conn, "exit 1")
	require.NoError(t, err)
	run(t, c, func() bool { return exited })
	cut := link("n3", "n1", true)
	e := apply(t, c, history.Changes{
		Links: []history.Link{cut}, Procs: []history.Proc{{Node: "n1", State: history.Paused}, {Node: "n2", State: history.Paused}},
	})
	require.Equal(t, history.Info, e.Seen)
	require.ErrorContains(t, e.Err, "n2 has ended by itself, and cannot be paused")
	require.Equal(t, history.Changes{Links: []history.Link{cut}, Procs: []history.Proc{{Node: "n1", State: history.Paused}}}, e.Found)
	e = apply(t, c, proc("n2", history.Paused))
	require.Equal(t, history.Fail, e.Seen, "nothing of it came true")
	require.True(t, e.Found.Empty())
}

func TestKillAndStart(t *testing.T) {
	c := up(t, engine(t), runID(t), 3)
	c.OnExit(func(node string, code int) { t.Errorf("%s is said to have exited by itself", node) })
	addr := c.Addr("n1")
	requireSeen(t, c, links(link("n2", "n1", true)))
	requireSeen(t, c, proc("n1", history.Down))
	requireSeen(t, c, proc("n1", history.Down)) // a change is to a state
	state, err := c.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, proc("n1", history.Down).Procs, state.Procs)
	require.Contains(t, tell(t, c, "n3", "connect %s", address(c, "n1")), "refused", "its place in the network must live on")

	requireSeen(t, c, proc("n1", history.Up))
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	require.Equal(t, "2", tell(t, c, "n1", "lives"), "its data must live on")
	require.Equal(t, addr, c.Addr("n1"))
	require.Equal(t, "ok", tell(t, c, "n3", "connect %s", address(c, "n1")))
	require.Contains(t, tell(t, c, "n2", "knock %s", address(c, "n1")), "timeout", "the cut must live on")
}

func TestPauseAndResume(t *testing.T) {
	c := up(t, engine(t), runID(t), 2)
	tell(t, c, "n1", "beat %s", address(c, "n2"))
	beats := func() string { return tell(t, c, "n2", "beats") }
	require.Eventually(t, func() bool { return beats() != "0" }, within, time.Millisecond)
	requireSeen(t, c, proc("n1", history.Paused))
	state, err := c.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, proc("n1", history.Paused).Procs, state.Procs)
	require.Equal(t, "ok", tell(t, c, "n2", "connect %s", address(c, "n1")), "the kernel still takes connections")
	before := beats()
	require.Eventually(t, func() bool {
		last := before
		before = beats()
		return before == last
	}, within, 50*time.Millisecond, "a child process beats every millisecond, and must have stopped as well")

	requireSeen(t, c, proc("n1", history.Up))
	require.Equal(t, "1", tell(t, c, "n1", "lives"))
	require.Eventually(t, func() bool { return beats() != before }, within, time.Millisecond)

	requireSeen(t, c, proc("n1", history.Paused))
	for life, as := range []history.ProcState{history.Paused, history.Frozen} {
		requireSeen(t, c, proc("n1", history.Down))
		requireSeen(t, c, proc("n1", as)) // what it was down for is over, what it stands still for is not
		requireSeen(t, c, proc("n1", history.Up))
		eventually(t, c, "n1")
		require.Equal(t, strconv.Itoa(life+2), tell(t, c, "n1", "lives"))
	}
}

func TestFreezeAndThaw(t *testing.T) {
	c := up(t, engine(t), runID(t), 2)
	c.OnExit(func(node string, code int) { t.Errorf("%s is said to have exited by itself", node) })
	tell(t, c, "n1", "beat %s", address(c, "n2"))
	beats := func() string { return tell(t, c, "n2", "beats") }
	beating := func() {
		before := beats()
		require.Eventually(t, func() bool { return beats() != before }, within, time.Millisecond)
	}
	for _, from := range []history.ProcState{history.Up, history.Paused} {
		beating()
		requireSeen(t, c, proc("n1", from))
		requireSeen(t, c, proc("n1", history.Frozen))
		requireSeen(t, c, proc("n1", history.Frozen)) // a change is to a state
		state, err := c.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, proc("n1", history.Frozen).Procs, state.Procs)
		before := beats()
		require.Eventually(t, func() bool {
			last := before
			before = beats()
			return before == last
		}, within, 50*time.Millisecond)
		requireSeen(t, c, proc("n1", history.Up))
		beating()
	}
	requireSeen(t, c, proc("n1", history.Frozen))
	requireSeen(t, c, proc("n1", history.Paused))
	requireSeen(t, c, proc("n1", history.Up))
	beating()
	require.Equal(t, "1", tell(t, c, "n1", "lives"))
	for life, end := range []history.ProcState{history.Down, history.Stopped} {
		requireSeen(t, c, proc("n1", history.Frozen))
		requireSeen(t, c, proc("n1", end))
		requireSeen(t, c, proc("n1", history.Up))
		eventually(t, c, "n1")
		require.Equal(t, strconv.Itoa(life+2), tell(t, c, "n1", "lives"))
	}
}

func TestStopAndStart(t *testing.T) {
	c := up(t, engine(t), runID(t), 2)
	c.OnExit(func(node string, code int) { t.Errorf("%s is said to have exited by itself", node) })
	requireSeen(t, c, proc("n1", history.Stopped))
	requireSeen(t, c, proc("n1", history.Stopped))
	require.Contains(t, tell(t, c, "n2", "connect %s", address(c, "n1")), "refused")
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	require.Equal(t, "2", tell(t, c, "n1", "lives"))
	requireSeen(t, c, proc("n1", history.Paused))
	requireSeen(t, c, proc("n1", history.Stopped))
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")

	require.Equal(t, "ok", tell(t, c, "n1", "stay"))
	e := apply(t, c, proc("n1", history.Stopped))
	require.Equal(t, history.Info, e.Seen, "it is down, but did not go in its own way")
	require.ErrorContains(t, e.Err, "stop n1: it had not ended 10s after SIGTERM, and was killed")
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
}

func TestCrash(t *testing.T) {
	c := up(t, engine(t), runID(t), 2)
	crash := links(link("n1", "n2", true), link("n2", "n1", true))
	crash.Procs = proc("n1", history.Crashed).Procs
	requireSeen(t, c, crash)
	require.Contains(t, tell(t, c, "n2", "knock %s", address(c, "n1")), "timeout", "a dead machine refuses nothing")
	heal := links(link("n1", "n2", false), link("n2", "n1", false))
	heal.Procs = proc("n1", history.Up).Procs
	requireSeen(t, c, heal)
	eventually(t, c, "n1")
	require.Equal(t, "ok", tell(t, c, "n2", "connect %s", address(c, "n1")))
}

func TestAllAtOnce(t *testing.T) {
	c := up(t, engine(t), runID(t), 3)
	machineCrash := history.Changes{
		Links: []history.Link{link("n1", "n2", true), link("n2", "n1", true), link("n1", "n3", true), link("n3", "n1", true)},
		Procs: proc("n1", history.Down).Procs,
	}
	e := requireSeen(t, c, machineCrash)
	t.Logf("spread: %v", e.Spread)
	for i := range machineCrash.Links {
		machineCrash.Links[i].Cut = false
	}
	machineCrash.Procs[0].State = history.Up
	requireSeen(t, c, machineCrash)
	eventually(t, c, "n1")
	require.Equal(t, "ok", tell(t, c, "n2", "connect %s", address(c, "n1")))
}

// Changes that overlap take place in the order in which they were asked for.
func TestApplyInOrder(t *testing.T) {
	c := up(t, engine(t), runID(t), 3)
	var order []int
	changes := []history.Changes{
		proc("n1", history.Down), proc("n1", history.Up), proc("n1", history.Paused), proc("n1", history.Up),
		links(link("n2", "n3", true)), links(link("n2", "n3", false)),
	}
	for i, change := range changes {
		c.Apply(change, func(e history.Effect) {
			require.NoError(t, e.Err)
			order = append(order, i)
		})
	}
	run(t, c, func() bool { return len(order) == len(changes) })
	require.Less(t, indexOf(order, 0), indexOf(order, 1))
	require.Less(t, indexOf(order, 1), indexOf(order, 2))
	require.Less(t, indexOf(order, 2), indexOf(order, 3))
	require.Less(t, indexOf(order, 4), indexOf(order, 5))
	eventually(t, c, "n1")
	require.Equal(t, "2", tell(t, c, "n1", "lives"))
}

func indexOf(all []int, x int) int {
	for i, y := range all {
		if x == y {
			return i
		}
	}
	return -1
}

// A run may be ended in the middle of anything.
func TestCloseWhileBusy(t *testing.T) {
	c := up(t, engine(t), runID(t), 3)
	requireSeen(t, c, proc("n1", history.Down))
	requireSeen(t, c, proc("n2", history.Paused))
	c.Apply(proc("n1", history.Up), func(history.Effect) {})
	c.Apply(proc("n3", history.Down), func(history.Effect) {})
	c.Apply(proc("n3", history.Up), func(history.Effect) {})
	c.Apply(links(link("n1", "n2", true)), func(history.Effect) {})
	require.NoError(t, c.Close(t.Context()))
}

// A node that a trap has ended does not run, before the engine has noticed: who heals that starts it, and does not tell it to go on.
func TestANodeThatATrapHasEndedIsNotAlive(t *testing.T) {
	n := &node{name: "n1", life: &life{over: make(chan struct{})}}
	c := &Cluster{nodes: map[string]*node{"n1": n}, loop: newLoop(), onSprung: func(int, string, history.Changes) {}}
	require.True(t, n.alive())
	c.notice(agent.Reply{Sprung: &agent.Sprung{ID: 1, Node: "n1", State: history.Crashed}})
	require.False(t, n.alive())
	order, calls, troubles := c.order(proc("n1", history.Up))
	require.Empty(t, order.Signals)
	require.Len(t, calls, 1)
	require.Empty(t, troubles)
}

// A machine dies also where its node keeps nothing on a disk that can fail: what it has besides is lost.
func TestAMachineWithoutADiskDies(t *testing.T) {
	c := &Cluster{nodes: map[string]*node{"n1": {name: "n1", life: &life{over: make(chan struct{})}}}}
	order, _, _ := c.order(proc("n1", history.Crashed))
	require.Equal(t, []string{"n1"}, order.Crash)
	order, _, _ = c.order(proc("n1", history.Down))
	require.Empty(t, order.Crash)
}

func TestCannot(t *testing.T) {
	c := &Cluster{names: []string{"n1", "n2"}, nodes: map[string]*node{"n1": {}, "n2": {}}, loop: newLoop()}
	c.engine = &Engine{version: types.Version{Arch: "riscv64"}}
	c.means.Missing = map[string]string{"lose packets": "no dice", "delay packets": "no queue", "share out processors": "no groups", "limit memory": "no groups"} // an old kernel
	lossy := link("n1", "n2", false)
	lossy.Loss = 0.1
	slow := link("n1", "n2", false)
	slow.Delay = time.Second
	for _, tt := range []struct {
		change history.Changes
		want   string
	}{
		{links(lossy), "link n1→n2: this kernel cannot lose packets: no dice"},
		{links(slow), "link n1→n2: this kernel cannot delay packets: no queue"},
		{history.ChangesOf(history.Trap{Node: "n1", TrapState: history.TrapState{Do: history.Finish, On: history.Sends}}),
			"no packet can be waited for: this kernel cannot delay packets: no queue"},
		{links(link("n1", "n3", true)), `unknown node "n3"`},
		{links(link("n1", "n1", true)), "n1 has no link to itself"},
		{proc("n9", history.Down), `unknown node "n9"`},
		{proc("n1", "asleep"), `the process of n1 cannot be "asleep": want up, down, stopped, crashed, paused or frozen`},
		{clocks(history.Clock{Node: "n9"}), `unknown node "n9"`},
		{history.ChangesOf(history.Memory{Node: "n9", Times: 1}), `unknown node "n9"`},
		{history.ChangesOf(history.Memory{Node: "n1", Times: 1}), "this engine's machine cannot limit memory: no groups"},
		{throttled("n9", 0.1), `unknown node "n9"`},
		{throttled("n1", 0.005), "the processor of n1: Linux gives it 1ms of each 100ms or more, which is 1%"},
		{throttled("n1", 0.1), "this engine's machine cannot share out processors: no groups"},
		{clocks(history.Clock{Node: "n1"}),
			"clock of n1: clocks can be skewed on amd64 and arm64 only, and this engine's machine is riscv64"},
	} {
		require.EqualError(t, c.Can(tt.change), tt.want)
		var e history.Effect
		c.Apply(tt.change, func(is history.Effect) { e = is })
		require.NoError(t, c.Run(t.Context(), 0))
		require.Equal(t, history.Fail, e.Seen)
		require.EqualError(t, e.Err, tt.want)
	}
	require.NoError(t, c.Can(links(link("n1", "n2", true))))
}

// A container that cannot start is the node's own trouble: it is down, and the run goes on.
func TestWhatDoesNotStartEndsNoRun(t *testing.T) {
	c := up(t, engine(t), runID(t), 1)
	exits := 0
	c.OnExit(func(string, int) { exits++ })
	relaunch := func(what Container) {
		t.Helper()
		requireSeen(t, c, proc("n1", history.Down))
		var err error
		done := false
		c.Relaunch("n1", what, func(e error) { err, done = e, true })
		run(t, c, func() bool { return done })
		require.NoError(t, err)
	}
	nothing := memberContainer(c)
	nothing.Command = []string{"/nosuch"}
	relaunch(nothing)
	for range 2 {
		e := apply(t, c, proc("n1", history.Up))
		require.Equal(t, history.Fail, e.Seen)
		require.ErrorContains(t, e.Err, "/nosuch")
	}
	relaunch(memberContainer(c))
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	require.Zero(t, exits)
}

// A node may be healed that was never launched.
func TestHealingANodeThatWasNeverLaunched(t *testing.T) {
	c := open(t, engine(t), runID(t), 1)
	heal := proc("n1", history.Up)
	heal.Add(history.Memory{Node: "n1"})
	e := apply(t, c, heal)
	require.ErrorContains(t, e.Err, "n1 was never launched")
}
