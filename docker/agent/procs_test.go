//go:build linux

package agent

import (
	"os"
	"os/exec"
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
	state, _, err := observe([]first{f})
	require.NoError(t, err)
	require.Equal(t, history.Down, state)
	require.Error(t, child.Wait())
}
