package nemesis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker"
	"recount/history"
	"recount/nemesis"
)

func TestFaultsOnContainersKeepTheContract(t *testing.T) {
	if testing.Short() {
		t.Skip("on containers; -short leaves that out")
	}
	w := newContained(t)
	honour(t, w, func(f *nemesis.Fault) string {
		if err := w.Can(history.Changes{Clocks: []history.Clock{{Node: "n1", Offset: 1}}}); f.Clocks && err != nil {
			return err.Error()
		}
		return ""
	})
}

// contained is the world of containers. In each runs the program of the tests of package docker.
type contained struct {
	*docker.Cluster
	t *testing.T
}

const port = "7000" // of the program, for commands over TCP and for datagrams

func newContained(t *testing.T) *contained {
	e, err := docker.Connect(t.Context())
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("needs a container engine: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { e.Close() })
	path := filepath.Join(t.TempDir(), "member")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./testdata/member")
	build.Dir, build.Env = filepath.Join("..", "docker"), append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	image, err := e.ExecutableImage(t.Context(), path, nil)
	require.NoError(t, err)
	c, err := e.Open(t.Context(), docker.Config{
		Run: fmt.Sprintf("contract-%d", os.Getpid()), Nodes: nodes, SelfImage: image, Clocks: true, Disks: true,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	what := map[string]docker.Container{}
	for _, n := range nodes {
		what[n] = docker.Container{Image: image, Command: []string{docker.SelfPath, "member", "/data"}, Data: "/data"}
	}
	require.NoError(t, c.Launch(t.Context(), what))
	w := &contained{c, t}
	for _, n := range nodes {
		require.Eventually(t, func() bool { return w.answers(n) }, time.Minute, time.Millisecond)
	}
	return w
}

func (w *contained) let(d time.Duration) {
	require.NoError(w.t, w.Run(context.Background(), w.Now()+d))
}

func (w *contained) interrupt() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(w.t, w.Run(ended, w.Now()+time.Hour), context.Canceled)
}

func (w *contained) patience() (must, mustNot time.Duration) {
	return time.Minute, 20 * time.Millisecond
}

func (w *contained) state() history.Changes {
	s, err := w.State(context.Background())
	require.NoError(w.t, err)
	return s
}

// ask has the program on a node do something, and returns what it answers.
func (w *contained) ask(node string, within time.Duration, format string, args ...any) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	conn, err := w.Dial(ctx, node, 7000)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(conn, format+"\n", args...); err != nil {
		return "", err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(answer), err
}

func (w *contained) tell(node, format string, args ...any) string {
	answer, err := w.ask(node, time.Minute, format, args...)
	require.NoError(w.t, err)
	return answer
}

func (w *contained) address(node string) string { return net.JoinHostPort(w.Addr(node).String(), port) }

func (w *contained) say(node, text string) {
	for _, other := range nodes {
		if other != node {
			w.tell(node, "tell %s %s", w.address(other), text)
		}
	}
}

func (w *contained) heard(node string) []string { return strings.Split(w.tell(node, "heard"), ",") }

func (w *contained) echo(from, to string, n int, wait time.Duration) echoes {
	words := strings.Fields(w.tell(from, "echo %s %d %v", w.address(to), n, wait))
	var all []int
	for _, word := range words {
		k, err := strconv.Atoi(word)
		require.NoError(w.t, err)
		all = append(all, k)
	}
	e := echoes{sent: n, got: all[0], twice: all[1], early: all[2], all: time.Duration(all[3])}
	for _, d := range all[4:] {
		e.took = append(e.took, time.Duration(d))
	}
	slices.Sort(e.took)
	return e
}

func (w *contained) answers(node string) bool {
	_, err := w.ask(node, 500*time.Millisecond, "ping")
	return err == nil
}

func (w *contained) refuses(from, to string, port int) bool {
	said := w.tell(from, "knock %s", net.JoinHostPort(w.Addr(to).String(), strconv.Itoa(port)))
	return strings.Contains(said, "refused") || strings.Contains(said, "reset")
}

func (w *contained) lives(node string) int {
	said, err := w.ask(node, time.Second, "lives")
	if err != nil {
		return 0 // it does not live just now
	}
	n, err := strconv.Atoi(said)
	require.NoError(w.t, err)
	return n
}

func (w *contained) clock(node string) (wall time.Time, lived time.Duration) {
	var a, b int64
	_, err := fmt.Sscan(w.tell(node, "clock"), &a, &b)
	require.NoError(w.t, err)
	return time.Unix(0, a), time.Duration(b)
}

func (w *contained) write(node, text string, sync bool) error {
	how := "leave"
	if sync {
		how = "sync"
	}
	said, err := w.ask(node, time.Minute, "write %s %s", strings.ReplaceAll(text, " ", "-"), how)
	if err == nil && said != "ok" {
		err = errors.New(said)
	}
	return err
}

func (w *contained) read(node string) string { return w.tell(node, "read") }
