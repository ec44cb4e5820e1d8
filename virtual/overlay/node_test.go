package overlay_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/virtual/process"
	"recount/virtual/wire"
)

// alone runs a program of testdata as the only node.
func alone(t *testing.T, program, what string, d time.Duration) *node {
	t.Helper()
	c := newCluster(t)
	n := c.add(process.Options{Path: build(t, program), Args: []string{what}, Files: true, Patience: 2 * time.Second})
	c.run(d)
	return n
}

func TestLoopsThatWaitForTimeSeeItCome(t *testing.T) {
	require.Equal(t, "10 ms are over\n", alone(t, "misc", "spin-time", time.Second).stdout())
	require.Equal(t, "done\n", alone(t, "misc", "spin-yield", time.Second).stdout())
}

// How many files a process may have open is the machine's affair: etcd tells it among its metrics.
func TestLimitsAreNotTheMachines(t *testing.T) {
	require.Equal(t, "<nil> 1048576 1048576\n", alone(t, "misc", "limits", time.Second).stdout())
}

// How many threads the runtime has made depends on real time: Prometheus' client tells it among its metrics.
func TestThreadsAreNotTheMachines(t *testing.T) {
	require.Equal(t, "1 false 1\n", alone(t, "misc", "threads", 3*time.Second).stdout())
}

// Of what the runtime tells of itself, what is set and what there is has a value that somebody may divide by. What is measured is nothing yet.
func TestWhatTheRuntimeTellsIsSensible(t *testing.T) {
	require.Equal(t, `/gc/gogc:percent 100
/gc/gomemlimit:bytes 9223372036854775807
/gc/heap/allocs:bytes 33554432
/gc/heap/allocs:objects 262144
/gc/heap/goal:bytes 67108864
/gc/heap/live:bytes 33554432
/gc/heap/objects:objects 262144
/gc/stack/starting-size:bytes 8192
/memory/classes/heap/free:bytes 33554432
/memory/classes/heap/objects:bytes 33554432
/memory/classes/total:bytes 67108864
/sched/gomaxprocs:threads 2
/sched/goroutines:goroutines 2
/sched/threads/total:threads 1
128 0
`, alone(t, "misc", "metrics", time.Second).stdout())
}

func TestAPairOfSockets(t *testing.T) {
	require.Equal(t, "<nil>\nhello <nil>\n", alone(t, "misc", "pair", 3*time.Second).stdout())
}

func TestAProgramWhoseMainCalledGoexitGoesOn(t *testing.T) {
	n := alone(t, "misc", "goexit", 3*time.Second)
	require.Equal(t, "still here\n", n.stdout())
	require.True(t, n.up)
}

// A go.mod that says go 1.22 or less sets asynctimerchan=1.
func TestTimersOfBeforeGo123(t *testing.T) {
	c := newCluster(t)
	n := c.add(process.Options{Path: build(t, "misc"), Args: []string{"old-timers"}, Env: []string{"GODEBUG=asynctimerchan=1"}})
	c.run(2 * time.Minute)
	require.Equal(t, "1 0s\n1m0.005s true 1\n", n.stdout())
}

func TestWatchdogEndsWhatNeverRests(t *testing.T) {
	c := newCluster(t)
	n := c.add(process.Options{Path: build(t, "misc"), Args: []string{"spin-forever"}, Patience: 300 * time.Millisecond, Stderr: new(strings.Builder)})
	c.run(time.Second)
	var stuck *process.Stuck
	require.ErrorAs(t, n.err, &stuck)
	require.Contains(t, stuck.What, "without coming to rest")
	require.Contains(t, stuck.Stacks, "main.main")
}

func TestSignals(t *testing.T) {
	c := newCluster(t)
	path := build(t, "misc")
	asks := c.add(process.Options{Path: path, Args: []string{"sigterm"}})
	not := c.add(process.Options{Path: path, Args: []string{"wait"}})
	c.run(time.Second)
	for _, n := range c.nodes {
		require.True(t, n.up)
		c.at(c.now, func() { n.deliver(wire.Signal, 0, wire.Put32(nil, uint32(syscall.SIGTERM))) })
	}
	c.run(time.Second)
	require.Equal(t, "got terminated\n", asks.stdout())
	require.Equal(t, 3, asks.ended.ExitCode())
	require.Equal(t, 128+int(syscall.SIGTERM), not.ended.ExitCode())
}

func TestASignalToTheGroupOfTheHarnessIsNotForNodes(t *testing.T) {
	c := newCluster(t)
	c.add(process.Options{Path: build(t, "misc"), Args: []string{"wait"}})
	children, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	nodes := 0
	for _, path := range children {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			require.NoError(t, err)
			if name, _ := os.ReadFile(filepath.Join("/proc", word, "comm")); string(name) == "misc\n" {
				nodes++
				group, err := syscall.Getpgid(pid)
				require.NoError(t, err)
				require.NotEqual(t, syscall.Getpgrp(), group)
			}
		}
	}
	require.NotZero(t, nodes)
}

func TestPanicEndsTheNode(t *testing.T) {
	c := newCluster(t)
	stderr := new(strings.Builder)
	n := c.add(process.Options{Path: build(t, "misc"), Args: []string{"panic"}, Stderr: stderr})
	c.run(time.Second)
	require.Equal(t, 2, n.ended.ExitCode())
	require.Contains(t, stderr.String(), "panic: on purpose")
}

func TestExecIsRefusedWithTheReason(t *testing.T) {
	n := alone(t, "misc", "exec", time.Second)
	require.Contains(t, n.stdout(), "operation not permitted")
	require.Equal(t, []string{"to start /bin/true"}, n.refused)
}

func TestMachineIsNotSeen(t *testing.T) {
	lines := strings.Split(alone(t, "misc", "who", time.Second).stdout(), "\n")
	require.Equal(t, "n1 1 0 / false true 2", lines[0])
	require.Equal(t, "[127.0.0.1/8 10.9.0.1/16] <nil>", lines[1])
	require.Equal(t, "[10.9.0.2] <nil>", lines[2])
	require.Len(t, lines[3], 16)
}

func TestNumbersOfTheProcessAreNotTheMachines(t *testing.T) {
	require.Equal(t, `group 1 1 <nil>
session 1 <nil>
another's no such process
priority 20 <nil>
cpu 0 0 errno 0
timer function not implemented
`, alone(t, "misc", "numbers", time.Second).stdout())
}

// Traces and profiles of the CPU are of real time: who wants one is told that there is none, and goes on.
func TestMeasuringIsRefusedWithTheReason(t *testing.T) {
	n := alone(t, "misc", "measures", 5*time.Second)
	const trace, profile = "not in virtual time: to trace its execution\n", "not in virtual time: to profile its CPU time\n"
	require.Equal(t, trace+trace+profile+"500 Could not enable CPU profiling: "+profile+"500 Could not enable tracing: "+trace+"0\n", n.stdout())
	require.Equal(t, []string{"to trace its execution", "to trace its execution", "to profile its CPU time", "to profile its CPU time", "to trace its execution"}, n.refused)
}

func TestPipesAndUnixSocketsStayInside(t *testing.T) {
	require.Equal(t, "through <nil>\n0 <nil>\n", alone(t, "misc", "pipe", 2*time.Second).stdout())
	n := alone(t, "misc", "unix", time.Second)
	require.Equal(t, "you said hello\n<nil>\ndial unix /tmp.sock: connect: no such file or directory\n", n.stdout())
	require.Equal(t, "ping <nil>\n", alone(t, "misc", "unix-shut", time.Second).stdout())
}

func TestIPv6IsRefusedCleanly(t *testing.T) {
	out := alone(t, "misc", "ipv6", time.Second).stdout()
	require.Equal(t, 2, strings.Count(out, "cannot assign requested address"), out)
	require.Contains(t, out, "[::]:5000 <nil>")
	require.Contains(t, out, "address already in use")
}

func TestHTTPBetweenNodes(t *testing.T) {
	c := newCluster(t)
	for range 2 {
		c.add(process.Options{Path: build(t, "misc"), Args: []string{"http"}})
	}
	c.run(3 * time.Second)
	for _, n := range c.nodes {
		require.Equal(t, "n1 says /a <nil>\nn2 says /b <nil>\n"+n.name+" says /c <nil>\nGet \"http://n2:81/\": dial tcp 10.9.0.2:81: connect: connection refused\ntrue\n", n.stdout())
	}
}

func TestConnectionsEndAsTheyDo(t *testing.T) {
	n := alone(t, "misc", "tcp", 10*time.Second)
	require.Equal(t, `half-close: last words <nil>
half-close: answer <nil>
deadline: true 150ms
reset: true
reset: true
write: 20971520 <nil>
read: 20971520 <nil>
closed: true
refused: true
nobody: true
`, n.stdout())
	require.EqualValues(t, 1, n.options[wire.NoDelay])
	require.EqualValues(t, 15*time.Second, n.options[wire.KeepAliveIdle])
}

// Who asks for any port is given Linux' own, each in turn. Which comes first is drawn.
func TestPortsBeginAnywhere(t *testing.T) {
	begins := func(seed uint64) string {
		c := newCluster(t)
		n := c.add(process.Options{Path: build(t, "misc"), Args: []string{"ports"}, Seed: seed})
		c.run(time.Second)
		first, rest, _ := strings.Cut(n.stdout(), " ")
		require.Equal(t, "32768 60999 28232\n", rest)
		return first
	}
	first := begins(1)
	require.Equal(t, first, begins(1))
	require.NotEqual(t, first, begins(2))
}

func TestClocks(t *testing.T) {
	c := newCluster(t)
	n := c.add(process.Options{Path: build(t, "misc"), Args: []string{"clock"}})
	n.wall = -int64(time.Hour)
	c.run(2 * time.Second)
	require.Equal(t, "2025-12-31 23:00:00 +0000 UTC\n2025-12-31 23:00:01 +0000 UTC\n", n.stdout())
}

// What tells the time without a system call, in package syscall and golang.org/x/sys/unix, has the node's clock, also one that is wrong.
func TestTheTimeOfDayIsTheNodes(t *testing.T) {
	c := newCluster(t)
	n := c.add(process.Options{Path: build(t, "misc"), Args: []string{"of day"}})
	n.wall = -int64(time.Hour)
	c.run(2 * time.Second)
	require.Equal(t, "1767222000 0 <nil> 1767222000 <nil> <nil> 1767222000\n10\n", n.stdout())
}

func TestChangesOfFilesAreTold(t *testing.T) {
	n := alone(t, "files", "changes", time.Second)
	require.Equal(t, "true\n", n.stdout())
	require.Equal(t, []wire.Change{
		{Kind: wire.Mkdir, Path: "/data", Data: []byte{}},
		{Kind: wire.Mkdir, Path: "/data/sub", Data: []byte{}},
		{Kind: wire.Create, Path: "/data/new", Data: []byte{}},
		{Kind: wire.Hold, Path: "/data/new", File: 1, Data: []byte{}},
		{Kind: wire.Write, File: 1, Data: []byte("hello")},
		{Kind: wire.Write, File: 1, Data: []byte("J")},
		{Kind: wire.Sync, File: 1, Data: []byte{}},
		{Kind: wire.Release, File: 1, Data: []byte{}},
		{Kind: wire.Rename, Path: "/data/new", To: "/data/sub/final", Data: []byte{}},
		{Kind: wire.Hold, Path: "/data/sub", File: 2, Data: []byte{}},
		{Kind: wire.Sync, File: 2, Data: []byte{}},
		{Kind: wire.Hold, Path: "/data/sub/final", File: 3, Data: []byte{}},
		{Kind: wire.Write, File: 3, Offset: 5, Data: []byte("!")},
		{Kind: wire.Truncate, File: 3, Offset: 3, Data: []byte{}},
		{Kind: wire.Remove, Path: "/data/sub/final", Data: []byte{}},
		{Kind: wire.Write, File: 3, Offset: 3, Data: []byte("nobody sees this")},
	}, n.changes)
}

func TestFoldersAndTimesOfFilesAreNoChance(t *testing.T) {
	n := alone(t, "files", "order", 10*time.Second)
	require.Equal(t, "[a b c d] <nil>\n2026-01-01 00:00:01 +0000 UTC 1 -rw-r--r--\n8388608\n", n.stdout())
}

// The machine's clock is years ahead of the nodes'. What is written through memory has the time of the sync after it.
func TestNoTimeOfAFileIsTheMachines(t *testing.T) {
	c := newCluster(t)
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "placed"), nil, 0o644))
	n := c.add(process.Options{Path: build(t, "files"), Args: []string{"times"}, Config: wire.Config{Root: root}})
	c.run(20 * time.Second)
	require.Equal(t, `write <nil> 2026-01-01 00:00:01 +0000 UTC
truncate <nil> 2026-01-01 00:00:02 +0000 UTC
ftruncate <nil> 2026-01-01 00:00:03 +0000 UTC
fallocate <nil> 2026-01-01 00:00:04 +0000 UTC
now <nil> 2026-01-01 00:00:05 +0000 UTC
now, named <nil> 2026-01-01 00:00:06 +0000 UTC
set <nil> 1970-01-01 00:00:01.000000002 +0000 UTC
left <nil> 1970-01-01 00:00:01.000000002 +0000 UTC
through memory <nil> 1970-01-01 00:00:01.000000002 +0000 UTC
write after that <nil> 2026-01-01 00:00:10 +0000 UTC
through memory again <nil> 2026-01-01 00:00:10 +0000 UTC
sync <nil> 2026-01-01 00:00:12 +0000 UTC
rename <nil> 2026-01-01 00:00:12 +0000 UTC
/b 2026-01-01 00:00:12 +0000 UTC
/placed 2025-01-01 00:00:00 +0000 UTC
/ 2025-01-01 00:00:00 +0000 UTC
`, n.stdout())
}

// Files are numbered in the order in which they are met, whatever the file system calls them, and keep their numbers.
func TestNumbersOfFilesAreNoChance(t *testing.T) {
	c := newCluster(t)
	n := c.add(process.Options{Path: build(t, "files"), Args: []string{"numbers"}})
	c.run(time.Second)
	require.Equal(t, `/a 2 /c 3 /sub/hard 3 /link 4
/sub/renamed 2
open /c 3
open /a 2
open /sub/d 5
in / .=1 ..=1 link=4 sub=6
in /sub .=6 ..=1 d=5 hard=3 renamed=2
/ 1 /sub 6 /dev/null 4294967555
2025-01-01 00:00:00 +0000 UTC
`, n.stdout())
	n.opts.Args = []string{"numbers again"}
	n.start()
	c.run(time.Second)
	require.Equal(t, "/sub/renamed 2 /sub/hard 3 /sub/d 5\n/new 7\n", n.stdout())
}

func TestSickDisk(t *testing.T) {
	c := newCluster(t)
	n := c.add(process.Options{Path: build(t, "files"), Args: []string{"sick"}, SyncTime: time.Millisecond})
	c.run(500 * time.Millisecond)
	for _, d := range []process.Disk{
		{Slow: 99 * time.Millisecond},
		{Errors: [3]uint32{wire.WriteError: 1<<32 - 1}},
		{Errors: [3]uint32{wire.SyncError: 1<<32 - 1}},
		{Full: true},
	} {
		n.disk = d
		c.run(time.Second)
	}
	c.run(5 * time.Second)
	require.Equal(t, `<nil> <nil> 1ms
<nil> <nil> 100ms
input/output error <nil> 1ms
<nil> input/output error 1ms
no space left on device <nil> 1ms
`, n.stdout())
}

func TestNodeDiesBeforeItsWrite(t *testing.T) {
	c := newCluster(t)
	n := c.add(process.Options{Path: build(t, "files"), Args: []string{"row"}, Files: true})
	n.disk = process.Disk{Die: 4, Torn: 2} // the file is made, then line 0, line 1, and the beginning of line 2
	c.run(time.Second)
	require.Equal(t, 137, n.ended.ExitCode())
	b, err := os.ReadFile(filepath.Join(n.opts.Root, "log"))
	require.NoError(t, err)
	require.Equal(t, "line 0\nline 1\nli", string(b))
	require.Equal(t, wire.Change{Kind: wire.Write, File: 1, Offset: 14, Data: []byte("li")}, n.changes[len(n.changes)-1])
}

func TestKilledNodeStartsAgainOnItsFiles(t *testing.T) {
	c := newCluster(t)
	n := c.add(process.Options{Path: build(t, "files"), Args: []string{"row"}})
	c.run(10 * time.Millisecond)
	n.kill()
	b, err := os.ReadFile(filepath.Join(n.opts.Root, "log"))
	require.NoError(t, err)
	require.Contains(t, string(b), "line 9\n")
	n.start()
	c.run(5 * time.Millisecond)
	require.True(t, n.up)
}
