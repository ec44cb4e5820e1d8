// Package procstat reads what Linux tells of a process or a thread in its file /proc/…/stat.
package procstat

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Stat is what the kernel tells of a process or a thread.
type Stat struct {
	State   byte          // as proc_pid_stat(5) has them: 'R' runs or wants to, 'S' sleeps, 'D' waits for a disk, 'T' is stopped, …
	Parent  int           // the process that started it, or has taken its place
	Used    time.Duration // of processors, by itself and by the kernel for it
	Threads int           // of its process
	Started string        // in ticks since the machine was started: tells it from a later one of the same number
	Exiting bool          // it runs no more of its program, though the kernel may not be done with it
}

// Ended tells whether it has, and only its parent does not know yet.
func (s Stat) Ended() bool { return s.State == 'Z' || s.State == 'X' }

// Of reads the file of a process, or of a thread by its own number.
func Of(pid int) (Stat, error) { return Read(fmt.Sprintf("/proc/%d/stat", pid)) }

// Read reads such a file. The error is one of os.ReadFile's, as where nothing has that number, or the file is none of the kind.
func Read(path string) (Stat, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Stat{}, err
	}
	s, err := parse(b)
	if err != nil {
		return Stat{}, fmt.Errorf("%s: strange: %q", path, b)
	}
	return s, nil
}

// tick is the unit of times: USER_HZ is 100 on all that Linux runs on.
const tick = 10 * time.Millisecond

const pfExiting = 0x4 // PF_EXITING of linux/sched.h

// parse reads what such a file holds. It is no use to read on from its start: the name in it may hold anything.
func parse(b []byte) (s Stat, err error) {
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // from the third on
	if len(fields) < 20 {
		return s, errors.New("too few fields")
	}
	parent, parentErr := strconv.Atoi(fields[1])
	flags, flagsErr := strconv.ParseUint(fields[6], 10, 64)
	user, userErr := strconv.ParseInt(fields[11], 10, 64)
	kernel, kernelErr := strconv.ParseInt(fields[12], 10, 64)
	threads, err := strconv.Atoi(fields[17])
	s = Stat{State: fields[0][0], Parent: parent, Used: time.Duration(user+kernel) * tick, Threads: threads, Started: fields[19], Exiting: flags&pfExiting != 0}
	return s, errors.Join(parentErr, flagsErr, userErr, kernelErr, err)
}
