//go:build linux

package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"recount/history"
	"recount/internal/procstat"
)

// first is the first process of a container. Inside its own pid namespace it is number 1, and a first process ignores
// even SIGKILL and SIGSTOP that come from within, while kill(2) reports success. Signals therefore go out from the host's
// pid namespace, where the agent lives. When a first process is killed the kernel kills all others of its namespace
// before it is gone.
type first struct {
	pid     int
	pids    uint64 // the inode of its pid namespace
	network uint64 // that of its network namespace, which lasts for the whole run, as its anchor does
	started string // when, in the kernel's ticks: tells it from a later process of the same number
}

// openFirst looks at a process that was said to live in the network namespace with that inode. If it does not, then it
// has ended already and its number may have been handed on: a stranger must not get our signals. Such a first is dead.
func openFirst(pid int, network uint64) first {
	dead := first{pid: pid}
	s, err := procstat.Of(pid)
	if err != nil {
		return dead
	}
	if net, err := inode(fmt.Sprintf("/proc/%d/ns/net", pid)); err != nil || net != network {
		return dead
	}
	pids, err := inode(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err != nil {
		return dead
	}
	return first{pid: pid, pids: pids, network: network, started: s.Started}
}

// alive reports whether the process runs, be it stopped. A process that only waits for its parent to take note of its
// end is as good as gone, once its last thread has ended: its sockets are closed then.
func (f first) alive() bool {
	s, err := procstat.Of(f.pid)
	return err == nil && s.Started == f.started && (!s.Ended() || s.Threads > 1)
}

// kill is the end of the container. What is gone already needs no killing.
func (f first) kill() error { return f.signal(unix.SIGKILL) }

func (f first) signal(sig unix.Signal) error {
	if !f.alive() {
		return nil
	}
	return deliver(f.pid, sig)
}

// deliver sends a signal to a process. It is no error if that has ended.
func deliver(pid int, sig unix.Signal) error {
	if err := unix.Kill(pid, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("%v to process %d: %w", sig, pid, err)
	}
	return nil
}

// errGone is that a container's first process has ended.
var errGone = errors.New("is gone")

// suspend stops those processes of the containers, or lets them continue; of nil all. One that is just being born while the others
// are stopped must not get away, so it looks until it has found nobody new.
func suspend(containers []first, sig unix.Signal, of func(pid int) bool) error {
	told := map[int]bool{}
	tell := func(pid int) error {
		told[pid] = true
		if of != nil && !of(pid) {
			return nil
		}
		return deliver(pid, sig)
	}
	for _, f := range containers {
		if !f.alive() {
			return fmt.Errorf("process %d %w", f.pid, errGone)
		}
		if err := tell(f.pid); err != nil {
			return err
		}
	}
	for {
		pids, err := members(containers)
		if err != nil {
			return err
		}
		found := false
		for _, pid := range pids {
			if !told[pid] {
				found = true
				if err := tell(pid); err != nil {
					return err
				}
			}
		}
		if !found {
			return nil
		}
	}
}

// halt stops what runs in containers all of whose processes were stopped: a command that an engine was just beginning comes in after
// that, and may wait for those that stand still for as long as they do.
func halt(containers []first) error {
	if err := suspend(containers, unix.SIGSTOP, nil); !errors.Is(err, errGone) {
		return err
	}
	return nil
}

// members lists all processes in the pid namespaces of the containers. The inode of one that has ended is soon another's, be it of another
// node's container: that has another network namespace.
func members(containers []first) ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		ino, err := inode("/proc/" + name + "/ns/pid")
		if err != nil {
			continue // gone since
		}
		for _, f := range containers {
			if f.pids != ino {
				continue
			}
			if network, err := inode("/proc/" + name + "/ns/net"); err == nil && network == f.network {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

// observe tells what state the containers are in together, but for some processes of theirs, nil for none; "" when they are in several at once, which why explains.
func observe(containers []first, but func(pid int) bool) (state history.ProcState, why string, err error) {
	dead := 0
	for _, f := range containers {
		if !f.alive() {
			dead++
		}
	}
	switch {
	case dead == len(containers):
		return history.Down, "", nil
	case dead > 0:
		return "", fmt.Sprintf("%d of %d containers run", len(containers)-dead, len(containers)), nil
	}
	pids, err := members(containers)
	if err != nil {
		return "", "", err
	}
	stopped, frozen, spawning, threads := 0, 0, 0, 0
	for _, pid := range pids {
		if but != nil && but(pid) {
			continue
		}
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			continue // gone since
		}
		for _, t := range tasks {
			switch s, err := procstat.Read(fmt.Sprintf("/proc/%d/task/%s/stat", pid, t.Name())); {
			case err != nil || s.Ended():
			case s.State == 'T':
				stopped++
				threads++
			case s.State == 'D' && waitsIn(pid, t.Name(), "vfork", "kernel_clone"):
				spawning++
				threads++
			case s.State == 'D' || waitsIn(pid, t.Name(), "freezer_trap"):
				frozen++
				threads++
			default:
				threads++
			}
		}
	}
	switch {
	case threads == 0: // all of those that are left out
		return history.Up, "", nil
	case stopped > 0 && stopped+spawning == threads:
		return history.Paused, "", nil
	case frozen > 0 && frozen+stopped+spawning == threads && frozenAll(containers):
		return history.Frozen, "", nil
	case stopped == 0:
		return history.Up, "", nil // a thread may well wait for its disk
	}
	return "", fmt.Sprintf("%d of %d threads stand still", stopped, threads), nil
}

// frozenAll asks the kernel's freezer whether it has the containers. Threads that all wait for a disk, as the only one of a process that
// has just been started does, look the same by themselves. Where the freezer cannot be asked they are believed.
func frozenAll(containers []first) bool {
	groups := hostGroups()
	return !slices.ContainsFunc(containers, func(f first) bool {
		frozen, err := groups.frozen(strconv.Itoa(f.pid))
		return err == nil && !frozen
	})
}

// waitsIn tells whether a thread waits in one of these functions of the kernel. One that was caught by the freezer of cgroups does so
// in freezer_trap, in version 2; version 1 shows its threads as waiting for a disk. One that has just made a process waits in the same
// way until that has executed its program, however long it is stopped before that.
func waitsIn(pid int, thread string, functions ...string) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/wchan", pid, thread))
	return err == nil && slices.ContainsFunc(functions, func(f string) bool { return bytes.Contains(b, []byte(f)) })
}
