//go:build amd64 || arm64

package clock

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// payloadAddr is where the payload begins, in this process.
func payloadAddr() *byte

// The code that is put into a process takes one page:
//
//	0     entries of 16 bytes, one for each function of the vDSO that leads here
//	64    a gate for calls by the agent: a call of a function, then a trap
//	128   the payload
//	2048  the real clock_gettime
//	4088  the address of the data
const (
	codeSize = 4096
	gateAt   = 64
	bodyAt   = 128
	originAt = 2048
	dataAt   = 4088
)

// written is the payload's machine code as it is in this process.
func written() []byte {
	b := unsafe.Slice(payloadAddr(), originAt-bodyAt)
	end := bytes.Index(b, endMark)
	if end < 0 {
		panic("clock: the payload does not end")
	}
	return b[:end]
}

// codePage is the page for data at an address. origin is a clock_gettime that reads the real clock.
func codePage(data uint64, origin []byte) []byte {
	page := bytes.Repeat(trap, codeSize/len(trap))
	for i := range functionNames {
		copy(page[16*i:], enter(i, bodyAt-16*i))
	}
	copy(page[gateAt:], gate)
	copy(page[bodyAt:], body(data))
	copy(page[originAt:], origin)
	binary.LittleEndian.PutUint64(page[dataAt:], data)
	return page
}

// jumpTarget is where the jump at the beginning of b leads, if there is one.
func jumpTarget(b []byte) (to uint64, ok bool) {
	to = binary.LittleEndian.Uint64(b[jumpTo:])
	return to, bytes.Equal(b[:jumpSize], jump(to))
}
