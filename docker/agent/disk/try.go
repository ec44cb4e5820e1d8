//go:build linux

package disk

import (
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"recount/history"
)

// What is said to have been done to a disk is tried out through the kernel, as the node itself would feel it, on two
// files that no listing shows.

// open opens one of these files. No os.File: Go would want to wait for it with the kernel's help, which would ask us.
func (a *Attached) open(name string) (fd int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.root < 0 {
		return -1, errors.New("the disk is not mounted")
	}
	fd, err = unix.Openat(a.root, name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", name, err)
	}
	return fd, nil
}

// patience is how long a disk is tried on that is so slow that it would take longer to see it out.
const patience = 2 * time.Second

// tries is how often something is done that fails with a chance, until it has to have failed at least once.
func tries(chance float64) int {
	if chance >= 1 {
		return 1
	}
	return int(min(5000, math.Ceil(math.Log(1e-9)/math.Log(1-chance))))
}

// healthyTries is how often what is not to fail is done.
const healthyTries = 5

// Try tells what is not as it should be of a disk in that state, "" if nothing is.
func (a *Attached) Try(s history.DiskState) (wrong string, err error) {
	if is := a.disk.State(); is != s {
		return fmt.Sprintf("is %v, not %v", is, s), nil
	}
	fd, err := a.open(probeName)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	if s.Full {
		// Each goes where there was no room taken yet: nothing of it is ever written.
		if wrong := attempt("write that takes room", unix.ENOSPC, 1, func(k int) error {
			_, err := unix.Pwrite(fd, []byte{1}, int64(k+1)*pageSize)
			if errors.Is(err, unix.EIO) && s.WriteErrors > 0 {
				return unix.ENOSPC // it failed before it got that far
			}
			return err
		}); wrong != "" {
			return wrong, nil
		}
	} else if wrong := attempt("write", unix.EIO, s.WriteErrors, func(int) error {
		_, err := unix.Pwrite(fd, []byte{1}, 0)
		return err
	}); wrong != "" {
		return wrong, nil
	}
	b := make([]byte, 1)
	if wrong := attempt("read", unix.EIO, s.ReadErrors, func(int) error {
		_, err := unix.Pread(fd, b, 0)
		return err
	}); wrong != "" {
		return wrong, nil
	}
	return trySyncs(fd, s), nil
}

// attempt does something again and again that is to fail with a chance, and with that error.
func attempt(what string, want unix.Errno, chance float64, do func(k int) error) string {
	n := healthyTries
	if chance > 0 {
		n = tries(chance)
	}
	for k := range n {
		switch err := do(k); {
		case err == nil:
		case !errors.Is(err, want):
			return fmt.Sprintf("a %s failed: %v", what, err)
		case chance == 0:
			return fmt.Sprintf("a %s failed that was not to: %v", what, err)
		default:
			return ""
		}
	}
	if chance > 0 {
		return fmt.Sprintf("none of %d %ss failed", n, what)
	}
	return ""
}

// trySyncs tells whether syncs take their time, or fail.
func trySyncs(fd int, s history.DiskState) string {
	sync := func(int) error { return unix.Fsync(fd) }
	if s.Slow == 0 {
		return attempt("sync", unix.EIO, s.SyncErrors, sync)
	}
	// One will do: with errors, too, it is only after the wait that it fails.
	done := make(chan error, 1)
	began := time.Now()
	own, err := unix.Dup(fd) // the sync may outlast this
	if err != nil {
		return fmt.Sprintf("cannot be tried: %v", err)
	}
	go func() {
		done <- unix.Fsync(own)
		unix.Close(own)
	}()
	select {
	case err := <-done:
		if took := time.Since(began); took < s.Slow {
			return fmt.Sprintf("a sync took %v, less than %v", took, s.Slow)
		}
		if err != nil && (s.SyncErrors == 0 || !errors.Is(err, unix.EIO)) {
			return fmt.Sprintf("a sync failed: %v", err)
		}
	case <-time.After(min(s.Slow, patience)):
		if s.Slow > patience {
			return "" // it is slow indeed
		}
		<-done
	}
	return ""
}
