#include "textflag.h"

// What a patched process runs instead of its vDSO's functions. It is copied into the process: it depends on nothing but
// its arguments, the stack, and the data whose address stands at the end of the page that it is copied to. See page.go
// for how the data lies. It is called as C calls; R9 tells which function is asked for:
//   0 clock_gettime(R0 clock, R1 timespec)   1 gettimeofday(R0 timeval, R1 timezone)
TEXT payload<>(SB), NOSPLIT|NOFRAME, $0-0
	SUB   $64, RSP           // 0: the answer of the real clock, 16 bytes
	MOVW  R9, 16(RSP)        // 16: the function
	MOVD  R0, 24(RSP)        // 24: where the answer goes
	MOVW  ZR, 32(RSP)        // 32: the clock, CLOCK_REALTIME but for clock_gettime
	MOVD  R30, 48(RSP)       // 48: where to return to
	CBNZW R9, timeofday
	MOVD  R1, 24(RSP)
	MOVW  R0, 32(RSP)
	B     again
timeofday:
	CBZ   R1, again
	MOVD  $169, R8           // gettimeofday(NULL, timezone): let the kernel tell that
	MOVD  ZR, R0
	SVC

	// The reading and the line that is added must belong together. If the data changed in between, or the line was
	// overwritten while it was read (which takes seven changes), this begins anew. It never waits for the writer.
	// What is read before a DMB is read before what is read after it.
again:
	ADR   again, R10
	AND   $~4095, R10        // the page
	MOVD  4088(R10), R10     // the data
	MOVBU 8(R10), R2
	MOVW  R2, 36(RSP)        // 36: the number of the change, modulo 256
	MOVD  R10, 40(RSP)       // 40: the data
	DMB   $0x9
	MOVWU 32(RSP), R0
	MOVD  RSP, R1
	MOVD  16(R10), R16
	CALL  (R16)              // the real clock_gettime
	CBNZW R0, out            // no such clock
	DMB   $0x9
	MOVD  40(RSP), R10
	MOVWU 36(RSP), R9
	MOVBU 8(R10), R2
	CMPW  R9, R2
	BNE   again
	MOVD  $1000000000, R3
	MOVD  0(RSP), R4
	MOVD  8(RSP), R5
	MADD  R3, R5, R4, R4     // t, in nanoseconds
	MOVWU 32(RSP), R0
	CMPW  $15, R0
	BHI   split              // a clock that is left alone
	AND   $7, R2
	LSL   $9, R2
	ADD   $4096, R2
	ADD   R10, R2
	ADD   R0<<5, R2          // the line: offset, base, rate, rate before
	MOVD  0(R2), R5
	MOVD  8(R2), R6
	MOVD  16(R2), R7
	MOVD  24(R2), R8
	DMB   $0x9
	MOVBU 8(R10), R11
	SUBW  R9, R11
	ANDW  $255, R11
	CMPW  $7, R11
	BHS   again
	SUBS  R6, R4, R6         // t − base
	CSEL  LT, R8, R7, R7
	ADD   R5, R4             // t + offset
	MUL   R7, R6, R11
	SMULH R7, R6, R12        // R12:R11 = (t − base) × rate
	LSR   $32, R11
	ORR   R12<<32, R11
	ADD   R11, R4

split:
	SDIV  R3, R4, R5         // seconds
	MSUB  R3, R4, R5, R6     // and nanoseconds
	TBZ   $63, R6, store
	ADD   R3, R6
	SUB   $1, R5
store:
	MOVD  24(RSP), R1
	MOVWU 16(RSP), R9
	CBNZW R9, timeval
	STP   (R5, R6), (R1)
	B     done
timeval:
	CBZ   R1, done
	MOVD  $1000, R3
	UDIV  R3, R6
	STP   (R5, R6), (R1)
done:
	MOVD  ZR, R0
out:
	MOVD  48(RSP), R30
	ADD   $64, RSP
	RET   (R30)

	// The end of what is copied.
	WORD  $0x0000adde
	WORD  $0x0000efbe

// func payloadAddr() *byte
TEXT ·payloadAddr(SB), NOSPLIT, $0-8
	MOVD $payload<>(SB), R0
	MOVD R0, ret+0(FP)
	RET
