package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"recount/internal/procstat"
)

// hostile does what a node can to have whoever acts on it reach beyond it: links out of its data folder, a name that is made
// to be misread in /proc, a process that cannot be taken for dead, and children that come and go so that numbers of
// processes are used again.
func hostile(data, precious string) error {
	for name, target := range map[string]string{
		"out": precious, "file": filepath.Join(precious, "file"), "up": "../../..", "proc": "/proc/1/root", "loop": "loop", ") Z 1 1": "/",
	} {
		if err := os.Symlink(target, filepath.Join(data, name)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(data, strings.Repeat("deep/", 50)), 0o755); err != nil {
		return err
	}
	name := append([]byte(") Z 1 (x) T 0"), 0)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, 15, uintptr(unsafe.Pointer(&name[0])), 0); errno != 0 { // PR_SET_NAME
		return errno
	}
	if err := exec.Command(os.Args[0], "idle").Start(); err != nil {
		return err
	}
	go func() {
		for range time.Tick(5 * time.Millisecond) {
			_ = exec.Command(os.Args[0], "nothing").Run()
		}
	}()
	return nil
}

// processes are the numbers of all processes that this one sees.
func processes() string {
	var all []string
	entries, err := os.ReadDir("/proc")
	check(err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, err := procstat.Of(pid); err == nil && !s.Ended() {
			all = append(all, e.Name())
		}
	}
	return strings.Join(all, " ")
}

// sockets are those of others in this network namespace, but the engine's own for names.
func sockets() string {
	const ownPort, engine = 7000, "0B00007F" // 127.0.0.11
	var all []string
	for _, file := range []string{"tcp", "tcp6", "udp", "udp6"} {
		b, err := os.ReadFile("/proc/net/" + file)
		check(err)
		for _, line := range strings.Split(string(b), "\n")[1:] {
			f := strings.Fields(line)
			if len(f) < 4 {
				continue
			}
			addr, port, _ := strings.Cut(f[1], ":")
			n, _ := strconv.ParseInt(port, 16, 32)
			listens := f[3] == "0A" || strings.HasPrefix(file, "udp")
			if listens && n != ownPort && addr != engine {
				all = append(all, fmt.Sprintf("%s:%s:%d", file, addr, n))
			}
		}
	}
	return strings.Join(all, " ")
}
