package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestACommandThatIsNotThereIsSaidNotToBe(t *testing.T) {
	c := open(t, engine(t), runID(t), 1)
	launch(t, c)
	_, err := c.Exec(t.Context(), "n1", []string{"/no/such/command"})
	require.ErrorIs(t, err, ErrNoProgram)
	require.ErrorContains(t, err, "exec /no/such/command on n1: the container has no such program: /no/such/command")
}

// What is started beside processes that stand still would run, and give for their word what they had left behind.
func TestNoCommandSpeaksForWhoStandsStill(t *testing.T) {
	c := openReady(t, engine(t), 1)
	speaks := func() error {
		_, err := c.Exec(t.Context(), "n1", []string{"/member", "nothing"})
		return err
	}
	requireSeen(t, c, proc("n1", history.Paused))
	require.EqualError(t, speaks(), "exec /member nothing on n1: its processes stand still")
	requireSeen(t, c, proc("n1", history.Up))
	require.NotContains(t, fmt.Sprint(speaks()), "stand still")
	requireSeen(t, c, proc("n1", history.Paused))
	requireSeen(t, c, proc("n1", history.Down))
	require.NotContains(t, fmt.Sprint(speaks()), "stand still")
}

// The engine lets a command run on that nobody waits for any more: those that ask a server which hangs would gather.
func TestACommandThatNobodyWaitsForIsEnded(t *testing.T) {
	c := openReady(t, engine(t), 1)
	running := func() int { return len(strings.Fields(tell(t, c, "n1", "processes"))) }
	require.Equal(t, 1, running())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, "n1", []string{SelfPath, "hang"})
		ended <- err
	}()
	require.Eventually(t, func() bool { return running() == 3 }, within, 10*time.Millisecond, "it, and what it has started")
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Eventually(t, func() bool { return running() == 1 }, within, 10*time.Millisecond)
}

// A script is told by how it begins, in one line: its own lines would bury why it failed.
func TestWhatACommandGoesBy(t *testing.T) {
	require.Equal(t, "/bin/sh -c up() { ask; } up", called([]string{"/bin/sh", "-c", "up() { ask; }\nup\n"}))
	require.Equal(t, "/bin/sh -c "+strings.Repeat("ask ", 27)+"…", called([]string{"/bin/sh", "-c", strings.Repeat("ask\n", 100)}))
}

func TestWhatACommandPrintsIsBounded(t *testing.T) {
	o := &output{}
	for range maxOutput >> 20 {
		_, err := o.Write([]byte(strings.Repeat("x", 1<<20)))
		require.NoError(t, err)
	}
	_, err := o.Write([]byte("x"))
	require.EqualError(t, err, "it prints more than 8 MiB")
}

// A program that is not there will not be there later. Of a node that has just ended, the next thing said is that it has.
func TestWhyACommandFailed(t *testing.T) {
	for _, k := range []struct {
		status    int
		out, errs string
		never     bool
		said      string
	}{
		{127, "OCI runtime exec failed: exec failed: unable to start container process: exec: \"psql\": executable file not found", "", true, "the container has no such program: psql"},
		{126, "OCI runtime exec failed: exec failed: cannot exec in a stopped container", "", false, "its process has ended"},
		{126, "cannot exec in a stopped state: unknown", "", false, "its process has ended"},
		{127, "", "sh: 1: psql: not found\n", true, "the container has no such program, or cannot run it: exit status 127: sh: 1: psql: not found"},
		{1, "", "cannot exec in a stopped engine\n", false, "exit status 1: cannot exec in a stopped engine"},
		{1, "not the leader\n", "", false, "exit status 1: not the leader"},
		{3, "", "", false, "exit status 3"},
	} {
		err := refused(k.status, "psql", k.out, k.errs)
		require.EqualError(t, err, k.said)
		require.Equal(t, k.never, errors.Is(err, ErrNoProgram), k.said)
	}
}
