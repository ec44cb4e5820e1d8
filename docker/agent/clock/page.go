package clock

import (
	"encoding/binary"
	"math"
	"time"
)

// The data that a patched process adds to its clocks lies in three pages, shared with its children:
//
//	0      magic
//	8      the number of the current change, modulo 256: one byte, so that it is never half written
//	16     the address of the real clock_gettime
//	24     the skew as asked for: offset and drift
//	4096   8 banks of 16 deviations of 32 bytes; the current one is that of the current change, modulo 8
//	8192   a stack for calls by the agent
//
// A change fills the next bank and then makes it the current one.
const (
	magic = 0x31_656d_6974_7472 // which programs do not hold by chance; counts the layouts

	dataSize = 12 << 10
	changeAt = 8
	realAt   = 16
	askedAt  = 24
	banksAt  = 4096
	banks    = 8
	bankSize = clocks * lineSize
	lineSize = 32
	stackAt  = 8192
	answerAt = stackAt // where calls leave their answers; the stack grows down towards it
)

// head is the beginning of the data.
type head struct {
	magic  uint64
	change byte
	asked  Skew
}

func decodeHead(b []byte) head {
	return head{
		magic:  binary.LittleEndian.Uint64(b),
		change: b[changeAt],
		asked: Skew{
			Offset: time.Duration(binary.LittleEndian.Uint64(b[askedAt:])),
			Drift:  math.Float64frombits(binary.LittleEndian.Uint64(b[askedAt+8:])),
		},
	}
}

func encodeSkew(s Skew) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(s.Offset))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(s.Drift))
}

func encodeDeviations(deviations [clocks]deviation) []byte {
	b := make([]byte, 0, bankSize)
	for _, l := range deviations {
		for _, v := range []int64{l.Offset, l.Base, l.Rate, l.Before} {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	return b
}

func decodeDeviations(b []byte) (deviations [clocks]deviation) {
	next := func() int64 {
		v := int64(binary.LittleEndian.Uint64(b))
		b = b[8:]
		return v
	}
	for i := range deviations {
		deviations[i] = deviation{next(), next(), next(), next()}
	}
	return deviations
}

// bank is where in the data the deviations of a change lie.
func bank(change byte) uint64 { return banksAt + uint64(change%banks)*bankSize }
