//go:build linux

package process

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"recount/internal/procstat"
	"recount/virtual/wire"
)

// What all nodes have.
const (
	cpus    = 2                // as runtime.NumCPU says
	collect = 10 * time.Second // between garbage collections
)

// again is d without what a grant says once.
func (d Disk) again() Disk { d.Die, d.Torn = 0, 0; return d }

// Process is a node. Its methods must not be called concurrently.
type Process struct {
	cmd    *exec.Cmd
	mem    []byte
	h      *wire.Header
	grant  int // the pipes: to write grants to,
	report int // and to read reports from
	last   Grant
	early  []byte // messages taken before the report was whole
	away   bool   // it is the node's turn
	stderr *tail
	opts   Options
	ended  bool
	turn   [1]byte // what is read from and written to the pipes
	polled [1]unix.PollFd
}

// Start starts a node, which does nothing before its first grant but to come to life.
func Start(o Options) (*Process, error) {
	if o.Start <= 0 {
		return nil, fmt.Errorf("%s: a node begins at a time after 0, not %d", o.Path, o.Start)
	}
	text, err := o.Text()
	if err != nil {
		return nil, err
	}
	p := &Process{opts: o, stderr: &tail{to: o.Stderr}}
	fd, err := unix.MemfdCreate("recount-node", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory to share with %s: %w", o.Path, err)
	}
	mem := os.NewFile(uintptr(fd), "recount-node")
	defer mem.Close()
	if err := mem.Truncate(wire.Size); err != nil {
		return nil, fmt.Errorf("memory to share with %s: %w", o.Path, err)
	}
	if p.mem, err = unix.Mmap(fd, 0, wire.Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("memory to share with %s: %w", o.Path, err)
	}
	p.h = (*wire.Header)(unsafe.Pointer(&p.mem[0]))
	copy(p.mem[wire.TextAt:], text)
	*p.h = wire.Header{
		Magic: wire.Magic, Version: wire.Version, TextLen: uint32(len(text)),
		Seed: o.Seed, Start: o.Start, Collect: int64(collect),
		Policy: o.Policy, Preempt: o.Preempt, CPUs: cpus, IP: o.IP,
		Trace: flag(o.Trace != nil), Files: flag(o.Files), StopAt: o.StopAt, SyncTime: int64(o.SyncTime),
	}
	if err := p.start(mem); err != nil {
		return nil, errors.Join(err, unix.Munmap(p.mem))
	}
	return p, nil
}

func (p *Process) start(mem *os.File) error {
	o := &p.opts
	var grant, report [2]int
	if err := unix.Pipe2(grant[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	theirs := []*os.File{mem, os.NewFile(uintptr(grant[0]), "grant")}
	defer func() { theirs[1].Close() }()
	if err := unix.Pipe2(report[:], unix.O_CLOEXEC); err != nil {
		unix.Close(grant[1])
		return err
	}
	theirs = append(theirs, os.NewFile(uintptr(report[1]), "report"))
	defer func() { theirs[2].Close() }()
	line := append(append(o.Prefix[:len(o.Prefix):len(o.Prefix)], o.Path), o.Args...)
	c := exec.Command(line[0], line[1:]...)
	if len(o.Prefix) == 0 {
		c.Args[0] = filepath.Base(o.Path) // where it was built is chance
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the harness: a node that it ended would be accused of that
	c.Dir = filepath.Join(o.Root, o.Dir)
	c.Env = append([]string{wire.Env + "=1"}, o.Env...)
	c.Stderr = p.stderr
	if f, ok := o.Stderr.(*os.File); ok {
		c.Stderr = f
	}
	c.ExtraFiles = theirs
	if o.Trace != nil {
		c.ExtraFiles = append(theirs[:3:3], o.Trace)
	}
	if err := c.Start(); err != nil {
		unix.Close(grant[1])
		unix.Close(report[0])
		return fmt.Errorf("start %s: %w", o.Path, err)
	}
	p.cmd, p.grant, p.report = c, grant[1], report[0]
	return nil
}

// Run lets the node go on with a grant, and waits until it reports: Go, and Wait.
func (p *Process) Run(g Grant) (Report, error) {
	p.Go(g)
	return p.Wait()
}

// Go lets the node go on with a grant. Wait must follow, but other nodes may be let go before that.
func (p *Process) Go(g Grant) {
	p.last = g
	if !p.ended {
		p.put(g)
		p.hand() // an error is that it has ended: Wait will see that
	}
}

// Wait waits until the node reports. An error is the node's breach of the contract (it spins, or sits in a call of the
// system that never returns): it has been ended by then. A *Stuck has the stacks of its goroutines.
func (p *Process) Wait() (Report, error) {
	if p.ended {
		return Report{}, errors.New("the node has ended")
	}
	p.early = p.early[:0]
	wrote := false
	for {
		ended, err := p.await()
		if err != nil {
			return Report{}, err
		}
		out := p.mem[wire.OutAt : wire.OutAt+int(min(p.h.Out, wire.Area))]
		wrote = wrote || p.h.Wrote != 0
		if p.h.Why == wire.More && !ended {
			p.early = append(p.early, out...)
			g := p.last
			p.put(Grant{Floor: g.Floor, Horizon: g.Horizon, Wall: g.Wall, Disk: g.Disk.again()})
			p.hand()
			continue
		}
		if len(p.early) > 0 || ended { // the memory goes with the process
			out = append(p.early, out...)
		}
		r := Report{Now: p.h.Now, Next: p.h.Next, Hash: p.h.Hash, Events: p.h.Events, Wrote: wrote}
		for len(out) > 0 {
			m, rest, ok := wire.Cut(out)
			if !ok {
				return Report{}, errors.Join(fmt.Errorf("%s sent what is no message", p.opts.Path), p.Kill())
			}
			r.Messages, out = append(r.Messages, m), rest
		}
		if ended {
			r.Next, r.Ended = 0, p.wait()
		}
		return r, nil
	}
}

func (p *Process) put(g Grant) {
	in := p.mem[wire.InAt : wire.InAt : wire.InAt+wire.Area]
	for _, m := range g.Messages {
		if len(in)+wire.MessageSize(len(m.Data)) > wire.Area {
			panic("process: more messages in a grant than there is room for")
		}
		in = wire.Append(in, m)
	}
	h := p.h
	h.Floor, h.Horizon, h.Wall, h.In = g.Floor, g.Horizon, g.Wall, uint32(len(in))
	h.Wrote = 0
	h.Slow, h.Errors, h.Full = int64(g.Disk.Slow), g.Disk.Errors, flag(g.Disk.Full)
	if g.Turn != 0 {
		h.Seed, h.Turn = g.Turn, 1
	}
	if g.Disk.Die > 0 {
		h.Die, h.Torn = g.Disk.Die, g.Disk.Torn
	}
}

// await waits until it is the controller's turn.
func (p *Process) await() (ended bool, err error) {
	patience := cmp.Or(p.opts.Patience, 20*time.Second)
	tick := min(patience, 5*time.Second)
	waited, told, idle := time.Duration(0), tick, time.Duration(0)
	began, last := time.Duration(-1), time.Duration(-1)
	p.polled[0] = unix.PollFd{Fd: int32(p.report), Events: unix.POLLIN}
	if p.soon() {
		return p.taken()
	}
	for {
		n, err := unix.Poll(p.polled[:], int(tick/time.Millisecond))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return false, fmt.Errorf("%s: %w", p.opts.Path, err)
		case n > 0:
			return p.taken()
		}
		if n != 0 {
			continue
		}
		if waited += tick; waited >= told && p.opts.Waits != nil {
			p.opts.Waits(waited)
			told *= 2
		}
		used := p.Used()
		switch {
		case began < 0:
			began = used
		case used-began >= patience:
			return false, p.GiveUp(fmt.Sprintf("has gone on for %.1f s of CPU time without coming to rest: it goes round in a loop, and waits for nothing there", (used - began).Seconds()))
		case used != last || !p.sleeps(): // it has had no more of the machine
			last, idle = used, 0
		case idle+tick < patience:
			idle += tick
		default:
			return false, p.GiveUp("sits in a call of the operating system that does not return: virtual time stands still until it does")
		}
	}
}

// Most nodes report within microseconds. To have Go's scheduler know of each wait would cost more than the waits themselves: it would
// give this thread's place to another. So these calls are made behind its back, and none of them for longer than at once.

// atOnce is what a call may take that the scheduler does not know of.
var atOnce = unix.Timespec{Nsec: int64(200 * time.Microsecond)}

// soon waits for a report that comes at once, and tells whether it has come.
func (p *Process) soon() bool {
	within := atOnce
	n, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p.polled[0])), 1, uintptr(unsafe.Pointer(&within)), 0, 0, 0)
	return e == 0 && n > 0
}

// taken takes a report that has come: it has ended if there is none.
func (p *Process) taken() (ended bool, err error) {
	p.away = false
	n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(p.report), uintptr(unsafe.Pointer(&p.turn[0])), 1)
	if e != 0 {
		return false, fmt.Errorf("%s: %w", p.opts.Path, e)
	}
	return n == 0, nil
}

// hand gives the node its turn.
func (p *Process) hand() {
	p.away = true
	unix.RawSyscall(unix.SYS_WRITE, uintptr(p.grant), uintptr(unsafe.Pointer(&p.turn[0])), 1)
}

// GiveUp ends a node that does not come to rest, as what says, and returns a *Stuck that has the stacks of its goroutines.
func (p *Process) GiveUp(what string) error {
	p.quit()
	wrote := p.wrote() // before the memory goes with it
	p.wait()
	return &Stuck{Path: p.opts.Path, What: what, Wrote: wrote, Stacks: p.stderr.String()}
}

// Quit ends a node that waits for its next grant, and has its runtime write the stacks of its goroutines to Options.Stderr. Of a node
// that has ended it does nothing.
func (p *Process) Quit() {
	if !p.ended {
		p.quit()
		p.wait()
	}
}

// quit ends a node as SIGQUIT does, which the runtime of every Go program answers with all stacks.
func (p *Process) quit() {
	p.cmd.Process.Signal(syscall.SIGQUIT)
	unix.Poll([]unix.PollFd{{Fd: int32(p.report), Events: unix.POLLIN}}, 5000)
	p.cmd.Process.Kill()
}

// wrote is what the node has written in its turn, which it does not end.
func (p *Process) wrote() (text []byte) {
	if !p.away {
		return nil
	}
	out := append(p.early, p.mem[wire.OutAt:wire.OutAt+int(min(p.h.Out, wire.Area))]...)
	for {
		m, rest, ok := wire.Cut(out)
		if !ok {
			return text
		}
		if out = rest; m.Type == wire.Output {
			text = append(text, m.Data[4:]...)
		}
	}
}

// Used is the CPU time of the node so far.
func (p *Process) Used() time.Duration {
	s, _ := procstat.Of(p.cmd.Process.Pid)
	return s.Used
}

// sleeps tells whether all threads of the node wait for something other than a CPU or a disk.
func (p *Process) sleeps() bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
	for _, task := range tasks {
		if s, err := procstat.Read(task); err == nil && s.State != 'S' {
			return false
		}
	}
	return true
}

// PID is its number, as the kernel has it.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill ends the node as SIGKILL does. Of a node that has ended it does nothing.
func (p *Process) Kill() error {
	if p.ended {
		return nil
	}
	err := p.cmd.Process.Kill()
	p.wait()
	return err
}

func (p *Process) wait() *os.ProcessState {
	if p.ended {
		return p.cmd.ProcessState
	}
	p.ended = true
	p.cmd.Wait()
	unix.Close(p.grant)
	unix.Close(p.report)
	unix.Munmap(p.mem)
	p.mem, p.h = nil, nil
	return p.cmd.ProcessState
}

// tail keeps the end of what is written to it, and passes it on.
type tail struct {
	mu sync.Mutex
	to io.Writer
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b = append(t.b, b...); len(t.b) > 1<<20 {
		t.b = t.b[len(t.b)-1<<20:]
	}
	if t.to == nil {
		return len(b), nil
	}
	return t.to.Write(b)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
