//go:build amd64 || arm64

package clock

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"recount/internal/procstat"
)

var (
	tracingMu sync.Mutex
	tracing   = map[int]bool{} // by process: it is being traced
)

// trace runs f, which traces a process, on a thread of its own. The thread ends with f, upon which the kernel lets go of
// whatever is still traced by it.
//
// f gives up by the deadline as long as it has not changed anything. Should it hang all the same, because the process was
// frozen with f in the middle of it, then trace returns, and f puts the process in order when it is thawed.
func trace(pid int, within time.Duration, f func(deadline time.Time) error) error {
	deadline := time.Now().Add(within)
	for !begin(pid) {
		if time.Now().After(deadline) {
			return errors.New("it does not react: is it frozen?")
		}
		time.Sleep(time.Millisecond)
	}
	done := make(chan error, 1)
	go onOwnThread(func() {
		defer end(pid)
		done <- f(deadline)
	})
	select {
	case err := <-done:
		if errors.Is(err, unix.ESRCH) { // a thread that we have stopped is nowhere to be found
			return ErrGone
		}
		return err
	case <-time.After(within + 100*time.Millisecond):
		return errors.New("it does not react any more: is it frozen?")
	}
}

// onOwnThread calls f on a thread that ends with the goroutine. The first thread of a program never ends, so it will not
// do: while it is held, another goroutine gets another thread.
func onOwnThread(f func()) {
	runtime.LockOSThread() // for good
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
	runtime.UnlockOSThread()
}

func begin(pid int) bool {
	tracingMu.Lock()
	defer tracingMu.Unlock()
	if tracing[pid] {
		return false
	}
	tracing[pid] = true
	return true
}

func end(pid int) {
	tracingMu.Lock()
	defer tracingMu.Unlock()
	delete(tracing, pid)
}

// stopAll stops all threads of a process, those that are born meanwhile as well.
func stopAll(pid int, deadline time.Time) (stopped []int, err error) {
	known := map[int]bool{}
	for {
		tids, err := threads(pid)
		if err != nil {
			return stopped, err
		}
		var fresh []int
		for _, tid := range tids {
			if known[tid] {
				continue
			}
			known[tid] = true
			switch err := seize(tid); {
			case errors.Is(err, ErrGone):
			case err != nil:
				return stopped, err
			default:
				fresh = append(fresh, tid)
			}
		}
		if len(fresh) == 0 {
			break
		}
		for _, tid := range fresh {
			switch err := await(tid, deadline); {
			case errors.Is(err, ErrGone):
			case err != nil:
				return stopped, err
			default:
				stopped = append(stopped, tid)
			}
		}
	}
	if len(stopped) == 0 {
		return nil, ErrGone
	}
	return stopped, nil
}

func threads(pid int) (tids []int, err error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, ErrGone
	}
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, nil
}

// seize begins to trace a thread and asks it to stop. No signal is sent: the program does not notice.
func seize(tid int) error {
	err := unix.PtraceSeize(tid)
	if err == nil {
		err = unix.PtraceInterrupt(tid)
	}
	switch {
	case errors.Is(err, unix.ESRCH), err != nil && ended(tid):
		return ErrGone
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("trace its thread %d: not permitted, or a debugger does already: %w", tid, err)
	case err != nil:
		return fmt.Errorf("trace its thread %d: %w", tid, err)
	}
	return nil
}

// threadState is the state letter of a thread, 'Z' if it has ended.
func threadState(tid int) byte {
	s, err := procstat.Of(tid)
	if err != nil {
		return 'Z'
	}
	return s.State
}

// await waits until a thread has come to the stop that was asked for. Signals that come first are let through.
func await(tid int, deadline time.Time) error {
	for {
		status, err := wait(tid, deadline)
		if err != nil {
			return err
		}
		if int(status)>>16 == unix.PTRACE_EVENT_STOP {
			return nil
		}
		if err := ptrace(unix.PTRACE_CONT, tid, 0, uintptr(status.StopSignal())); err != nil {
			return fmt.Errorf("trace its thread %d: %w", tid, err)
		}
	}
}

// wait waits for the next stop of a thread. With a zero deadline it waits for as long as it takes.
//
// Of the end of a process's first thread the kernel tells only once somebody has waited for all the others, which are
// ours to wait for: so it is looked at, too.
func wait(tid int, deadline time.Time) (status unix.WaitStatus, err error) {
	const shortest, longest = 20 * time.Microsecond, time.Millisecond
	for pause := shortest; ; pause = min(2*pause, longest) {
		got, err := unix.Wait4(tid, &status, unix.WALL|unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD), err == nil && got == tid && !status.Stopped():
			return status, ErrGone
		case err != nil:
			return status, fmt.Errorf("wait for its thread %d: %w", tid, err)
		case got == tid:
			return status, nil
		case ended(tid):
			return status, ErrGone
		case !deadline.IsZero() && time.Now().After(deadline):
			return status, fmt.Errorf("its thread %d, in state %c, does not stop: is it frozen?", tid, threadState(tid))
		default:
			time.Sleep(pause)
		}
	}
}

// ended reports whether a thread has ended. One that nobody has waited for yet (a zombie) counts as ended, and so does one that is about to: the
// last of the first process of a pid namespace comes no further before whoever traces the others has let go of them.
func ended(tid int) bool {
	s, err := procstat.Of(tid)
	return err != nil || s.Ended() || s.Exiting
}

// detach lets threads go on as if nothing had been. Those that were asked to stop and have not yet are let go with the
// thread that traces them.
func detach(tids []int) {
	for _, tid := range tids {
		_ = ptrace(unix.PTRACE_DETACH, tid, 0, 0) // one that has been killed meanwhile needs it no more
	}
}

// borrow has a stopped thread run something else for a while: it continues with registers that set has changed, one
// instruction or until the trap before the address until, and is then put back to where it was. It returns what
// has come of it.
//
// The thread takes no signal meanwhile but the trap: one that was blocked when it came would make the kernel forget the
// program's own handler for it. A SIGSTOP, which cannot be blocked, is sent again afterwards.
func borrow(tid int, step bool, until uint64, set func(*registers)) (result uint64, err error) {
	var before registers
	if err := before.read(tid); err != nil {
		return 0, fmt.Errorf("read its registers: %w", err)
	}
	restoreMask, err := block(tid)
	if err != nil {
		return 0, err
	}
	regs, after := before, before.again(tid)
	set(&regs)
	stopped := false
	err = regs.write(tid)
	if err == nil {
		result, stopped, err = drive(tid, step, until)
	}
	if errors.Is(err, ErrGone) {
		return 0, err
	}
	err = errors.Join(err, after.write(tid), restoreMask())
	if stopped {
		err = errors.Join(err, unix.Kill(tid, unix.SIGSTOP)) // all of its process
	}
	if err != nil {
		return 0, fmt.Errorf("call into it: %w", err)
	}
	return result, nil
}

// drive lets a thread go on until it is there, and returns what has come of what it did, and whether it was sent a SIGSTOP
// that it has not heeded.
func drive(tid int, step bool, until uint64) (result uint64, stopped bool, err error) {
	request := unix.PTRACE_CONT
	if step {
		request = unix.PTRACE_SINGLESTEP
	}
	for range 10 {
		if err := ptrace(request, tid, 0, 0); err != nil {
			return 0, stopped, err
		}
		status, err := wait(tid, time.Time{})
		if err != nil {
			return 0, stopped, err
		}
		var regs registers
		if err := regs.read(tid); err != nil {
			return 0, stopped, err
		}
		if int(status)>>16 == 0 && status.StopSignal() == unix.SIGSTOP {
			stopped = true
			continue
		}
		if regs.counter() == until {
			return regs.result(), stopped, nil
		}
		if int(status)>>16 == 0 && status.StopSignal() != unix.SIGTRAP {
			return 0, stopped, fmt.Errorf("it got the signal %v at %#x", status.StopSignal(), regs.counter())
		}
	}
	return 0, stopped, errors.New("it does not get on")
}

const (
	ptraceGetSigmask = 0x420a
	ptraceSetSigmask = 0x420b
	sigmaskSize      = 8
)

// block blocks all signals of a stopped thread but SIGTRAP.
func block(tid int) (restore func() error, err error) {
	var before, blocked uint64 = 0, ^uint64(0) &^ (1 << (unix.SIGTRAP - 1))
	if err := ptrace(ptraceGetSigmask, tid, sigmaskSize, uintptr(unsafe.Pointer(&before))); err != nil {
		return nil, fmt.Errorf("read its signal mask: %w", err)
	}
	if err := ptrace(ptraceSetSigmask, tid, sigmaskSize, uintptr(unsafe.Pointer(&blocked))); err != nil {
		return nil, fmt.Errorf("block its signals: %w", err)
	}
	return func() error {
		return ptrace(ptraceSetSigmask, tid, sigmaskSize, uintptr(unsafe.Pointer(&before)))
	}, nil
}

// ptrace makes the one system call. Its data may be the address of a variable, which must not move meanwhile.
//
//go:uintptrescapes
func ptrace(request, tid int, addr, data uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// mostPatient picks the stopped thread that is least in the middle of something.
func mostPatient(tids []int) int {
	best, least := tids[0], math.MaxInt
	for _, tid := range tids {
		var regs registers
		if regs.read(tid) != nil {
			continue // killed
		}
		if p := regs.patience(tid); p < least {
			best, least = tid, p
		}
	}
	return best
}
