package clock

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// constant is a clock_gettime that tells what stands at an address.
func constant(at uint64) []byte {
	code := binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, at) // movabs $at,%rax
	return append(code,
		0x48, 0x8b, 0x08, 0x48, 0x89, 0x0e, // mov (%rax),%rcx; mov %rcx,(%rsi)
		0x48, 0x8b, 0x48, 0x08, 0x48, 0x89, 0x4e, 0x08, // mov 8(%rax),%rcx; mov %rcx,8(%rsi)
		0x31, 0xc0, 0xc3) // xor %eax,%eax; ret
}

// function assembles a function for displaced: so many one-byte instructions, then others.
func function(nops int, rest ...byte) []byte {
	b := make([]byte, nops)
	for i := range b {
		b[i] = 0x90
	}
	return append(b, rest...)
}

func TestTheBeginningOfAFunctionMoves(t *testing.T) {
	const at = 0x7000
	push := []byte{0x55, 0x48, 0x89, 0xe5, 0x41, 0x56, 0x53, 0x48, 0x83, 0xe4, 0xf0, 0x48, 0x83, 0xec, 0x10, 0xc3}
	code, err := displaced(push, at)
	require.NoError(t, err)
	require.Equal(t, push[:15], code[:15], "whole instructions")
	require.Equal(t, []byte{0xff, 0x25, 0, 0, 0, 0}, code[15:21])
	require.EqualValues(t, at+15, binary.LittleEndian.Uint64(code[21:]))

	for name, f := range map[string][]byte{
		"relative data":    function(5, 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0x90, 0xc3), // lea 0(%rip),%rax
		"a branch":         function(10, 0x74, 0x05, 0x90, 0xc3),                  // je
		"a return":         function(4, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90),
		"a jump back":      function(20, 0xeb, 0xf0, 0xc3), // jmp into the beginning
		"a jump to itself": function(20, 0xeb, 0xea, 0xc3), // jmp to the very beginning
		"what is no code":  function(3, 0x06, 0x06, 0x90),  // no instruction in 64 bits
	} {
		_, err := displaced(f, at)
		require.Error(t, err, name)
	}
	_, err = displaced(function(20, 0xeb, 0xfe, 0xc3), at)
	require.NoError(t, err, "a loop later on does no harm")
}
