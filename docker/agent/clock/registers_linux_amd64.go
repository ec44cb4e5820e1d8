package clock

import (
	"debug/elf"

	"golang.org/x/sys/unix"
)

// What is told of programs by their kind of machine.
const (
	machine = elf.EM_X86_64
	aligned = 1 // at a multiple of this is every instruction
)

var (
	functionNames = [...]string{"__vdso_clock_gettime", "__vdso_gettimeofday", "__vdso_time"}
	systemCall    = []byte{0x0f, 0x05} // the instruction
)

// registers are those of a thread that is stopped.
type registers struct{ unix.PtraceRegsAmd64 }

func (r *registers) read(tid int) error  { return unix.PtraceGetRegsAmd64(tid, &r.PtraceRegsAmd64) }
func (r *registers) write(tid int) error { return unix.PtraceSetRegsAmd64(tid, &r.PtraceRegsAmd64) }

// counter is the address of the next instruction.
func (r *registers) counter() uint64 { return r.Rip }

// stack is the address of what was pushed last.
func (r *registers) stack() uint64 { return r.Rsp }

// link is the address that a function returns to if no stack has it. Here one always has.
func (r *registers) link() uint64 { return 0 }

// result is what a function or a system call has returned.
func (r *registers) result() uint64 { return r.Rax }

// asks has the thread make a system call, by an instruction at that address.
func (r *registers) asks(at, number uint64, args [6]uint64) {
	r.Rip, r.Rax = at, number
	r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9 = args[0], args[1], args[2], args[3], args[4], args[5]
	r.leave()
}

// calls has the thread call a function through the gate, on that stack.
func (r *registers) calls(gate, function, stack, first, second uint64) {
	r.Rip, r.Rax, r.Rsp = gate, function, stack
	r.Rdi, r.Rsi = first, second
	r.leave()
}

// leave has the kernel forget that the thread was in a system call, which it would else begin again.
func (r *registers) leave() { r.Orig_rax = ^uint64(0) }

// again is what a thread goes on with that was interrupted there: its system call, too, for what is left of its time.
func (r *registers) again(int) registers { return *r }

// patience tells of a stopped thread how far it is from being in the middle of something: 0 is the least.
func (r *registers) patience(int) int {
	if int64(r.Orig_rax) >= 0 { // in a system call
		return 0
	}
	return 1
}
