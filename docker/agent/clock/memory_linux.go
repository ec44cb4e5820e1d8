//go:build amd64 || arm64

package clock

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// peek reads the memory of a process, which goes on meanwhile.
func peek(pid int, at uint64, b []byte) error {
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	remote := []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}
	n, err := unix.ProcessVMReadv(pid, local, remote, 0)
	return moved(n, len(b), err)
}

// poke writes into the memory of a process, where the process itself may write. The process goes on meanwhile.
func poke(pid int, at uint64, b []byte) error {
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	remote := []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}
	n, err := unix.ProcessVMWritev(pid, local, remote, 0)
	return moved(n, len(b), err)
}

// moved tells what became of a transfer of n bytes out of want.
func moved(n, want int, err error) error {
	switch {
	case errors.Is(err, unix.ESRCH):
		return ErrGone
	case errors.Is(err, unix.EFAULT), err == nil && n != want:
		return ErrLost
	case err != nil:
		return fmt.Errorf("reach its memory: %w", err)
	}
	return nil
}
