package clock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unsafe"

	"golang.org/x/arch/x86/x86asm"
)

// payloadAddr is where the payload begins, in this process.
func payloadAddr() *byte

// The code that is put into a process takes one page:
//
//	0     three entries of 16 bytes, one for each function of the vDSO that leads here
//	64    a gate for calls by the agent: call *%rax, then a trap
//	128   the payload
//	2048  the real clock_gettime
//	4088  the address of the data
const (
	codeSize = 4096
	gateAt   = 64
	gateEnd  = gateAt + 3
	bodyAt   = 128
	originAt = 2048
	dataAt   = 4088
)

const placeholder = 0x5ca1ab1e0ddba115

var endMark = []byte{0x0f, 0x0b, 0xde, 0xad, 0xbe, 0xef, 0x0f, 0x0b}

// body is the payload's machine code for data at that address.
func body(data uint64) []byte {
	b := unsafe.Slice(payloadAddr(), originAt-bodyAt)
	end := bytes.Index(b, endMark)
	if end < 0 {
		panic("clock: the payload does not end")
	}
	address := binary.LittleEndian.AppendUint64(nil, data)
	return bytes.ReplaceAll(b[:end], binary.LittleEndian.AppendUint64(nil, placeholder), address)
}

// codePage is the page for data at an address. origin is a clock_gettime that reads the real clock.
func codePage(data uint64, origin []byte) []byte {
	page := bytes.Repeat([]byte{0xcc}, codeSize) // traps
	for i := range 3 {
		entry := page[16*i:]
		copy(entry, []byte{0xb8, byte(i), 0, 0, 0, 0xe9}) // mov $i,%eax; jmp payload
		binary.LittleEndian.PutUint32(entry[6:], uint32(bodyAt-(16*i+10)))
	}
	copy(page[gateAt:], []byte{0xff, 0xd0, 0xcc}) // call *%rax; int3
	copy(page[bodyAt:], body(data))
	copy(page[originAt:], origin)
	binary.LittleEndian.PutUint64(page[dataAt:], data)
	return page
}

// jumpSize is how much of a function the jump to its replacement overwrites.
const jumpSize = 12

func jump(to uint64) []byte {
	b := []byte{0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0} // movabs $to,%rax; jmp *%rax
	binary.LittleEndian.PutUint64(b[2:], to)
	return b
}

// jumpTarget is where the jump at the beginning of b leads, if there is one.
func jumpTarget(b []byte) (to uint64, ok bool) {
	to = binary.LittleEndian.Uint64(b[2:])
	return to, bytes.Equal(b[:jumpSize], jump(to))
}

// asking is a clock_gettime that asks the kernel: slower than the vDSO's own by a hundred nanoseconds and more.
var asking = []byte{0xb8, 228, 0, 0, 0, 0x0f, 0x05, 0xc3} // mov $228,%eax; syscall; ret

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
