//go:build linux

package agent

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespace is a network namespace that the agent can act in.
type namespace struct {
	home  *os.File // the agent's own namespace
	file  *os.File
	inode uint64
}

// openNamespace opens a network namespace by a path to it. The namespace lasts at least as long as the file.
func openNamespace(home *os.File, path string) (*namespace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	ino, err := inode(f.Name())
	if err != nil {
		f.Close()
		return nil, err
	}
	return &namespace{home: home, file: f, inode: ino}, nil
}

// do runs f on a thread that is inside the namespace. A socket belongs for good to the namespace that it was created
// in, so f need only create it.
func (s *namespace) do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(int(s.file.Fd()), unix.CLONE_NEWNET); err != nil {
			runtime.UnlockOSThread()
			done <- fmt.Errorf("enter network namespace: %w", err)
			return
		}
		err := f()
		// A thread that cannot come back stays locked, and so ends with this goroutine.
		if unix.Setns(int(s.home.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// inode tells namespaces apart.
func inode(path string) (uint64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Ino, nil
}
