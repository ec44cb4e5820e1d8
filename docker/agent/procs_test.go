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

// A pid namespace whose inode was that of a node's container before it ended is no part of that node.
func TestANamespaceThatHasAnothersInode(t *testing.T) {
	own, err := inode("/proc/self/ns/net")
	require.NoError(t, err)
	ended := openFirst(os.Getpid(), own)
	pids, err := members([]first{ended})
	require.NoError(t, err)
	require.Contains(t, pids, os.Getpid())
	ended.network++
	pids, err = members([]first{ended})
	require.NoError(t, err)
	require.Empty(t, pids)
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

// A command that comes into a node while that stands still, as the engine may have just begun it, is stopped, too: it would run for as
// long as the processes that it asks stand still.
func TestWhoComesInLateStandsStillToo(t *testing.T) {
	own, err := inode("/proc/self/ns/net")
	require.NoError(t, err)
	server := exec.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	server.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	if err := server.Start(); errors.Is(err, os.ErrPermission) {
		t.Skip("needs root")
	}
	defer func() {
		require.NoError(t, server.Process.Kill())
		require.Error(t, server.Wait())
	}()
	_, err = out.Read(make([]byte, 10)) // it has made its child
	require.NoError(t, err)
	p := place{name: "n1", procs: []first{openFirst(server.Process.Pid, own)}}
	require.NoError(t, Stop.send(p.procs, p.heldParts()))
	p.paused = true
	comeIn := func() {
		require.Eventually(t, func() bool { state, err := p.procState(); return err == nil && state == history.Paused }, time.Minute, time.Millisecond)
		pids, err := members(p.procs)
		require.NoError(t, err)
		require.Len(t, pids, 2)
		for _, pid := range pids {
			if pid != server.Process.Pid { // as if it was not there before
				require.NoError(t, deliver(pid, syscall.SIGCONT))
			}
		}
		state, _, err := observe(p.procs, nil)
		require.NoError(t, err)
		require.Empty(t, state, "one of two runs")
	}

	comeIn()
	var v Verified
	v.procs(map[string][]first{"n1": p.procs}, map[string]func(pid int) bool{"n1": p.heldParts()},
		[]history.Proc{{Node: "n1", State: history.Paused}}, 10*time.Second)
	require.Empty(t, v.Wrong)
	require.Empty(t, v.Unsure)
	comeIn()
	require.Eventually(t, func() bool { state, err := p.procState(); return err == nil && state == history.Paused }, 10*time.Second, time.Millisecond)

	require.NoError(t, Cont.send(p.procs, p.heldParts()))
	p.paused = false
	require.Eventually(t, func() bool { state, err := p.procState(); return err == nil && state == history.Up }, time.Minute, time.Millisecond)
}
