//go:build amd64 || arm64

package clock

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Waits tells by which clocks threads of a process wait inside the kernel, just now, until an absolute time: the wall
// clock, the monotonic one. Such waits go by the true clock, whatever the program believes.
//
// What shows is threads in nanosleeps, futexes and message queues, and armed timers that have a file; not other timers, and
// what io_uring waits for.
func Waits(pid int) (wall, monotonic bool) {
	tids, err := threads(pid)
	if err != nil {
		return false, false
	}
	add := func(id int, waits bool) {
		wall = wall || waits && id == unix.CLOCK_REALTIME
		monotonic = monotonic || waits && (id == unix.CLOCK_MONOTONIC || id == unix.CLOCK_BOOTTIME)
	}
	for _, tid := range tids {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", pid, tid)); err == nil {
			add(waitOf(strings.Fields(string(b))))
		}
	}
	descriptors := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(descriptors)
	if err != nil {
		return wall, monotonic
	}
	for _, e := range entries {
		if what, err := os.Readlink(descriptors + "/" + e.Name()); err == nil && what == "anon_inode:[timerfd]" {
			add(timerOf(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, e.Name())))
		}
	}
	return wall, monotonic
}

// Operations of futex, and flags, as the kernel's interface has them.
const (
	futexLockPI        = 6
	futexWaitBitset    = 9
	futexWaitRequeuePI = 11
	futexLockPI2       = 13
	futexRealtime      = 256
	futexCommand       = 127
	sysFutexWaitv      = 449

	timerAbsolute = 1
)

// waitOf tells by which clock a thread waits, from the number of its system call and its arguments, and whether it does so
// until an absolute time.
func waitOf(call []string) (id int, absolute bool) {
	var words [7]int
	for i := range min(len(call), len(words)) {
		w, err := strconv.ParseUint(call[i], 0, 64)
		if err != nil { // "running"
			return 0, false
		}
		words[i] = int(w)
	}
	args := words[1:]
	switch words[0] {
	case unix.SYS_CLOCK_NANOSLEEP:
		return args[0], args[1]&timerAbsolute != 0
	case unix.SYS_FUTEX:
		id = unix.CLOCK_MONOTONIC
		if args[1]&futexRealtime != 0 {
			id = unix.CLOCK_REALTIME
		}
		switch args[1] & futexCommand {
		case futexWaitBitset, futexWaitRequeuePI, futexLockPI2:
			return id, args[3] != 0
		case futexLockPI:
			return unix.CLOCK_REALTIME, args[3] != 0
		}
	case sysFutexWaitv:
		return args[4], args[3] != 0
	case unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE:
		return unix.CLOCK_REALTIME, args[4] != 0
	}
	return 0, false
}

// timerOf reads the same of a timer that has a file.
func timerOf(path string) (id int, absolute bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	id, armed := -1, false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch name {
		case "clockid":
			id, _ = strconv.Atoi(value)
		case "settime flags":
			flags, _ := strconv.ParseUint(value, 8, 64)
			absolute = flags&timerAbsolute != 0
		case "it_value":
			armed = value != "(0, 0)"
		}
	}
	return id, absolute && armed
}
