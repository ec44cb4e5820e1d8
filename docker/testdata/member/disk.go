package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// onDisk does something to the data folder and tells what came of it: "ok", the name of an error number, or more.
func onDisk(data, what string) string {
	at := func(name string) string { return filepath.Join(data, name) }
	switch what {
	case "grow": // by a page, without a sync
		return told(with(at("grown"), os.O_APPEND, func(f *os.File) error {
			_, err := f.Write(make([]byte, 4096))
			return err
		}))
	case "over": // what is there already
		return told(with(at("grown"), 0, func(f *os.File) error {
			_, err := f.WriteAt([]byte("x"), 0)
			return err
		}))
	case "sync": // and how long it takes
		began := time.Now()
		err := with(at("grown"), 0, func(f *os.File) error { return f.Sync() })
		return fmt.Sprintf("%d %s", time.Since(began), told(err))
	case "read": // from the disk or from memory, as the kernel has it
		return told(with(at("grown"), 0, func(f *os.File) error {
			_, err := f.ReadAt(make([]byte, 1), 0)
			return err
		}))
	case "rename": // over a synced file, without a sync of the folder
		err := with(at("fresh"), 0, func(f *os.File) error {
			_, err := f.WriteString("renamed")
			return errors.Join(err, f.Sync())
		})
		return told(errors.Join(err, os.Rename(at("fresh"), at("text"))))
	case "map":
		return told(with(at("mapped"), 0, mapped))
	case "mapped": // what a mapping has left
		b, err := os.ReadFile(at("mapped"))
		return fmt.Sprintf("%q %s", bytes.Trim(b, "\x00"), told(err))
	case "measure": // how long a write of a page takes, a sync after it, and a read of one from memory, in nanoseconds
		return measure(at("measured"))
	case "list":
		entries, err := os.ReadDir(data)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(append(names, told(err)), " ")
	}
	return "what?"
}

// mapped uses a file as bbolt does: it writes through the file and reads through a shared mapping. What it writes
// through the mapping is synced, and once more it is not.
func mapped(f *os.File) error {
	const size = 64 << 10
	if err := f.Truncate(size); err != nil {
		return err
	}
	m, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte("written"), 5000); err != nil {
		return err
	}
	if got := string(m[5000:5007]); got != "written" {
		return fmt.Errorf("the mapping shows %q", got)
	}
	copy(m[10000:], " synced")
	if err := unix.Msync(m, unix.MS_SYNC); err != nil {
		return err
	}
	copy(m[20000:], " not synced")
	return nil
}

// measure returns medians: the times have long tails.
func measure(path string) string {
	const n = 300
	var took [3][]time.Duration
	page := make([]byte, 4096)
	err := with(path, 0, func(f *os.File) error {
		for i := range int64(n) {
			for k, do := range []func() error{
				func() error { _, err := f.WriteAt(page, i*4096); return err },
				f.Sync,
				func() error { _, err := f.ReadAt(page, i*4096); return err },
			} {
				began := time.Now()
				if err := do(); err != nil {
					return err
				}
				took[k] = append(took[k], time.Since(began))
			}
		}
		return nil
	})
	if err != nil {
		return told(err)
	}
	var words []string
	for _, all := range took {
		slices.Sort(all)
		words = append(words, fmt.Sprint(all[n/2].Nanoseconds()))
	}
	return strings.Join(words, " ")
}

func with(path string, flag int, do func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|flag, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(f)
}

func told(err error) string {
	var number syscall.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &number):
		return unix.ErrnoName(number)
	}
	return err.Error()
}
