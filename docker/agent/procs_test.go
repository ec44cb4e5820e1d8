//go:build linux

package agent

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestOpenFirst(t *testing.T) {
	own, err := inode("/proc/self/ns/net")
	require.NoError(t, err)
	require.True(t, openFirst(os.Getpid(), own).alive())
	require.False(t, openFirst(os.Getpid(), own+1).alive(), "a stranger")
	require.False(t, openFirst(0, own).alive(), "the engine says 0 of a container that does not run")

	recycled := openFirst(os.Getpid(), own)
	recycled.started += "0"
	require.False(t, recycled.alive(), "another process of that number")
	require.NoError(t, recycled.kill(), "and so not us")
}

func TestZombieIsGone(t *testing.T) {
	own, err := inode("/proc/self/ns/net")
	require.NoError(t, err)
	child := exec.Command("cat")
	_, err = child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	f := openFirst(child.Process.Pid, own)
	require.True(t, f.alive())
	require.NoError(t, f.kill())
	require.Eventually(t, func() bool { return !f.alive() }, time.Minute, time.Millisecond, "it is killed, and nobody has waited for it")
	state, _, err := observe([]first{f}, nil)
	require.NoError(t, err)
	require.Equal(t, history.Down, state)
	require.Error(t, child.Wait())
}

// A process that ends as soon as it is asked to is not in the way of the signals that follow. It is the first in a pid
// namespace of its own, as that of a container is: what follows goes to all there.
func TestWhoEndsAtOnceWhenAskedTo(t *testing.T) {
	own, err := inode("/proc/self/ns/net")
	require.NoError(t, err)
	for range 50 {
		child := exec.Command("sh", "-c", `trap "exit 0" TERM; echo; read never`)
		child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		in, err := child.StdinPipe()
		require.NoError(t, err)
		defer in.Close()
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		if err := child.Start(); errors.Is(err, os.ErrPermission) {
			t.Skip("needs root")
		}
		_, err = out.Read(make([]byte, 1)) // it is ready for the signal
		require.NoError(t, err)
		f := openFirst(child.Process.Pid, own)
		require.NotEqual(t, openFirst(os.Getpid(), own).pids, f.pids)
		require.NoError(t, Term.send([]first{f}, nil))
		require.NoError(t, child.Wait())
		require.NoError(t, Term.send([]first{f}, nil), "twice")
	}
}
