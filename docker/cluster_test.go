package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestUpAndDown(t *testing.T) {
	e := engine(t)
	c := up(t, e, runID(t), 5)
	for _, name := range c.names {
		require.Equal(t, "ok", tell(t, c, name, "ping"))
		for _, other := range c.names {
			require.Equal(t, "ok", tell(t, c, name, "connect %s", address(c, other)), "%s to %s", name, other)
			require.Equal(t, "ok", tell(t, c, name, "connect %s:7000", other), "%s to %s by name", name, other)
		}
	}
	state, err := c.State(t.Context())
	require.NoError(t, err)
	require.True(t, state.Empty(), "%+v", state)
}

func TestSideBySide(t *testing.T) {
	e := engine(t)
	clusters := make([]*Cluster, 2)
	for i := range clusters {
		clusters[i] = open(t, e, fmt.Sprintf("%s-%d", runID(t), i), 2)
	}
	for _, c := range clusters {
		launch(t, c)
	}
	a, b := clusters[0], clusters[1]
	require.NotEqual(t, a.Addr("n1"), b.Addr("n1"))
	requireSeen(t, a, links(link("n1", "n2", true)))
	requireSeen(t, a, proc("n2", history.Down))
	require.Equal(t, "ok", tell(t, b, "n1", "connect %s", address(b, "n2")))
	require.NotEqual(t, "ok", tell(t, b, "n1", "knock %s", address(a, "n1")), "the networks of two runs are apart")
	require.NoError(t, a.Close(t.Context()))
	require.Equal(t, "ok", tell(t, b, "n1", "connect %s", address(b, "n2")))
}

// Two runs of the same name are one too many. The second must not take the first one's containers down with it.
func TestNameTaken(t *testing.T) {
	e := engine(t)
	c := up(t, e, runID(t), 1)
	_, err := e.Open(t.Context(), c.config)
	require.ErrorContains(t, err, "there is a run "+runID(t)+" already")
	require.Equal(t, "ok", tell(t, c, "n1", "ping"))
}

func TestFailedOpen(t *testing.T) {
	e := engine(t)
	run := runID(t)
	image := memberImage(t, e)
	t.Run("no image", func(t *testing.T) {
		_, err := e.Open(t.Context(), Config{Run: run, Nodes: []string{"n1"}, SelfImage: "recount/self:none"})
		require.ErrorContains(t, err, "recount/self:none")
		requireNothingLeft(t, e, run)
	})
	t.Run("midway", func(t *testing.T) {
		taken, err := e.api.ContainerCreate(t.Context(), &container.Config{Image: image, Cmd: []string{SelfPath, "idle"}}, nil, nil, nil,
			"recount-"+run+"-n2-anchor")
		require.NoError(t, err)
		defer func() {
			require.NoError(t, e.api.ContainerRemove(context.Background(), taken.ID, container.RemoveOptions{Force: true}))
		}()
		_, err = e.Open(t.Context(), Config{Run: run, Nodes: []string{"n1", "n2", "n3"}, SelfImage: image})
		require.ErrorContains(t, err, "n2-anchor")
		requireNothingLeft(t, e, run)
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // what the engine has begun by then comes into being all the same
		_, err := e.Open(ctx, Config{Run: run, Nodes: []string{"n1"}, SelfImage: image})
		require.ErrorIs(t, err, context.Canceled)
		requireNothingLeft(t, e, run)
	})
	t.Run("bad name", func(t *testing.T) {
		_, err := e.Open(t.Context(), Config{Run: run, Nodes: []string{"n 1"}, SelfImage: image})
		require.ErrorContains(t, err, `"n 1" cannot name a container`)
	})
}

// Elections go by addresses where nothing else ranks nodes: the order of these is the same in each run.
func TestAddressesAreInTheOrderOfNodes(t *testing.T) {
	e := engine(t)
	for _, multicast := range []bool{false, true} {
		c := open(t, e, runID(t), 5, func(config *Config) { config.Multicast = multicast })
		for i, node := range c.names[1:] {
			before := c.Addr(c.names[i])
			require.True(t, before.Less(c.Addr(node)), "%s at %s, after %s at %s", node, c.Addr(node), c.names[i], before)
		}
		require.NoError(t, c.Close(context.Background()))
	}
}

func TestFailedLaunch(t *testing.T) {
	e := engine(t)
	c := open(t, e, runID(t), 2)
	good := memberContainer(c)
	bad := good
	bad.Command = []string{"/nothing"}
	require.ErrorContains(t, c.Launch(t.Context(), map[string]Container{"n1": good, "n2": bad}), "start n2")
}

func TestExit(t *testing.T) {
	c := open(t, engine(t), runID(t), 2)
	var events []string
	c.Logs("n1", func(text string) { events = append(events, text) })
	c.OnExit(func(node string, code int) { events = append(events, fmt.Sprintf("%s exited with %d", node, code)) })
	require.NoError(t, c.Launch(t.Context(), map[string]Container{
		"n1": {Image: c.config.SelfImage, Command: []string{SelfPath, "fail"}},
		"n2": memberContainer(c),
	}))
	run(t, c, func() bool { return len(events) == 2 })
	require.Equal(t, []string{"cannot go on", "n1 exited with 3"}, events)
	apply(t, c, proc("n1", history.Up)) // for a moment, which may have been seen or not
	run(t, c, func() bool { return len(events) == 4 })
	require.Equal(t, events[:2], events[2:])
}

func TestSidecars(t *testing.T) {
	c := open(t, engine(t), runID(t), 1)
	var exits []int
	c.OnExit(func(_ string, code int) { exits = append(exits, code) })
	node := memberContainer(c)
	node.Sidecars = []Container{{Image: c.config.SelfImage, Command: []string{SelfPath, "idle"}}}
	require.NoError(t, c.Launch(t.Context(), map[string]Container{"n1": node}))
	eventually(t, c, "n1")
	for _, s := range []history.ProcState{history.Paused, history.Up, history.Down, history.Up} {
		requireSeen(t, c, proc("n1", s))
	}
	eventually(t, c, "n1")

	// What is asked to end goes in its own way, with all that is there for it, and takes the rest with it then.
	require.Equal(t, "ok", tell(t, c, "n1", "dawdle"))
	requireSeen(t, c, proc("n1", history.Stopped))
	for i, code := range []int{7, 137} {
		is, err := c.engine.api.ContainerInspect(t.Context(), c.nodes["n1"].containers[i])
		require.NoError(t, err)
		require.Equal(t, code, is.State.ExitCode)
	}
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")

	// What ends by itself takes the rest of the node with it.
	require.NoError(t, c.engine.api.ContainerKill(t.Context(), c.nodes["n1"].containers[1], "KILL"))
	run(t, c, func() bool { return len(exits) > 0 })
	require.Equal(t, []int{137}, exits)
	state, err := c.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, proc("n1", history.Down).Procs, state.Procs)
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
}

func TestDial(t *testing.T) {
	c := up(t, engine(t), runID(t), 1)
	_, err := c.Dial(t.Context(), "n1", 7001)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	_, err = c.Dial(t.Context(), "n9", 7000)
	require.ErrorContains(t, err, `no node "n9"`)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Dial(ended, "n1", 7000)
	require.ErrorIs(t, err, context.Canceled)

	tell(t, c, "n1", "listen "+netip.AddrPortFrom(c.Addr("n1"), 7001).String())
	conn, err := c.Dial(t.Context(), "n1", 7001)
	require.NoError(t, err, "it listens on its own address alone")
	require.NoError(t, conn.Close())

	conn, err = c.Dial(t.Context(), "n1", 7000)
	require.NoError(t, err)
	defer conn.Close()
	requireSeen(t, c, proc("n1", history.Down))
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(within)))
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "a connection to a killed process ends")
}

func TestListen(t *testing.T) {
	c := up(t, engine(t), runID(t), 1)
	require.NoError(t, c.Listen(t.Context(), "n1", 9000, func(conn net.Conn) {
		defer conn.Close()
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err == nil {
			fmt.Fprintf(conn, "you said %s", line)
		}
	}))
	require.Equal(t, "you said hello", tell(t, c, "n1", "send 127.0.0.1:9000 hello"))
	requireSeen(t, c, proc("n1", history.Down))
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	require.Equal(t, "you said again", tell(t, c, "n1", "send 127.0.0.1:9000 again"))
	require.Error(t, c.Listen(t.Context(), "n1", 7000, nil), "the port is taken")
}

// A panic in what serves a connection must reach whoever runs the loop, who will close the cluster.
func TestListenPanics(t *testing.T) {
	c := up(t, engine(t), runID(t), 1)
	require.NoError(t, c.Listen(t.Context(), "n1", 9000, func(net.Conn) { panic("broken server") }))
	conn, err := c.Dial(t.Context(), "n1", 9000)
	require.NoError(t, err)
	defer conn.Close()
	require.Panics(t, func() { run(t, c, func() bool { return false }) })
}

func TestStall(t *testing.T) {
	c := open(t, engine(t), runID(t), 1)
	var stalls []time.Duration
	c.OnStall(func(d time.Duration) { stalls = append(stalls, d) })
	require.NoError(t, c.engine.api.ContainerPause(t.Context(), c.name("agent")))
	require.NoError(t, c.Run(t.Context(), 300*time.Millisecond))
	require.NoError(t, c.engine.api.ContainerUnpause(t.Context(), c.name("agent")))
	run(t, c, func() bool { return len(stalls) > 0 && slices.Max(stalls) > 200*time.Millisecond })
}

func TestLost(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(t *testing.T, c *Cluster)
		want string
	}{
		{"agent removed", func(t *testing.T, c *Cluster) {
			require.NoError(t, c.engine.api.ContainerRemove(t.Context(), c.name("agent"), container.RemoveOptions{Force: true}))
		}, "the agent"}, // was removed, or is just ending
		{"agent killed", func(t *testing.T, c *Cluster) {
			require.NoError(t, c.engine.api.ContainerKill(t.Context(), c.name("agent"), "KILL"))
		}, "the agent ended with status 137"},
		{"anchor killed", func(t *testing.T, c *Cluster) {
			require.NoError(t, c.engine.api.ContainerKill(t.Context(), c.nodes["n1"].anchor, "KILL"))
		}, "the anchor of n1 is gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := up(t, engine(t), runID(t), 1)
			tt.lose(t, c)
			err := c.Run(t.Context(), within)
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, err, c.Run(t.Context(), within), "it does not come back")
		})
	}
}

// The engine goes away while a run is on: here, the socket that leads to it does.
func TestEngineLost(t *testing.T) {
	direct := engine(t)
	run := runID(t)
	path, hangUp := relay(t, direct.api.DaemonHost())
	t.Setenv("DOCKER_HOST", "unix://"+path)
	e, err := Connect(t.Context())
	require.NoError(t, err)
	defer e.Close()
	c, err := e.Open(t.Context(), Config{Run: run, Nodes: []string{"n1"}, SelfImage: memberImage(t, direct)})
	require.NoError(t, err)
	hangUp()
	require.ErrorContains(t, c.Run(t.Context(), within), "the Docker engine is lost")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	_, err = direct.sweep(ctx, run, false)
	require.NoError(t, err)
}

// relay passes connections on to a unix socket, until hangUp.
func relay(t *testing.T, host string) (path string, hangUp func()) {
	network, to, ok := cutHost(host)
	if !ok {
		t.Skipf("cannot relay to %s", host)
	}
	path = filepath.Join(t.TempDir(), "engine.sock")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	var mu sync.Mutex
	conns := []io.Closer{l}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(network, to)
			if err != nil {
				near.Close()
				return
			}
			mu.Lock()
			conns = append(conns, near, far)
			mu.Unlock()
			go func() { io.Copy(near, far); near.Close() }()
			go func() { io.Copy(far, near); far.Close() }()
		}
	}()
	return path, func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			c.Close()
		}
	}
}

func TestLogs(t *testing.T) {
	c := open(t, engine(t), runID(t), 2)
	var heard []string
	c.Logs("n1", func(text string) { heard = append(heard, text) })
	launch(t, c)
	tell(t, c, "n1", "say one")
	requireSeen(t, c, proc("n1", history.Down))
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	tell(t, c, "n1", "say two")
	tell(t, c, "n2", "say something else")
	run(t, c, func() bool { return len(heard) == 4 })
	want := []string{"life 1 of n1", "one", "life 2 of n1", "two"}
	require.Equal(t, want, heard)

	dir := t.TempDir()
	require.NoError(t, c.SaveLogs(t.Context(), dir))
	saved, err := os.ReadFile(filepath.Join(dir, "n1.log"))
	require.NoError(t, err)
	require.Equal(t, "life 1 of n1\none\nlife 2 of n1\ntwo\n", string(saved))
	require.FileExists(t, filepath.Join(dir, "n2.log"))
	require.Panics(t, func() { c.Logs("n2", func(string) {}) }, "lines have been missed")
}

// A log that is a file is read through all that becomes of it, on an engine's volume and on a disk that can fail.
func TestALogThatIsAFile(t *testing.T) {
	for _, disks := range []bool{false, true} {
		c := open(t, engine(t), runID(t), 2, func(cfg *Config) { cfg.Disks = disks })
		var heard []string
		c.Logs("n1", func(text string) { heard = append(heard, text) })
		what := map[string]Container{}
		for _, name := range c.names {
			of := memberContainer(c)
			of.Log = "/data/log"
			what[name] = of
		}
		require.NoError(t, c.Launch(t.Context(), what))
		eventually(t, c, "n1")
		require.Equal(t, map[string]error{"n1": errors.New("/data/log is not there, or empty")}, c.Unlogged(), "nobody listens to n2")
		want := []string{"life 1 of n1"}
		logs := func(line string) {
			t.Helper()
			require.Equal(t, "<nil>", tell(t, c, "n1", "log %s", line))
			want = append(want, line)
			run(t, c, func() bool { return len(heard) >= len(want) })
			require.Equal(t, want, heard)
		}
		logs("one")
		logs("two")
		require.Equal(t, "<nil>", tell(t, c, "n1", "rotate"))
		logs("one")
		down, life := history.Down, 1
		if disks {
			down = history.Crashed // which takes the file, or its end
		}
		for _, line := range []string{"three", "four"} {
			requireSeen(t, c, proc("n1", down))
			requireSeen(t, c, proc("n1", history.Up))
			eventually(t, c, "n1")
			if !disks { // else how often it has begun is lost, too
				life++
			}
			want = append(want, fmt.Sprintf("life %d of n1", life))
			logs(line)
		}
		require.Empty(t, c.Unlogged())

		dir := t.TempDir()
		require.NoError(t, c.SaveLogs(t.Context(), dir))
		saved, err := os.ReadFile(filepath.Join(dir, "n1.log"))
		require.NoError(t, err)
		require.Regexp(t, `^(life \d of n1\n){3}(.*\n)*four\n$`, string(saved))
		require.NoError(t, c.Close(t.Context()))
	}
}

func TestPanicLeavesNothing(t *testing.T) {
	e := engine(t)
	run := runID(t)
	image := memberImage(t, e)
	require.Panics(t, func() {
		c, err := e.Open(t.Context(), Config{Run: run, Nodes: []string{"n1"}, SelfImage: image})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Close(t.Context())) }()
		c.After(time.Millisecond, func() { panic(errors.New("broken workload")) })
		c.Run(t.Context(), within)
	})
	requireNothingLeft(t, e, run)
}
