//go:build linux

package agent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	starvedTick = 50 * time.Millisecond
	// starvedMin is how long one thread of a node waits for a processor before that is told as a stall. It is longer than a
	// tick, so that many short waits do not add up to it.
	starvedMin = 100 * time.Millisecond
	// threadsEvery is how often threads that are new are looked for.
	threadsEvery = 20 // ticks
)

// watchStarved tells how long a thread of a node was ready to run and had no processor. A machine can keep a node from
// running while this agent runs as it should; what the node does then is not its fault either.
func (a *agent) watchStarved(ctx context.Context, tell func(time.Duration)) {
	tick := time.NewTicker(starvedTick)
	defer tick.Stop()
	threads := waiting{}
	defer threads.close()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n%threadsEvery == 0 {
			threads.find(a.processes())
		}
		if longest := threads.read(a.strained()); longest >= starvedMin {
			tell(longest + starvedTick) // it ended since the last tick
		}
	}
}

// processes returns the processes of all nodes, and which node each is of.
func (a *agent) processes() map[int]string {
	a.mu.Lock()
	var firsts []first
	nodes := map[uint64]string{} // by their network namespaces
	for _, p := range a.places {
		firsts = append(firsts, p.procs...)
		for _, f := range p.procs {
			nodes[f.network] = p.name
		}
	}
	a.mu.Unlock()
	all := map[int]string{}
	pids, _ := members(firsts) // those that are seen are enough
	for _, pid := range pids {
		if space, err := inode(fmt.Sprintf("/proc/%d/ns/net", pid)); err == nil {
			all[pid] = nodes[space]
		}
	}
	return all
}

// strained returns the nodes whose threads may wait because of a fault. Whether the machine stands still shows in the others.
func (a *agent) strained() map[string]bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[string]bool{}
	for name, p := range a.places {
		all[name] = p.strained()
	}
	return all
}

// waiting holds threads, by number, and how long each has waited for a processor in all.
type waiting map[int]*thread

// thread is one thread's /proc/PID/task/TID/schedstat, which stays open, as it is read often.
type thread struct {
	node   string
	fd     int
	waited time.Duration
	seen   bool // in the last look
}

// find opens threads of processes that are new, and closes those that are gone.
func (w waiting) find(pids map[int]string) {
	for _, t := range w {
		t.seen = false
	}
	for pid, node := range pids {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil {
				continue
			}
			if t := w[tid]; t != nil {
				t.seen = true
				continue
			}
			fd, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				continue // gone since, or a kernel that does not tell
			}
			t := &thread{node: node, fd: fd, seen: true}
			if waited, ok := t.read(); ok {
				t.waited = waited
			}
			w[tid] = t
		}
	}
	for tid, t := range w {
		if !t.seen {
			unix.Close(t.fd)
			delete(w, tid)
		}
	}
}

// read returns the longest that any thread has waited since the last read, but for those of some nodes.
func (w waiting) read(but map[string]bool) (longest time.Duration) {
	for tid, t := range w {
		waited, ok := t.read()
		if !ok { // it has ended
			unix.Close(t.fd)
			delete(w, tid)
			continue
		}
		if !but[t.node] {
			longest = max(longest, waited-t.waited)
		}
		t.waited = waited
	}
	return longest
}

// read returns how long the thread has waited in all, until it last got a processor.
func (t *thread) read() (waited time.Duration, ok bool) {
	var buf [96]byte
	n, err := unix.Pread(t.fd, buf[:], 0)
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(buf[:n]) // nanoseconds run, nanoseconds waited, turns
	if len(fields) < 2 {
		return 0, false
	}
	ns, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return time.Duration(ns), err == nil
}

func (w waiting) close() {
	for _, t := range w {
		unix.Close(t.fd)
	}
}
