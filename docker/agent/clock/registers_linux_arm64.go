package clock

import (
	"bytes"
	"debug/elf"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What is told of programs by their kind of machine.
const (
	machine = elf.EM_AARCH64
	aligned = 4 // at a multiple of this is every instruction
)

var (
	functionNames = [...]string{"__kernel_clock_gettime", "__kernel_gettimeofday"}
	systemCall    = []byte{0x01, 0x00, 0x00, 0xd4} // svc #0
)

// Sets of registers, as the kernel's interface numbers them.
const (
	generalSet = 1
	vectorSet  = 0x405 // those of SVE, which a system call need not keep
)

// registers are those of a thread that is stopped.
type registers struct {
	unix.PtraceRegsArm64
	vectors []byte // as the kernel words them; none where the processor has no long ones
}

func (r *registers) read(tid int) error {
	if err := unix.PtraceGetRegSetArm64(tid, generalSet, &r.PtraceRegsArm64); err != nil {
		return err
	}
	longest := make([]byte, 32<<10) // 32 registers of 2048 bits and 17 of 256, and what is said of them
	at := unix.Iovec{Base: &longest[0], Len: uint64(len(longest))}
	if ptrace(unix.PTRACE_GETREGSET, tid, vectorSet, uintptr(unsafe.Pointer(&at))) == nil {
		r.vectors = longest[:at.Len]
	}
	return nil
}

func (r *registers) write(tid int) error {
	if len(r.vectors) > 0 {
		at := unix.Iovec{Base: &r.vectors[0], Len: uint64(len(r.vectors))}
		if err := ptrace(unix.PTRACE_SETREGSET, tid, vectorSet, uintptr(unsafe.Pointer(&at))); err != nil {
			return err
		}
	}
	return unix.PtraceSetRegSetArm64(tid, generalSet, &r.PtraceRegsArm64)
}

// counter is the address of the next instruction.
func (r *registers) counter() uint64 { return r.Pc }

// stack is the address of what was pushed last.
func (r *registers) stack() uint64 { return r.Sp }

// link is the address that a function returns to if no stack has it.
func (r *registers) link() uint64 { return r.Regs[30] }

// result is what a function or a system call has returned.
func (r *registers) result() uint64 { return r.Regs[0] }

// asks has the thread make a system call, by an instruction at that address.
func (r *registers) asks(at, number uint64, args [6]uint64) {
	r.Pc, r.Regs[8] = at, number
	copy(r.Regs[:], args[:])
}

// calls has the thread call a function through the gate, on that stack.
func (r *registers) calls(gate, function, stack, first, second uint64) {
	r.Pc, r.Regs[16], r.Sp = gate, function, stack
	r.Regs[0], r.Regs[1] = first, second
}

// again is what a thread goes on with that was interrupted there. The kernel has put it back to before its system call, and would
// have it go on with what is left of a sleep, had we not had it do something else meanwhile: so it is told to.
func (r *registers) again(tid int) registers {
	next := *r
	if r.sleeps(tid) {
		next.Regs[8] = unix.SYS_RESTART_SYSCALL
	}
	return next
}

// sleeps tells whether the thread is in a system call that lasts for a time from when it was made.
func (r *registers) sleeps(tid int) bool {
	if !isSystemCall(tid, r.Pc) {
		return false
	}
	switch r.Regs[8] {
	case unix.SYS_NANOSLEEP:
		return true
	case unix.SYS_CLOCK_NANOSLEEP:
		return r.Regs[1]&timerAbsolute == 0
	case unix.SYS_FUTEX:
		const wait = 0
		return r.Regs[1]&futexCommand == wait && r.Regs[3] != 0
	}
	return false
}

// patience tells of a stopped thread how far it is from being in the middle of something: 0 is the least. One in a system call is
// before its instruction, if the kernel will make the call again, or after it.
func (r *registers) patience(tid int) int {
	switch {
	case r.sleeps(tid):
		return 1
	case isSystemCall(tid, r.Pc), isSystemCall(tid, r.Pc-uint64(len(systemCall))):
		return 0
	}
	return 2
}

func isSystemCall(tid int, at uint64) bool {
	b := make([]byte, len(systemCall))
	return peek(tid, at, b) == nil && bytes.Equal(b, systemCall)
}
