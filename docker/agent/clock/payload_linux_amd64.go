package clock

import (
	"bytes"
	"encoding/binary"
	"errors"

	"golang.org/x/arch/x86/x86asm"
)

const placeholder = 0x5ca1ab1e0ddba115

var endMark = []byte{0x0f, 0x0b, 0xde, 0xad, 0xbe, 0xef, 0x0f, 0x0b}

// body is the payload's machine code for data at that address.
func body(data uint64) []byte {
	address := binary.LittleEndian.AppendUint64(nil, data)
	return bytes.ReplaceAll(written(), binary.LittleEndian.AppendUint64(nil, placeholder), address)
}

var (
	trap = []byte{0xcc}             // int3
	gate = []byte{0xff, 0xd0, 0xcc} // call *%rax; int3
)

// gateEnd is where a thread has come back through the gate: behind the trap.
const gateEnd = gateAt + 3

// enter is the entry of a function, so far before the payload.
func enter(function, before int) []byte {
	b := []byte{0xb8, byte(function), 0, 0, 0, 0xe9} // mov $function,%eax; jmp payload
	return binary.LittleEndian.AppendUint32(b, uint32(before-10))
}

// jumpSize is how much of a function the jump to its replacement overwrites, and jumpTo where in it the address is.
const (
	jumpSize = 12
	jumpTo   = 2
)

func jump(to uint64) []byte {
	b := []byte{0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0} // movabs $to,%rax; jmp *%rax
	binary.LittleEndian.PutUint64(b[2:], to)
	return b
}

// asking is a clock_gettime that asks the kernel: slower than the vDSO's own by a hundred nanoseconds and more.
var asking = []byte{0xb8, 228, 0, 0, 0, 0x0f, 0x05, 0xc3} // mov $228,%eax; syscall; ret

// origin returns a clock_gettime that reads the real clock, for a function at that address that is to be overwritten.
func origin(function []byte, at uint64) []byte {
	code, err := displaced(function, at)
	if err != nil {
		return asking
	}
	return code
}

// displaced returns code that does what function, which lies at that address, did before a jump overwrote its beginning:
// the instructions that were there, and a jump to the rest. It fails where they cannot be moved, or where the rest jumps
// back into them.
func displaced(function []byte, at uint64) ([]byte, error) {
	moved := 0
	for off := 0; off < len(function); {
		in, err := x86asm.Decode(function[off:], 64)
		if err != nil {
			return nil, err
		}
		if off < jumpSize {
			if !movable(in) {
				return nil, errors.New("it begins with what cannot be moved")
			}
			moved = off + in.Len
		}
		for _, a := range in.Args {
			if rel, ok := a.(x86asm.Rel); ok {
				if to := off + in.Len + int(rel); to >= 0 && to < moved {
					return nil, errors.New("it jumps back to its beginning")
				}
			}
		}
		off += in.Len
	}
	code := append([]byte(nil), function[:moved]...)
	code = append(code, 0xff, 0x25, 0, 0, 0, 0) // jmp *(%rip): to the address that follows
	return binary.LittleEndian.AppendUint64(code, at+uint64(moved)), nil
}

// movable tells whether an instruction does the same elsewhere, and goes on to the next one.
func movable(in x86asm.Inst) bool {
	switch in.Op {
	case x86asm.RET, x86asm.JMP, x86asm.CALL, x86asm.SYSCALL:
		return false
	}
	for _, a := range in.Args {
		if m, ok := a.(x86asm.Mem); ok && m.Base == x86asm.RIP {
			return false
		}
	}
	return in.PCRel == 0
}
