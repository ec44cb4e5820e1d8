package docker

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// within bounds what a test waits for. It is far more than anything takes.
const within = time.Minute

// engine connects to the engine. Where there is none the test is skipped, but not in CI.
func engine(t testing.TB) *Engine {
	t.Helper()
	e, err := Connect(t.Context())
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("needs a container engine: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { e.Close() })
	return e
}

// builds is a folder that TestMain makes and removes.
var builds string

// member builds the program in testdata/member once. The test's own executable will not do: it is linked dynamically
// when tests are run with cgo or the race detector.
var member = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(builds, "member")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./testdata/member")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func memberImage(t testing.TB, e *Engine) string {
	t.Helper()
	path, err := member()
	require.NoError(t, err)
	ref, err := e.ExecutableImage(t.Context(), path, nil)
	require.NoError(t, err)
	return ref
}

// beHarness tells the test's executable, in its environment, to be the harness of the run with that name instead.
const beHarness = "RECOUNT_TEST_HARNESS"

func TestMain(m *testing.M) {
	if run := os.Getenv(beHarness); run != "" {
		harness(run, os.Args[1], len(os.Args) > 2)
	}
	dir, err := os.MkdirTemp("", "recount-docker-test-")
	if err != nil {
		panic(err)
	}
	builds = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// harness opens a cluster of two nodes, says so, and waits to be killed.
func harness(run, image string, disks bool) {
	e, err := Connect(context.Background())
	if err != nil {
		panic(err)
	}
	c, err := e.Open(context.Background(), Config{Run: run, Nodes: []string{"n1", "n2"}, SelfImage: image, Disks: disks})
	if err != nil {
		panic(err)
	}
	err = c.Launch(context.Background(), map[string]Container{"n1": memberContainer(c), "n2": memberContainer(c)})
	if err != nil {
		panic(err)
	}
	fmt.Println("up")
	select {}
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// runID is a name for a run of this test that no other run has.
func runID(t testing.TB) string {
	return fmt.Sprintf("%s-%d", notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), os.Getpid())
}

// open opens a cluster of n nodes, which is closed at the end of the test and must then have left nothing.
func open(t testing.TB, e *Engine, run string, n int, with ...func(*Config)) *Cluster {
	t.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("n%d", i+1))
	}
	config := Config{Run: run, Nodes: names, SelfImage: memberImage(t, e), Log: func(s string) { t.Log(s) }}
	for _, set := range with {
		set(&config)
	}
	c, err := e.Open(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close(context.Background()))
		requireNothingLeft(t, e, run)
	})
	return c
}

// up opens a cluster and launches members on it that answer.
func up(t testing.TB, e *Engine, run string, n int) *Cluster {
	t.Helper()
	c := open(t, e, run, n)
	launch(t, c)
	return c
}

func launch(t testing.TB, c *Cluster) {
	t.Helper()
	what := map[string]Container{}
	for _, name := range c.names {
		what[name] = memberContainer(c)
	}
	require.NoError(t, c.Launch(t.Context(), what))
	for _, name := range c.names {
		eventually(t, c, name)
	}
}

func memberContainer(c *Cluster) Container {
	return Container{Image: c.config.SelfImage, Command: []string{SelfPath, "member", "/data"}, Data: "/data"}
}

func requireNothingLeft(t testing.TB, e *Engine, run string) {
	t.Helper()
	containers, rest, err := e.things(context.Background(), run)
	require.NoError(t, err)
	require.Empty(t, containers)
	require.Empty(t, rest)
}

// tell has the member on a node do something, and returns what it answers.
func tell(t testing.TB, c *Cluster, node, format string, args ...any) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	conn, err := c.Dial(ctx, node, 7000)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(within)))
	_, err = fmt.Fprintf(conn, format+"\n", args...)
	require.NoError(t, err)
	answer, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(answer)
}

// eventually waits until the member on a node answers.
func eventually(t testing.TB, c *Cluster, node string) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := c.Dial(t.Context(), node, 7000)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, within, 5*time.Millisecond)
}

// run runs the cluster's loop until ready holds.
func run(t testing.TB, c *Cluster, ready func() bool) {
	t.Helper()
	for deadline := c.Now() + within; !ready(); {
		require.Less(t, c.Now(), deadline, "waited in vain")
		require.NoError(t, c.Run(t.Context(), c.Now()+time.Millisecond))
	}
}

// apply applies a change and returns its effect.
func apply(t testing.TB, c *Cluster, change history.Changes) history.Effect {
	t.Helper()
	var e *history.Effect
	c.Apply(change, func(is history.Effect) { e = &is })
	run(t, c, func() bool { return e != nil })
	return *e
}

// requireSeen applies a change and requires that it shows. What only packets tell of is tried again: a machine that stands
// still has them late.
func requireSeen(t testing.TB, c *Cluster, change history.Changes) history.Effect {
	t.Helper()
	e := apply(t, c, change)
	rest := change
	rest.Links = nil
	for try := 1; rest.Empty() && e.Seen != history.OK && try < 4; try++ {
		t.Logf("once more: %v", e.Err)
		e = apply(t, c, change)
	}
	require.NoError(t, e.Err)
	require.Equal(t, history.OK, e.Seen)
	return e
}

func proc(node string, state history.ProcState) history.Changes {
	return history.Changes{Procs: []history.Proc{{Node: node, State: state}}}
}

func link(from, to string, cut bool) history.Link {
	return history.Link{From: from, To: to, LinkState: history.LinkState{Cut: cut}}
}

func links(all ...history.Link) history.Changes { return history.Changes{Links: all} }

// address is where the member on a node can be reached by other nodes.
func address(c *Cluster, node string) string { return net.JoinHostPort(c.Addr(node).String(), "7000") }

// cutHost takes an engine's address apart.
func cutHost(host string) (network, address string, ok bool) {
	network, address, ok = strings.Cut(host, "://")
	return network, address, ok && (network == "unix" || network == "tcp")
}
