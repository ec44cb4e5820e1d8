//go:build linux

package disk

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// A sync that was asked for before its process was to die, and that comes to the disk only after that, does not keep it from dying.
func TestSyncsOfTheDyingDoNotWait(t *testing.T) {
	d := New(rand.New(rand.NewPCG(1, 1)))
	m := &Mount{disk: d}
	d.served = m
	first := make(chan struct{})
	m.hurry.Store(&first)
	d.Set(history.DiskState{Slow: time.Hour})
	file := func() *node { return &node{m: m, i: d.inode(syscall.S_IFREG, 0, 0)} }
	fsync := func(n *node) chan syscall.Errno {
		done := make(chan syscall.Errno, 1)
		go func() { done <- n.Fsync(t.Context(), nil, 0) }()
		return done
	}
	early := fsync(file())
	dying := true
	m.Hurry(func() bool { return dying })
	require.Zero(t, <-early)
	require.Zero(t, <-fsync(file()))

	dying = false
	next := fsync(file())
	select {
	case <-next:
		t.Fatal("the next life's syncs are slow again")
	case <-time.After(20 * time.Millisecond):
	}
	d.Set(history.DiskState{})
	require.Zero(t, <-next)
}
