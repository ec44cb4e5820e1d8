package nemesis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// spoken is what a world does by talking to the program of its nodes, that of the tests of package docker.
type spoken struct {
	t    *testing.T
	Addr func(node string) netip.Addr
	// call gives the program on a node one line, and returns what it answers.
	call func(node string, within time.Duration, line string) (string, error)
}

const port = "7000" // of the program, for commands over TCP and for datagrams

// converse opens a connection to the program on a node, gives it a line, and reads one.
func converse(dial func(context.Context, string, int) (net.Conn, error), node string, within time.Duration, line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	conn, err := dial(ctx, node, 7000)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintln(conn, line); err != nil {
		return "", err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(answer), err
}

func (w *spoken) ask(node string, within time.Duration, format string, args ...any) (string, error) {
	return w.call(node, within, fmt.Sprintf(format, args...))
}

func (w *spoken) tell(node, format string, args ...any) string {
	answer, err := w.ask(node, time.Minute, format, args...)
	require.NoError(w.t, err)
	return answer
}

func (w *spoken) address(node string) string { return net.JoinHostPort(w.Addr(node).String(), port) }

func (w *spoken) say(node, text string) {
	for _, other := range nodes {
		if other != node {
			w.tell(node, "tell %s %s", w.address(other), text)
		}
	}
}

func (w *spoken) heard(node string) []string { return strings.Split(w.tell(node, "heard"), ",") }

func (w *spoken) echo(from, to string, n int, wait time.Duration) echoes {
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

func (w *spoken) answers(node string) bool {
	_, err := w.ask(node, 500*time.Millisecond, "ping")
	return err == nil
}

func (w *spoken) refuses(from, to string, port int) bool {
	said := w.tell(from, "knock %s", net.JoinHostPort(w.Addr(to).String(), strconv.Itoa(port)))
	return strings.Contains(said, "refused") || strings.Contains(said, "reset")
}

func (w *spoken) lives(node string) int {
	said, err := w.ask(node, time.Second, "lives")
	if err != nil {
		return 0 // it does not live just now
	}
	n, err := strconv.Atoi(said)
	require.NoError(w.t, err)
	return n
}

func (w *spoken) clock(node string) (wall time.Time, lived time.Duration) {
	var a, b int64
	_, err := fmt.Sscan(w.tell(node, "clock"), &a, &b)
	require.NoError(w.t, err)
	return time.Unix(0, a), time.Duration(b)
}

func (w *spoken) write(node, text string, sync bool) error {
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

// hog has a node take so many MiB of memory, or die over it.
func (w *spoken) hog(node string, mib int) { _, _ = w.ask(node, time.Minute, "hog %d", mib) }

func (w *spoken) read(node string) string { return w.tell(node, "read") }
