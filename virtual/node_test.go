package virtual

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/virtual/overlay"
	"recount/virtual/wire"
)

// ran is a cluster whose nodes run testdata/node, each told to do one thing.
type ran struct {
	*Cluster
	t    *testing.T
	path string
	said map[string][]string // the lines of each node
}

func runs(t *testing.T, does ...string) *ran {
	t.Helper()
	path, err := overlay.Build(t.Context(), overlay.Program{Dir: ".", Package: "./testdata/node"}, func(line string) { t.Log(line) })
	require.NoError(t, err)
	names := []string{"n1", "n2", "n3"}[:len(does)]
	c, err := Open(Config{Nodes: names, Seed: 1, Disks: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	r := &ran{c, t, path, map[string][]string{}}
	programs := map[string][]Program{}
	for i, name := range names {
		programs[name] = r.does(does[i])
		c.Logs(name, func(line string) { r.said[name] = append(r.said[name], line) })
	}
	require.NoError(t, c.Launch(programs))
	return r
}

func (r *ran) does(what string) []Program {
	return []Program{{Path: r.path, Args: strings.Fields(what), Data: "/data"}}
}

func (r *ran) until(at time.Duration) {
	r.t.Helper()
	require.NoError(r.t, r.Run(r.t.Context(), at))
}

// imposes applies states, and returns a function that tells whether they have taken effect.
func (r *ran) imposes(all ...history.State) (answered func() bool) {
	r.t.Helper()
	over := false
	r.Apply(history.ChangesOf(all...), func(e history.Effect) {
		require.NoError(r.t, e.Err)
		require.False(r.t, over, "it is told once")
		over = true
	})
	return func() bool { return over }
}

// crashed has a node's machine die at this instant, and returns what is on its disk after that.
func (r *ran) crashed(node string) []string {
	r.t.Helper()
	r.imposes(history.Proc{Node: node, State: history.Crashed})
	require.NoError(r.t, r.Relaunch(node, r.does("list")))
	r.said[node] = nil
	r.imposes(history.Proc{Node: node, State: history.Up})
	r.until(r.Now() + time.Second)
	return r.said[node]
}

// A process finds in its environment what one in a container does, and what its own says in its place.
func TestTheEnvironmentIsAContainers(t *testing.T) {
	c := runs(t, "environment", "list")
	c.until(time.Second)
	path := "PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	require.Equal(t, []string{"HOME /", "HOSTNAME n1", path, "OF_ITS_OWN "}, c.said["n1"])
	program := c.does("environment")
	program[0].Env = []string{"HOME=/data", "OF_ITS_OWN=yes"}
	c.imposes(history.Proc{Node: "n2", State: history.Down})
	require.NoError(t, c.Relaunch("n2", program))
	c.imposes(history.Proc{Node: "n2", State: history.Up})
	c.until(2 * time.Second)
	require.Equal(t, []string{"HOME /data", "HOSTNAME n2", path, "OF_ITS_OWN yes"}, c.said["n2"])
}

// A process begins in the folder that its program names, which is made for it, and in the root if it names none.
func TestWhereAProcessBegins(t *testing.T) {
	c := runs(t, "list")
	where := c.does("where")
	for dir, says := range map[string][]string{"/work/place": {"/work/place <nil>", "/work/place/own: one"}, "/../work": {"/work <nil>", "/work/own: one"}} {
		c.imposes(history.Proc{Node: "n1", State: history.Down})
		where[0].Dir = dir
		require.NoError(t, c.Relaunch("n1", where))
		c.said["n1"] = nil
		c.imposes(history.Proc{Node: "n1", State: history.Up})
		c.until(c.Now() + time.Second)
		require.Subset(t, c.said["n1"], says)
	}
}

// Nodes that are started again together are up one after the other, as containers are; one alone is up at once.
func TestWhichNodeIsUpFirstIsAMatterOfChance(t *testing.T) {
	c := runs(t, "list", "list", "list")
	c.until(time.Second)
	began := map[time.Duration]string{}
	c.OnStart(func(l *Life) { began[c.Now()] = l.n.name })
	every := func(state history.ProcState) (all []history.State) {
		for _, node := range []string{"n1", "n2", "n3"} {
			all = append(all, history.Proc{Node: node, State: state})
		}
		return all
	}
	c.imposes(every(history.Down)...)
	answered := c.imposes(every(history.Up)...)
	require.False(t, answered())
	c.until(c.Now() + risingWithin)
	require.True(t, answered())
	require.Len(t, began, 3, "each at a time of its own")
	c.imposes(history.Proc{Node: "n2", State: history.Down})
	c.imposes(history.Proc{Node: "n2", State: history.Up})
	require.Equal(t, "n2", began[c.Now()])

	c.imposes(history.Proc{Node: "n1", State: history.Paused}, history.Proc{Node: "n2", State: history.Down})
	c.until(c.Now() + time.Second)
	require.True(t, c.imposes(history.Proc{Node: "n1", State: history.Up}, history.Proc{Node: "n2", State: history.Up})(), "who goes on is not started")
	require.Equal(t, "n2", began[c.Now()])
}

// Of a disk that is not used nobody can tell whether what it does changes anything, until the node begins to use it.
func TestADiskThatIsNotUsedHurtsNobody(t *testing.T) {
	c := runs(t, "environment", "failed-sync")
	c.until(1500 * time.Millisecond)
	slow := func(node string) history.State {
		return history.Disk{Node: node, DiskState: history.DiskState{Slow: time.Second}}
	}
	var seen history.Effect
	c.Apply(history.ChangesOf(slow("n1"), history.Proc{Node: "n2", State: history.Paused}), func(e history.Effect) { seen = e })
	require.Equal(t, history.Info, seen.Seen)
	require.ErrorContains(t, seen.Err, "n1: it has never written anything to its disk")
	require.Equal(t, history.ChangesOf(history.Proc{Node: "n2", State: history.Paused}), seen.Found)
	c.imposes(history.Disk{Node: "n1"}, slow("n2"))
}

// A file lives for as long as it has a name, and what is written to it while it is open is its own, whatever its names are by then.
func TestHardLinks(t *testing.T) {
	c := runs(t, "links")
	c.until(time.Second)
	files := []string{"/data/fourth: gone and over", "/data/third: one two three four"}
	require.Equal(t, files, c.said["n1"])
	require.Equal(t, files, c.crashed("n1"))
}

func TestAnExchangeOfNames(t *testing.T) {
	errs := []string{"no such file or directory", "file exists"}
	c := runs(t, "exchange synced", "exchange not")
	c.until(time.Second)
	after := []string{"/data/empty/inside: in", "/data/x: newer", "/data/y: older"}
	require.Equal(t, append(errs, after...), c.said["n1"])
	require.Equal(t, append(errs, "/data/empty/inside: in", "/data/x: new", "/data/y: old"), c.said["n2"])
	require.Equal(t, after, c.crashed("n1"))
	require.Equal(t, []string{"/data/full/inside: in", "/data/x: old", "/data/y: new"}, c.crashed("n2"), "neither is lost, nor half of it done")
}

// As on Linux, what a sync failed to write is read as if it were there, no later sync writes it, and a crash takes it.
func TestASyncThatFails(t *testing.T) {
	c := runs(t, "failed-sync")
	c.until(1500 * time.Millisecond)
	c.imposes(history.Disk{Node: "n1", DiskState: history.DiskState{SyncErrors: 1}})
	c.until(2500 * time.Millisecond)
	c.imposes(history.Disk{Node: "n1"})
	c.until(4 * time.Second)
	require.Equal(t, []string{"sync 1 <nil>", "sync 2 input/output error", "sync 3 <nil>", "/data/log: page 0page 1page 2page 3"}, c.said["n1"])
	require.Equal(t, []string{"/data/log: page 0page 1page 3"}, c.crashed("n1"))
}

// Who changes what is being synced waits, and what he changes is not on disk by that sync. Nobody else waits.
func TestWhatIsDoneAmidASyncIsNotSyncedByIt(t *testing.T) {
	c := runs(t, "amid-syncs each", "amid-syncs all")
	c.until(time.Second)
	waits := "it took 500µs"
	require.Equal(t, []string{waits, "it took 0s", waits, waits, "<nil>"}, c.said["n1"])
	require.Equal(t, []string{waits}, c.said["n2"])
	require.Equal(t, []string{"/data/log: one two ", "/data/other: one "}, c.crashed("n1"))
	require.Equal(t, []string{"/data/log: one two "}, c.crashed("n2"))
}

// What is written through memory is on disk once it is synced, in whatever way. The end of a process takes nothing of it.
func TestWhatIsWrittenThroughMemory(t *testing.T) {
	for _, some := range [][3]string{{"memory", "file", "everything"}, {"given-back", "moved", "written"}, {"shorter", "killed", "lost"}} {
		c := runs(t, "mapped "+some[0], "mapped "+some[1], "mapped "+some[2])
		c.until(time.Second)
		for i, how := range some {
			node, left := c.nodes[i].name, "synced-------- and far"
			switch how {
			case "written":
				left = "synced--over-- and far"
			case "shorter":
				left = "sync and far"
			case "lost":
				left = "--------------"
			case "killed":
				left = "synced, and not and far"
				c.imposes(history.Proc{Node: node, State: history.Down})
				require.NoError(t, c.Relaunch(node, c.does("synced")))
				c.imposes(history.Proc{Node: node, State: history.Up})
				c.until(c.Now() + time.Second)
			}
			require.Equal(t, []string{"/data/file: " + left}, c.crashed(node), how)
		}
	}
}

func TestAFileThatALinkLeadsTo(t *testing.T) {
	c := runs(t, "by-link")
	c.until(time.Second)
	require.Equal(t, []string{"/data/wal-1/log: through"}, c.crashed("n1"))
}

// Links that a node makes lead nowhere out of its folders, whatever they say.
func TestLinksStayWithinANodesFolders(t *testing.T) {
	machine := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(machine, "secret"), []byte("of the machine"), 0o644))
	c := runs(t, "outside "+machine)
	c.until(time.Second)
	const none = "no such file or directory"
	missed := []string{none, none, none, none, none, "true"}
	require.Equal(t, slices.Concat(missed, missed, []string{none, none, none, "true"}, []string{none, "operation not supported", "own <nil>", "own <nil>", "true <nil>", "too many levels of symbolic links"}), c.said["n1"])
	require.Contains(t, c.crashed("n1"), "/data/wal-1/log: through")
	left, err := os.ReadDir(machine)
	require.NoError(t, err)
	require.Len(t, left, 1)

	require.NoError(t, os.RemoveAll(filepath.Join(c.named("n1").root, "data")))
	require.NoError(t, os.Symlink(machine, filepath.Join(c.named("n1").root, "data")))
	require.ErrorContains(t, c.named("n1").place(), "the files of n1: ", "nor does Recount follow them")
}

// A log that is a file is read as what is printed is, through renaming, the ends of processes and crashes of the machine.
func TestALogThatIsAFile(t *testing.T) {
	c := runs(t, "list")
	c.until(time.Second)
	c.imposes(history.Proc{Node: "n1", State: history.Down})
	logs := c.does("log")
	logs[0].Log = "/data/log"
	require.NoError(t, c.Relaunch("n1", logs))
	c.said["n1"] = nil
	begins := func() {
		c.imposes(history.Proc{Node: "n1", State: history.Up})
		c.until(c.Now() + 500*time.Millisecond)
	}
	require.EqualError(t, c.Unlogged()["n1"], "/data/log is not there, or empty")
	begins()
	require.Equal(t, []string{"begins"}, c.said["n1"])
	c.until(c.Now() + time.Second)
	first := []string{"begins", "is not synced", "begins", "printed"}
	require.ElementsMatch(t, first, c.said["n1"])

	c.imposes(history.Proc{Node: "n1", State: history.Down})
	begins()
	require.Equal(t, []string{"begins"}, c.said["n1"][len(first):], "what was there before is not read again")
	c.imposes(history.Proc{Node: "n1", State: history.Crashed})
	require.Equal(t, []string{"begins", "is not "}, c.said["n1"][len(first):], "the line ended there")
	begins()
	require.Equal(t, []string{"begins", "is not ", "", "begins"}, c.said["n1"][len(first):], "what the crash has left is not read again")

	require.Empty(t, c.Unlogged())
	dir := t.TempDir()
	require.NoError(t, c.SaveLogs(dir))
	log, err := os.ReadFile(filepath.Join(dir, "n1.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "is not synced\nbegins\n")
}

// A line that does not end fills no memory: it is read in pieces.
func TestALineWithoutEnd(t *testing.T) {
	c := runs(t, "endless-line")
	var told []string
	c.config.Tell = func(line string) { told = append(told, line) }
	c.until(time.Second)
	require.Len(t, c.said["n1"], 2)
	for _, piece := range c.said["n1"] {
		require.InDelta(t, maxLine, len(piece), wire.MaxData)
	}
	require.Contains(t, told, "n1: its log has a line of more than 1 MiB, which is read in pieces")
}

// A server that writes the same line for as long as it runs fills no memory.
func TestTheLogOfANodeHasAnEnd(t *testing.T) {
	c := runs(t, "endless-line")
	c.nodes[0].keeps(0).Room = 3 // it has written so much before
	c.until(time.Second)
	dir := t.TempDir()
	require.NoError(t, c.SaveLogs(dir))
	log, err := os.ReadFile(filepath.Join(dir, "n1.log"))
	require.NoError(t, err)
	require.Equal(t, "xxx\n[recount: the log goes on for 2621437 bytes that are left out: no more than 256 MiB are kept of each]\n", string(log))
	require.NotEmpty(t, c.said["n1"], "lines are told all the same")
}

func TestARemovedFolderHasNoFiles(t *testing.T) {
	c := runs(t, "removed-folder")
	c.until(time.Second)
	require.Equal(t, []string{"no such file or directory"}, c.said["n1"])
}

// A hole that is not made is not said to be there.
func TestHolesAreRefused(t *testing.T) {
	c := runs(t, "holes")
	c.until(time.Second)
	require.Equal(t, []string{"operation not supported", "<nil>", "/data/file: full"}, c.said["n1"])
}

// A socket that nobody reads from has room for so many datagrams as on Linux, whether its process does other things or stands still.
func TestDatagramsThatNobodyReadsAreDropped(t *testing.T) {
	for _, pauses := range []bool{false, true} {
		c := runs(t, "hear", "tell 2000 1000", "tell 2000 1000")
		if pauses {
			c.until(500 * time.Millisecond)
			c.imposes(history.Proc{Node: "n1", State: history.Paused})
			c.until(5 * time.Second)
			require.LessOrEqual(t, len(c.nodes[0].procs[0].inbox), wire.MaxReceiveRoom/wire.Taken(1000))
			c.imposes(history.Proc{Node: "n1", State: history.Up})
		}
		c.until(25 * time.Second)
		require.Equal(t, []string{"92", "0"}, c.said["n1"])
	}
}

// Nobody listens: who has named whom it sends to is told so, as often as Linux tells it, and nobody else.
func TestDatagramsThatNobodyTakesAreRefused(t *testing.T) {
	c := runs(t, "unheard 127.0.0.1:5001", "unheard n1:5001")
	c.until(10 * time.Second)
	rest := []string{"<nil>", "connection refused", "<nil>", "true"}
	require.Equal(t, append([]string{"20 of 20"}, rest...), c.said["n1"])
	require.Equal(t, append([]string{"7 of 20"}, rest...), c.said["n2"])
	out, err := exec.Command(c.path, "unheard", "127.0.0.1:5001", "and no more").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, c.said["n1"], strings.Split(strings.TrimSpace(string(out)), "\n"), "it is what the kernel does")
}

// Servers of QUIC read and write many datagrams by one call.
func TestManyDatagramsByOneCall(t *testing.T) {
	c := runs(t, "batch")
	c.until(time.Second)
	from := " true"
	require.Equal(t, []string{"3 <nil> 4 6", "2 <nil>", `"one!"` + from, `"three!"` + from, "1 <nil>", `"!"` + from}, c.said["n1"])
	out, err := exec.Command(c.path, "batch", "and no more").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, c.said["n1"], strings.Split(strings.TrimSpace(string(out)), "\n"), "it is what the kernel does")
}

// What calls of pipes and sockets answer, who hears what is sent to a group, and who may share a port, is as on Linux.
func TestPipesAndSocketsDoAsTheKernels(t *testing.T) {
	for _, what := range []string{"sockets", "groups", "shared"} {
		c := runs(t, what)
		c.until(10 * time.Second)
		out, err := exec.Command(c.path, what, "and no more").CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, strings.Split(strings.TrimSpace(string(out)), "\n"), c.said["n1"], what)
	}
}

// What is sent to a group is heard on each machine that has joined it, and what is sent to all on each, its own too; over links that are not
// cut.
func TestNodesHearGroupsAndWhatIsSentToAll(t *testing.T) {
	c := runs(t, "gossip n1", "gossip n2", "gossip n3")
	c.until(500 * time.Millisecond)
	c.imposes(history.Link{From: "n3", To: "n1", LinkState: history.LinkState{Cut: true}})
	c.until(5 * time.Second)
	require.Equal(t, []string{"n2", "n1 to all, n1 to all, n2 to all, n2 to all", "n2"}, c.said["n1"])
	all := "n1 to all, n1 to all, n2 to all, n2 to all, n3 to all, n3 to all"
	require.Equal(t, []string{"n1, n3", all, ""}, c.said["n2"])
	require.Equal(t, []string{"n1, n2", all, "n1, n2"}, c.said["n3"])
}

// What a node sends to a group counts for a trap as what it sends to one node does, and it hears what others send.
func TestATrapOnWhatIsSentToAGroup(t *testing.T) {
	for _, on := range []history.TrapOn{history.Sends, history.Receives} {
		c := runs(t, "gossip n1", "gossip n2", "gossip n3")
		c.until(500 * time.Millisecond)
		c.imposes(history.Trap{Node: "n2", ID: 1, TrapState: history.TrapState{Do: history.Finish, On: on}})
		c.until(1200 * time.Millisecond)
		require.False(t, c.nodes[1].runs(), on)
	}
}

// The name server knows the nodes, and of all others that there are none. Who asks it in a way of his own is let.
func TestNamesAreAskedFor(t *testing.T) {
	c := runs(t, "names", "list")
	c.until(5 * time.Second)
	none := "[] true"
	known := []string{"[10.9.0.2] false", none, none, none, none, none, "[n2] false", "[10.9.0.2] false"}
	require.Equal(t, slices.Concat(known, known, []string{"true", "127.0.0.11"}), c.said["n1"])
}

// A backlog is of connections that wait to be taken: 128 for Go's own listeners. Those that were taken stay open for as long as they like.
func TestAListenerHasMoreConnectionsThanItsBacklog(t *testing.T) {
	c := runs(t, "take 4", "give 300 four")
	c.until(5 * time.Second)
	require.Equal(t, []string{"300 connections"}, c.said["n2"])
}

// The kernel of a process that ends tells its peers so. It resets those alone who sent what it has not read.
func TestAProcessEndsWithAFINWhereItHasReadAll(t *testing.T) {
	for _, state := range []history.ProcState{history.Down, history.Stopped} {
		c := runs(t, "take 4", "give 2 four", "give 2 fives")
		c.until(2 * time.Second)
		c.imposes(history.Proc{Node: "n1", State: state})
		c.until(3 * time.Second)
		require.Equal(t, []string{"2 connections", "EOF", "EOF"}, c.said["n2"], state)
		reset := "connection reset by peer"
		require.Equal(t, []string{"2 connections", reset, reset}, c.said["n3"], state)
	}
}

// The peers of a machine that crashed still have its connections. Its next life does not meet them, and connects at once.
func TestAMachineConnectsAgainAfterACrash(t *testing.T) {
	c := runs(t, "take 4", "give 1 four")
	c.until(2 * time.Second)
	c.imposes(history.Proc{Node: "n2", State: history.Crashed})
	c.imposes(history.Proc{Node: "n2", State: history.Up})
	c.until(c.Now() + 1500*time.Millisecond)
	require.Equal(t, []string{"1 connections", "1 connections"}, c.said["n2"])
}

// What has come while a process stood still may be more than can be handed to it at once.
func TestMoreThanFitsIntoAGrant(t *testing.T) {
	c := runs(t, "hear")
	c.until(time.Second)
	p := c.nodes[0].procs[0]
	for range 2 * wire.Area / wire.MaxData {
		p.tell(wire.Data, 1000, make([]byte, wire.MaxData)) // of a socket that is closed meanwhile
	}
	c.until(2 * time.Second)
	require.Empty(t, p.inbox)
	require.True(t, c.nodes[0].runs())
}

// Who asks a process to end is answered when it has ended, by whatever.
func TestAStopOfAProcessThatIsEndedByAnother(t *testing.T) {
	for name, fate := range map[string]history.ProcState{"killed": history.Down, "its machine crashes": history.Crashed} {
		t.Run(name, func(t *testing.T) {
			c := runs(t, "stubborn")
			c.until(time.Second)
			stopped := c.imposes(history.Proc{Node: "n1", State: history.Stopped})
			c.until(2 * time.Second)
			require.False(t, stopped())
			c.imposes(history.Proc{Node: "n1", State: fate})
			c.until(2 * time.Second)
			require.True(t, stopped(), "at once")
			c.until(20 * time.Second)
		})
	}
	t.Run("by a trap", func(t *testing.T) {
		c := runs(t, "stubborn", "tell 1 100")
		c.until(900 * time.Millisecond)
		c.imposes(history.Trap{Node: "n1", ID: 1, TrapState: history.TrapState{Do: history.Finish, On: history.Receives}})
		stopped := c.imposes(history.Proc{Node: "n1", State: history.Stopped})
		c.until(1500 * time.Millisecond)
		require.False(t, c.nodes[0].runs(), "the trap has sprung")
		require.True(t, stopped())
	})
	t.Run("by nobody", func(t *testing.T) {
		c := runs(t, "stubborn")
		c.until(time.Second)
		stopped := c.imposes(history.Proc{Node: "n1", State: history.Stopped})
		c.until(time.Second + stopWithin)
		require.True(t, stopped(), "it is killed in the end")
	})
}

// A program beside a node's own takes it along when it ends, as containers do that share their fate.
func TestAProgramBesideANodesOwnEndsTheNode(t *testing.T) {
	c := runs(t, "stubborn", "stubborn")
	exits := map[string]int{}
	c.OnExit(func(node string, code int) { exits[node] = code })
	c.until(time.Second)
	c.imposes(history.Proc{Node: "n1", State: history.Down})
	require.NoError(t, c.Relaunch("n1", append(c.does("stubborn"), c.does("exit 7 3s")...)))
	c.imposes(history.Proc{Node: "n1", State: history.Up})
	c.until(10 * time.Second)
	require.Equal(t, map[string]int{"n1": 7}, exits)
	require.False(t, c.nodes[0].runs())
	require.True(t, c.nodes[1].runs())
}

// A node that reads the clock in a loop lets a microsecond pass now and then. Somebody who waits for the run is to hear of that.
func TestANodeThatLetsNoTimePass(t *testing.T) {
	c := runs(t, "hear", "spin")
	var told []string
	c.config.Tell = func(line string) { told = append(told, line) }
	c.watch.patience = patience{told: 300 * time.Millisecond, ended: 2 * time.Second, looks: 100 * time.Millisecond}
	c.watch.tells = c.watch.told
	err := c.Run(t.Context(), time.Hour)
	var still *Standstill
	require.ErrorAs(t, err, &still)
	require.Equal(t, "n2", still.Node)
	require.Less(t, still.At, time.Minute)
	require.ErrorContains(t, err, "n2 lets no time pass")
	require.NotEmpty(t, told)
	for _, line := range told {
		require.Contains(t, line, "n2 hardly lets time pass: it has used ")
	}
	log, err := os.ReadFile(c.nodes[1].log(0))
	require.NoError(t, err)
	require.Contains(t, string(log), "main.network", "where it spins")
	require.True(t, c.nodes[0].runs())
}

// A stream of yamux looks at a closed channel in a loop until the session has closed it. What goes on in real time goes on here, too.
func TestWhoLooksAtChannelsInALoopLetsOthersGoOn(t *testing.T) {
	c := runs(t, "spin-for-another")
	c.watch.patience = patience{told: time.Second, ended: 5 * time.Second, looks: 100 * time.Millisecond}
	c.until(time.Second)
	require.Equal(t, slices.Repeat([]string{"it was done"}, 4), c.said["n1"])
}

func TestWhatIsRefusedIsTold(t *testing.T) {
	c := runs(t, "start")
	var refused []string
	c.OnRefused(func(node, what string) { refused = append(refused, node+" "+what) })
	c.until(time.Second)
	require.Equal(t, []string{"n1 to start /bin/true", "n1 to wait for descriptors by itself (select)", "n1 a timer that signals",
		"n1 a unix socket of datagrams", "n1 a unix socket of packets (unixpacket)", "n1 a unix socket of packets (unixpacket)", "n1 to hear a group of multicast from some senders alone", "n1 to change its addresses or routes"}, refused)
	require.Contains(t, c.said["n1"][0], "operation not permitted")
	require.Equal(t, []string{"function not implemented", "function not implemented",
		"protocol not supported", "protocol not supported", "protocol not supported", "protocol not available", "invalid argument"}, c.said["n1"][1:])
}
