//go:build linux

package disk

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Mark is something that is on disk, and something that is not.
type Mark uint64

// Leave puts a mark on the disk.
func (a *Attached) Leave(m Mark) error {
	fd, err := a.open(canaryName)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	b := binary.BigEndian.AppendUint64(nil, uint64(m))
	if _, err := unix.Pwrite(fd, b, 0); err != nil {
		return fmt.Errorf("leave the mark of a disk: %w", err)
	}
	if err := unix.Fsync(fd); err != nil {
		return fmt.Errorf("leave the mark of a disk: %w", err)
	}
	if _, err := unix.Pwrite(fd, b, pageSize); err != nil {
		return fmt.Errorf("leave the mark of a disk: %w", err)
	}
	return nil
}

// Find tells what is not as it should be of a mark after a crash, or with wiped set after a wipe; "" if nothing is.
func (a *Attached) Find(m Mark, wiped bool) (wrong string, err error) {
	fd, err := a.open(canaryName)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	look := func(off int64) bool {
		b := make([]byte, 8)
		n, readErr := unix.Pread(fd, b, off)
		err = errors.Join(err, readErr)
		return n == 8 && Mark(binary.BigEndian.Uint64(b)) == m
	}
	synced, written := look(0), look(pageSize)
	switch {
	case err != nil:
		return "", fmt.Errorf("look for the mark of a disk: %w", err)
	case written:
		return "still has what was written and not synced", nil
	case synced && wiped:
		return "still has what it was wiped of", nil
	case !synced && !wiped:
		return "has lost what was synced", nil
	}
	return "", nil
}
