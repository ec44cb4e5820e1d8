package docker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// beats is a cluster in which n1 has a part, a process that sends n2 datagrams; beating tells whether they come.
func beats(t *testing.T) (c *Cluster, part func(history.ProcState) history.Changes, beating func() bool) {
	t.Helper()
	c = open(t, engine(t), runID(t), 2, func(cfg *Config) { cfg.Processes = map[string]string{"beat": ` beat `} })
	launch(t, c)
	tell(t, c, "n1", "beat %s", address(c, "n2"))
	part = func(s history.ProcState) (change history.Changes) {
		change.Add(history.Part{Node: "n1", Process: "beat", State: s})
		return change
	}
	beating = func() bool {
		before := tell(t, c, "n2", "beats")
		time.Sleep(50 * time.Millisecond)
		return tell(t, c, "n2", "beats") != before
	}
	require.Eventually(t, beating, within, time.Millisecond)
	return c, part, beating
}

// A part of a node and the whole of it are paused by two faults, which end in either order.
func TestAPartOfANodeThatStandsStill(t *testing.T) {
	c, part, beating := beats(t)
	for _, whole := range []history.ProcState{history.Paused, history.Frozen} {
		requireSeen(t, c, part(history.Paused))
		requireState(t, c, part(history.Paused))
		requireSeen(t, c, proc("n1", whole))
		both := proc("n1", whole)
		both.Add(part(history.Paused).Parts()[0])
		requireState(t, c, both)
		requireSeen(t, c, part(history.Up))
		require.False(t, beating(), "its node stands still")
		requireState(t, c, proc("n1", whole))
		requireSeen(t, c, proc("n1", history.Up))
		require.Eventually(t, beating, within, time.Millisecond)

		requireSeen(t, c, proc("n1", whole))
		requireSeen(t, c, part(history.Paused))
		requireSeen(t, c, proc("n1", history.Up))
		requireState(t, c, part(history.Paused))
		require.False(t, beating(), "it stands still by itself")
		requireSeen(t, c, part(history.Up))
		require.Eventually(t, beating, within, time.Millisecond)
		requireState(t, c, history.Changes{})
	}
}

// A part that stands still ends with its node, and what is born of it later runs. Its pause is what it was until it is healed: there is
// nothing that could have gone on.
func TestAPartOfANodeThatEnds(t *testing.T) {
	c, part, beating := beats(t)
	requireSeen(t, c, part(history.Paused))
	requireSeen(t, c, proc("n1", history.Down))
	both := proc("n1", history.Down)
	both.Add(part(history.Paused).Parts()[0])
	requireState(t, c, both)
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	requireState(t, c, part(history.Paused))
	tell(t, c, "n1", "beat %s", address(c, "n2"))
	require.Eventually(t, beating, within, time.Millisecond)
	requireState(t, c, part(history.Paused))
	requireSeen(t, c, part(history.Up))
	requireState(t, c, history.Changes{})

	requireSeen(t, c, part(history.Paused))
	requireSeen(t, c, proc("n1", history.Down))
	requireSeen(t, c, part(history.Up))
	requireState(t, c, proc("n1", history.Down))
	requireSeen(t, c, proc("n1", history.Up))
	requireState(t, c, history.Changes{})
}

// A part that is killed ends again whenever somebody starts it, also in the node's next life, until it is healed. The others live on.
func TestAPartOfANodeThatIsKilled(t *testing.T) {
	c, part, beating := beats(t)
	starts := func() { tell(t, c, "n1", "beat %s", address(c, "n2")) }
	requireSeen(t, c, part(history.Down))
	requireState(t, c, part(history.Down))
	require.False(t, beating())
	starts()
	require.Eventually(t, func() bool { return !beating() }, within, time.Millisecond)
	requireState(t, c, part(history.Down))

	both := proc("n1", history.Down)
	both.Add(part(history.Down).Parts()[0])
	requireSeen(t, c, proc("n1", history.Down))
	requireState(t, c, both)
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	starts()
	require.Eventually(t, func() bool { return !beating() }, within, time.Millisecond)
	requireState(t, c, part(history.Down))

	requireSeen(t, c, part(history.Up))
	requireState(t, c, history.Changes{})
	starts()
	require.Eventually(t, beating, within, time.Millisecond)
	for range 4 { // for longer than it takes to see that it runs
		require.True(t, beating())
	}
}
