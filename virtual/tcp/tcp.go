// Package tcp is the TCP of kernels as programs meet it: a handshake that is retried, segments that are acknowledged or
// sent again after ever longer waits, a window that closes when the reader does not read, keepalive, TCP_USER_TIMEOUT,
// resets, refusals, half-closed connections and backlogs. It decides when which segment leaves and what a program is
// told; carrying segments is for a Network, and time is the Network's.
//
// The times and counts are those of Linux with its default settings. Left out is what a program on a fast link cannot
// tell: congestion windows as long as acknowledgments come, selective and delayed ones, TIME_WAIT.
package tcp

import (
	"net/netip"
	"syscall"
	"time"
)

// Network brings segments to hosts. All its calls are on the loop of the run.
type Network interface {
	// Now is the time since the run began.
	Now() time.Duration
	// After calls f once d has passed.
	After(d time.Duration, f func())
	// Carry has the host that owns s.To receive s: later, once, twice, or never.
	Carry(s Segment)
}

// Owner is who has connections, a process for instance. It is told what becomes of them, within calls of the Network.
// A connection is not spoken of again once it has failed, or its owner has closed it.
type Owner interface {
	// Accepted says that somebody has connected to a listener.
	Accepted(l *Listener, c *Conn)
	// Connected says that a connection is made that was asked for.
	Connected(c *Conn)
	// Arrived gives the next bytes that the peer has sent; they may be kept.
	Arrived(c *Conn, p []byte)
	// Ended says that the peer sends no more.
	Ended(c *Conn)
	// Acked says that so many more of the bytes written have arrived.
	Acked(c *Conn, n int)
	// Failed says that the connection is no more: ECONNREFUSED, ECONNRESET, ETIMEDOUT, or EPIPE where the peer had ended it.
	Failed(c *Conn, err syscall.Errno)
}

// Segment is one packet. Numbers of bytes count from 0 with the SYN, and do not wrap.
type Segment struct {
	From, To           netip.AddrPort
	SYN, ACK, FIN, RST bool
	Seq, Ack           int64
	Window             int
	Data               []byte
}

// Size is how many bytes the segment has on the wire, with the headers of IP and of TCP with its usual options.
func (s *Segment) Size() int { return 52 + len(s.Data) }

// What Linux does by default.
const (
	minRTO       = 200 * time.Millisecond
	firstRTO     = time.Second
	maxRTO       = 120 * time.Second
	synLinear    = 4             // net.ipv4.tcp_syn_linear_timeouts: so many after a second each,
	synRetries   = synLinear + 6 // and net.ipv4.tcp_syn_retries more after ever longer waits: 131 s in all
	synAckTries  = 5             // net.ipv4.tcp_synack_retries
	retries      = 15
	orphanTries  = 8
	finTimeout   = time.Minute // of a connection that nobody has any more, and whose peer does not close it
	maxSegment   = 64 << 10    // what is handed to a link at once, and cut up behind it
	window       = 1 << 20     // what may arrive before it is read
	dupsToResend = 3
	maxBlock     = 32 << 10 // of memory for what is written, unless more is at once
)
