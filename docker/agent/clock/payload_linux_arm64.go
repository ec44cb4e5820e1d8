package clock

import "encoding/binary"

var endMark = []byte{0xde, 0xad, 0x00, 0x00, 0xbe, 0xef, 0x00, 0x00} // udf, twice

// body is the payload's machine code, which finds its data by itself.
func body(uint64) []byte { return written() }

var (
	trap = words(0xd4200000)             // brk #0
	gate = words(0xd63f0200, 0xd4200000) // blr x16; brk #0
)

// gateEnd is where a thread has come back through the gate: at the trap.
const gateEnd = gateAt + 4

// enter is the entry of a function, so far before the payload.
func enter(function, before int) []byte {
	return words(0x52800009|uint32(function)<<5, 0x14000000|uint32(before-4)/4) // mov w9,#function; b payload
}

// jumpSize is how much of a function the jump to its replacement overwrites, and jumpTo where in it the address is.
const (
	jumpSize = 20
	jumpTo   = 12
)

func jump(to uint64) []byte {
	// bti c: processors that check where calls lead want to see it, others pass it over; then ldr x16,to; br x16
	return binary.LittleEndian.AppendUint64(words(0xd503245f, 0x58000050, 0xd61f0200), to)
}

// origin returns a clock_gettime that reads the real clock, of the kernel: slower than the vDSO's own by a hundred nanoseconds and more,
// but that begins with what cannot be moved: it looks for its data from where it is.
func origin([]byte, uint64) []byte { return asking }

var asking = words(0xd2800e28, 0xd4000001, 0xd65f03c0) // mov x8,#113; svc #0; ret

func words(code ...uint32) (b []byte) {
	for _, w := range code {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}
