package docker

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/testalone"
)

func disks(node string, s history.DiskState) history.Changes {
	return history.Changes{Disks: []history.Disk{{Node: node, DiskState: s}}}
}

// healed is what heals a disk and starts again what ended over it.
func healed(node string) history.Changes {
	c := disks(node, history.DiskState{})
	c.Procs = proc(node, history.Up).Procs
	return c
}

// onDisks is a cluster whose nodes are on disks that can fail.
func onDisks(t testing.TB, n int) *Cluster {
	t.Helper()
	c := open(t, engine(t), runID(t), n, func(c *Config) { c.Disks = true })
	launch(t, c)
	return c
}

// slept is how long a sync took, and its outcome.
func slept(t testing.TB, c *Cluster, node string) (took time.Duration, outcome string) {
	_, err := fmt.Sscanf(tell(t, c, node, "disk sync"), "%d %s", &took, &outcome)
	require.NoError(t, err)
	return took, outcome
}

func TestDisksFail(t *testing.T) {
	c := onDisks(t, 2)
	require.Equal(t, "ok", tell(t, c, "n1", "disk grow"))
	for _, fault := range []struct {
		state history.DiskState
		feels map[string]string
	}{
		{history.DiskState{Full: true}, map[string]string{"grow": "ENOSPC", "over": "ok", "read": "ok"}},
		{history.DiskState{WriteErrors: 1}, map[string]string{"grow": "EIO", "over": "EIO", "read": "ok"}},
		{history.DiskState{SyncErrors: 1}, map[string]string{"sync": "EIO", "over": "ok", "read": "ok"}},
		{history.DiskState{ReadErrors: 1}, map[string]string{"read": "EIO", "over": "ok"}},
	} {
		requireSeen(t, c, disks("n1", fault.state))
		requireState(t, c, disks("n1", fault.state))
		for what, want := range fault.feels {
			got := tell(t, c, "n1", "disk %s", what)
			require.Contains(t, got, want, "%v: %s", fault.state, what)
			require.Equal(t, "ok", tell(t, c, "n2", "disk grow"), "another's disk is well")
		}
		for range 2 { // to heal twice is harmless
			requireSeen(t, c, healed("n1"))
			requireState(t, c, history.Changes{})
		}
		for _, what := range []string{"grow", "over", "sync", "read"} {
			require.Contains(t, tell(t, c, "n1", "disk %s", what), "ok", "%v healed: %s", fault.state, what)
		}
	}
	const slow = 300 * time.Millisecond
	requireSeen(t, c, disks("n1", history.DiskState{Slow: slow}))
	took, outcome := slept(t, c, "n1")
	require.Equal(t, "ok", outcome)
	require.GreaterOrEqual(t, took, slow)
	requireSeen(t, c, disks("n1", history.DiskState{SyncErrors: 0.5}))
	outcomes := map[string]bool{}
	for range 100 {
		_, outcome := slept(t, c, "n1")
		outcomes[outcome] = true
	}
	require.Equal(t, map[string]bool{"ok": true, "EIO": true}, outcomes)
	requireSeen(t, c, healed("n1"))
}

// Of a disk that is not used nobody can tell whether what it does changes anything.
func TestADiskThatIsNotUsedHurtsNobody(t *testing.T) {
	c := open(t, engine(t), runID(t), 2, func(c *Config) { c.Disks = true })
	idle, member := memberContainer(c), memberContainer(c)
	idle.Command = []string{SelfPath, "idle"}
	member.Dir = "/data/place"
	require.NoError(t, c.Launch(t.Context(), map[string]Container{"n1": idle, "n2": member}))
	eventually(t, c, "n2")
	require.Equal(t, "/data/place", tell(t, c, "n2", "where"))
	full := func(node string) history.Changes { return disks(node, history.DiskState{Full: true}) }
	e := apply(t, c, full("n1"))
	require.Equal(t, history.Info, e.Seen)
	require.ErrorContains(t, e.Err, "disk of n1: nothing on it was ever read or written")
	both := full("n1")
	both.Procs = proc("n2", history.Down).Procs
	require.Equal(t, proc("n2", history.Down), apply(t, c, both).Found)
	requireSeen(t, c, disks("n1", history.DiskState{}))
	requireSeen(t, c, proc("n2", history.Up))
	eventually(t, c, "n2")
	requireSeen(t, c, full("n2"))
}

func TestACrashLosesWhatWasNotSynced(t *testing.T) {
	c := onDisks(t, 2)
	require.Equal(t, "ok", tell(t, c, "n1", "write kept sync"))
	require.Equal(t, "ok", tell(t, c, "n1", "disk grow"))
	requireSeen(t, c, proc("n1", history.Down))
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	require.Contains(t, tell(t, c, "n1", "disk list"), "grown", "a process that dies loses nothing")
	require.Equal(t, "ok", tell(t, c, "n1", "disk rename"))
	require.Equal(t, "renamed", tell(t, c, "n1", "read"))
	require.Equal(t, "ok", tell(t, c, "n1", "disk map"))

	for range 2 { // of what is down as well
		requireSeen(t, c, proc("n1", history.Crashed))
	}
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	require.Equal(t, "kept", tell(t, c, "n1", "read"), "what was synced is there, and what nothing made last is undone")
	require.NotContains(t, tell(t, c, "n1", "disk list"), "grown")
	left := strings.ReplaceAll(tell(t, c, "n1", "disk mapped"), `\x00`, "")
	require.Equal(t, `"written synced" ok`, left)
	require.Equal(t, "ok", tell(t, c, "n1", "disk map"), "the machine's next life maps files too")
}

func TestAWipedDiskIsEmpty(t *testing.T) {
	c := onDisks(t, 2)
	require.Equal(t, "ok", tell(t, c, "n1", "write kept sync"))
	wipe := disks("n1", history.DiskState{Wiped: true})
	wipe.Procs = proc("n1", history.Crashed).Procs
	requireSeen(t, c, wipe)
	requireSeen(t, c, healed("n1"))
	eventually(t, c, "n1")
	require.Empty(t, tell(t, c, "n1", "read"))
	require.Equal(t, "ok", tell(t, c, "n1", "write new sync"))
	requireSeen(t, c, proc("n1", history.Crashed))
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	require.Equal(t, "new", tell(t, c, "n1", "read"))
}

// A process that waits for a disk that is all too slow can be killed.
func TestAProcessThatWaitsForItsDiskDies(t *testing.T) {
	c := onDisks(t, 1)
	requireSeen(t, c, disks("n1", history.DiskState{Slow: time.Hour}))
	conn, err := c.Dial(t.Context(), "n1", 7000)
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintln(conn, "disk sync")
	require.NoError(t, err)
	requireSeen(t, c, proc("n1", history.Down))
	requireSeen(t, c, healed("n1"))
	eventually(t, c, "n1")
}

// A disk that made its node end is healed, and the node with it.
func TestWhatADiskMadeEndStartsAgain(t *testing.T) {
	c := onDisks(t, 1)
	exits := 0
	c.OnExit(func(string, int) { exits++ })
	requireSeen(t, c, disks("n1", history.DiskState{Full: true}))
	conn, err := c.Dial(t.Context(), "n1", 7000)
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintln(conn, "exit 255")
	require.NoError(t, err)
	run(t, c, func() bool { return exits == 1 })
	requireSeen(t, c, healed("n1"))
	eventually(t, c, "n1")
	requireState(t, c, history.Changes{})
}

// One that dies of what its disk did before it was healed starts again, too.
func TestWhatEndsJustAfterItsDiskIsHealedStartsAgain(t *testing.T) {
	c := onDisks(t, 1)
	exits := 0
	c.OnExit(func(string, int) { exits++ })
	requireSeen(t, c, disks("n1", history.DiskState{SyncErrors: 1}))
	requireSeen(t, c, healed("n1"))
	conn, err := c.Dial(t.Context(), "n1", 7000)
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintln(conn, "exit 255")
	require.NoError(t, err)
	run(t, c, func() bool { return exits == 1 })
	run(t, c, func() bool {
		s, err := c.State(t.Context())
		return err == nil && s.Empty()
	})
}

// What a crash has left is nothing that a disk fails at: who ends over it is not started again.
func TestWhatEndsOverWhatACrashLeftStaysDown(t *testing.T) {
	c := onDisks(t, 1)
	var ended *life
	c.OnExit(func(string, int) { ended = c.nodes["n1"].life })
	lost := disks("n1", history.DiskState{Scattered: true})
	lost.Procs = proc("n1", history.Crashed).Procs
	requireSeen(t, c, disks("n1", history.DiskState{Scattered: true}))
	requireSeen(t, c, lost)
	requireSeen(t, c, healed("n1"))
	eventually(t, c, "n1")
	conn, err := c.Dial(t.Context(), "n1", 7000)
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintln(conn, "exit 1")
	require.NoError(t, err)
	run(t, c, func() bool { return ended != nil })
	wait, leave := stand([]*queue{&c.nodes["n1"].changes})
	wait()
	leave()
	require.Same(t, ended, c.nodes["n1"].life, "it was started again")
}

func TestDisksThatCannotFailAreNotAskedTo(t *testing.T) {
	c := up(t, engine(t), runID(t), 1)
	require.ErrorContains(t, c.Can(disks("n1", history.DiskState{Full: true})), "not on disks that can fail")
	require.ErrorContains(t, c.Can(disks("n2", history.DiskState{Full: true})), `unknown node "n2"`)
}

// The whole run is killed, agent first, so that nobody unmounts its disks: Clean does.
func TestCleanUnmountsDisks(t *testing.T) {
	testalone.Wait(t)
	e := engine(t)
	dead := runID(t)
	process := exec.Command(os.Args[0], memberImage(t, e), "disks")
	process.Env = append(os.Environ(), beHarness+"="+dead)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "up\n", line)
	require.NoError(t, e.api.ContainerKill(t.Context(), "recount-"+dead+"-agent", "KILL"))
	require.NoError(t, process.Process.Kill())
	require.Error(t, process.Wait())

	go func() { // it may take its time over what other runs have left
		for t.Context().Err() == nil {
			e.Clean(t.Context(), false)
		}
	}()
	require.Eventually(t, func() bool {
		containers, rest, err := e.things(t.Context(), dead)
		return err == nil && len(containers)+len(rest) == 0
	}, within, 100*time.Millisecond)
}
