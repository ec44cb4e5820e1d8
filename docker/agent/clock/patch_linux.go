//go:build amd64 || arm64

package clock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Patch is a process whose clocks can be skewed.
type Patch struct {
	pid        int
	entry      uint64 // of clock_gettime, where the jump to code is
	code, data uint64 // addresses in the process
}

// Install patches a process, whose clocks err by t from then on. One that is patched already, by an agent before this or
// because it was forked from a patched one, is taken over as it is. A process that cannot be stopped within that time is
// left as it is.
func Install(pid int, t Timeline, within time.Duration) (*Patch, error) {
	var p *Patch
	err := trace(pid, within, func(deadline time.Time) (err error) {
		for {
			p, err = install(pid, t, deadline)
			if !errors.Is(err, errBusy) || time.Now().After(deadline) {
				return err
			}
			time.Sleep(time.Millisecond)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("skew the clocks of process %d: %w", pid, err)
	}
	return p, nil
}

// errBusy is that a thread is just in the bytes that are to be overwritten.
var errBusy = errors.New("a thread does not leave the beginning of a function of its vDSO")

func install(pid int, t Timeline, deadline time.Time) (*Patch, error) {
	if err := sameTimes(pid); err != nil {
		return nil, err
	}
	tids, err := stopAll(pid, deadline)
	defer func() { detach(tids) }()
	if err != nil {
		return nil, err
	}
	v, err := findVDSO(pid)
	if err != nil {
		return nil, err
	}
	if p, err := adopt(pid, v); p != nil || err != nil {
		return p, err
	}
	if busy(pid, tids, v) {
		return nil, errBusy
	}
	p := &Patch{pid: pid, entry: v.functions[0].Value}
	tid := mostPatient(tids)
	if p.code, err = mmap(tid, v, codeSize, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE); err != nil {
		return nil, fmt.Errorf("map code: %w", err)
	}
	if p.data, err = mmap(tid, v, dataSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("map data: %w", err)
	}
	if err := pokeText(tid, p.code, codePage(p.data, origin(v.entry(0), p.entry))); err != nil {
		return nil, fmt.Errorf("write code: %w", err)
	}
	if err := p.fill(t); err != nil {
		return nil, fmt.Errorf("write data: %w", err)
	}
	for i, f := range v.functions {
		if err := pokeText(tid, f.Value, jump(p.code+16*uint64(i))); err != nil {
			return nil, errors.Join(fmt.Errorf("patch %s: %w", f.Name, err), restore(tid, v))
		}
	}
	// Better no skew than a program that reads nonsense.
	s, err := p.measure(tid)
	if err == nil {
		err = s.Check(t)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("try the patched clock: %w", err), restore(tid, v))
	}
	return p, nil
}

// adopt takes over the patch that is there, if there is one.
func adopt(pid int, v *vdso) (*Patch, error) {
	code, patched := jumpTarget(v.entry(0))
	if !patched {
		return nil, nil
	}
	page := make([]byte, codeSize)
	if err := peek(pid, code, page); err != nil {
		return nil, fmt.Errorf("read a patch that is there: %w", err)
	}
	p := &Patch{pid: pid, entry: v.functions[0].Value, code: code, data: binary.LittleEndian.Uint64(page[dataAt:])}
	if string(page[:originAt]) != string(codePage(p.data, nil)[:originAt]) {
		return nil, errors.New("somebody else has patched its vDSO, or another version of Recount")
	}
	_, err := p.Timeline()
	return p, err
}

// stackSearched is how much of a thread's stack is looked through for where it will return to. A signal handler that
// interrupted a function of the vDSO will be at most so deep.
const stackSearched = 8 << 10

// busy tells whether a thread is within the bytes that will be overwritten, or is about to return into them.
func busy(pid int, tids []int, v *vdso) bool {
	within := func(addr uint64) bool {
		for _, f := range v.functions {
			if addr > f.Value && addr < f.Value+jumpSize {
				return true
			}
		}
		return false
	}
	stack := make([]byte, stackSearched)
	for _, tid := range tids {
		var regs registers
		if regs.read(tid) != nil {
			continue // killed
		}
		if within(regs.counter()) || within(regs.link()) {
			return true
		}
		sp := regs.stack() &^ 7
		b := stack
		for len(b) >= 512 && peek(pid, sp, b) != nil {
			b = b[:len(b)/2] // the stack may begin before that
		}
		for ; len(b) >= 8; b = b[8:] {
			if within(binary.LittleEndian.Uint64(b)) {
				return true
			}
		}
	}
	return false
}

func mmap(tid int, v *vdso, size, protection, flags uint64) (uint64, error) {
	at, err := borrow(tid, true, v.syscall+uint64(len(systemCall)), func(r *registers) {
		r.asks(v.syscall, unix.SYS_MMAP, [6]uint64{0, size, protection, flags | unix.MAP_ANONYMOUS, ^uint64(0), 0})
	})
	if err == nil && at > ^uint64(4095) {
		err = unix.Errno(-at)
	}
	return at, err
}

// pokeText writes where the process itself may not.
func pokeText(tid int, at uint64, b []byte) error {
	n, err := unix.PtracePokeText(tid, uintptr(at), b)
	if err == nil && n != len(b) {
		err = fmt.Errorf("%d of %d bytes", n, len(b))
	}
	return err
}

// restore undoes a patch that was made a moment ago.
func restore(tid int, v *vdso) (err error) {
	for i, f := range v.functions {
		err = errors.Join(err, pokeText(tid, f.Value, v.entry(i)[:jumpSize]))
	}
	return err
}

// fill writes the data for the first time.
func (p *Patch) fill(t Timeline) error {
	b := make([]byte, dataSize)
	binary.LittleEndian.PutUint64(b, magic)
	binary.LittleEndian.PutUint64(b[realAt:], p.code+originAt)
	copy(b[askedAt:], encodeSkew(t.Skew))
	copy(b[bank(0):], encodeDeviations(t.deviations))
	return poke(p.pid, p.data, b)
}

// Timeline reads how the clocks of the process err.
func (p *Patch) Timeline() (Timeline, error) {
	_, t, err := p.read()
	return t, err
}

func (p *Patch) read() (change byte, t Timeline, err error) {
	entry := make([]byte, jumpSize)
	if err := peek(p.pid, p.entry, entry); err != nil {
		return 0, t, err
	}
	b := make([]byte, stackAt)
	if to, patched := jumpTarget(entry); !patched || to != p.code {
		return 0, t, ErrLost
	}
	if err := peek(p.pid, p.data, b); err != nil {
		return 0, t, err
	}
	h := decodeHead(b)
	if h.magic != magic {
		return 0, t, ErrLost
	}
	return h.change, Timeline{Skew: h.asked, deviations: decodeDeviations(b[bank(h.change):])}, nil
}

// Turn has the clocks of the process err by s from now on, and returns since when. Those that give back what they have
// gained have only begun to: see Timeline.Settled.
func (p *Patch) Turn(s Skew) (at time.Time, err error) {
	for {
		change, t, err := p.read()
		switch {
		case err != nil:
			return time.Time{}, err
		case t.Skew == s && !t.slewing():
			if at.IsZero() {
				at = time.Now()
			}
			return at, nil
		}
		now := Now()
		if d := t.pending(now); d > 0 {
			time.Sleep(d)
			continue
		}
		next := t.Turn(s, now)
		if err := poke(p.pid, p.data+bank(change+1), encodeDeviations(next.deviations)); err != nil {
			return time.Time{}, err
		}
		if next.leads(t, Now()) < Lead/2 {
			continue // held up: the new rate would begin in the past
		}
		if err := poke(p.pid, p.data+askedAt, encodeSkew(s)); err != nil {
			return time.Time{}, err
		}
		at = time.Now()
		if err := poke(p.pid, p.data+changeAt, []byte{change + 1}); err != nil {
			return time.Time{}, err
		}
	}
}

// Now reads the real clocks.
func Now() (m Moment) {
	for _, id := range walls {
		m[id] = read(id)
	}
	for _, id := range steadies {
		m[id] = read(id)
	}
	return m
}

func read(id int) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(int32(id), &t); err != nil {
		panic(fmt.Sprintf("clock: read clock %d: %v", id, err)) // every kernel has them
	}
	return t.Nano()
}
