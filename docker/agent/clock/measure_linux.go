//go:build amd64 || arm64

package clock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Measure has a thread of the process read its clocks, just as the program itself would.
func (p *Patch) Measure(within time.Duration) (s Sample, err error) {
	err = trace(p.pid, within, func(deadline time.Time) (err error) {
		for {
			if _, _, err := p.read(); err != nil {
				return err
			}
			s, err = p.measureInAny(deadline)
			if !errors.Is(err, ErrGone) && !errors.Is(err, unix.ESRCH) || time.Now().After(deadline) {
				return err
			}
			time.Sleep(time.Millisecond) // the thread has ended: the process may have others, or run another program
		}
	})
	if err != nil {
		return s, fmt.Errorf("measure the clocks of process %d: %w", p.pid, err)
	}
	return s, nil
}

// measureInAny takes the first thread that will do.
func (p *Patch) measureInAny(deadline time.Time) (s Sample, err error) {
	tids, err := threads(p.pid)
	if err != nil {
		return s, err
	}
	err = ErrGone // unless one has not ended
	for _, tid := range byPatience(tids) {
		if s, err = p.measureIn(tid, deadline); err == nil || time.Now().After(deadline) {
			break
		}
	}
	return s, err
}

// byPatience puts threads first that will not miss some microseconds.
func byPatience(tids []int) []int {
	var idle, busy []int
	for _, tid := range tids {
		switch threadState(tid) {
		case 'S', 'T':
			idle = append(idle, tid)
		case 'Z', 'X':
		default:
			busy = append(busy, tid)
		}
	}
	return append(idle, busy...)
}

// measureIn stops a thread, and only then looks whether the patch is there: until it stood still, the process could
// execute another program. It no longer can, but by another thread, which ends this one.
func (p *Patch) measureIn(tid int, deadline time.Time) (Sample, error) {
	if err := seize(tid); err != nil {
		return Sample{}, err
	}
	if err := await(tid, deadline); err != nil {
		return Sample{}, err
	}
	defer detach([]int{tid})
	if _, _, err := p.read(); err != nil {
		return Sample{}, err
	}
	return p.measure(tid)
}

// measure reads the clocks in a stopped thread.
func (p *Patch) measure(tid int) (s Sample, err error) {
	if s.Wall, err = p.call(tid, realtime); err == nil {
		s.Monotonic, err = p.call(tid, monotonic)
	}
	return s, err
}

// call calls the process's clock_gettime, on a stack of our own: that of a Go thread may be about to end.
func (p *Patch) call(tid int, clock int) (r Reading, err error) {
	r.Before = read(clock)
	result, err := borrow(tid, false, p.code+gateEnd, func(r *registers) {
		r.calls(p.code+gateAt, p.entry, p.data+dataSize, uint64(clock), p.data+answerAt)
	})
	r.After = read(clock)
	if err == nil && result != 0 {
		err = errors.New("its clock_gettime fails")
	}
	if err != nil {
		return r, err
	}
	timespec := make([]byte, 16)
	if err := peek(p.pid, p.data+answerAt, timespec); err != nil {
		return r, err
	}
	r.Read = int64(binary.LittleEndian.Uint64(timespec))*1e9 + int64(binary.LittleEndian.Uint64(timespec[8:]))
	return r, nil
}
