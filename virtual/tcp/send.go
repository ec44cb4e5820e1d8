package tcp

import (
	"syscall"
	"time"
)

// sendSYN sends what asks for a connection, or answers such a request.
func (c *Conn) sendSYN() {
	c.next, c.since = 1, c.host.net.Now()
	c.host.net.Carry(Segment{From: c.local, To: c.remote, SYN: true, ACK: c.state == synReceived, Ack: c.arrived, Window: c.space()})
	c.retry.set(c.host.net.Now() + c.rto)
}

// push sends what may be sent by now. Once an answer is overdue, nothing new is sent before the first segment that may be lost is
// acknowledged: the congestion window is that segment (RFC 5681, 3.1). However soon a cut has ended, its connections wait for the next try.
func (c *Conn) push() {
	if c.state != established || c.tries > 0 && c.next > c.acked {
		return
	}
	for {
		limit := c.acked + int64(c.peerRoom)
		n := min(c.end(), limit) - c.next
		fin := c.finish && c.next+max(n, 0) == c.end()
		if c.next > c.end() || n <= 0 && !fin {
			break
		}
		n = min(max(n, 0), maxSegment)
		fin = c.finish && c.next+n == c.end()
		if c.timed == 0 {
			c.timed, c.since = c.next+n, c.host.net.Now()
		}
		c.segment(c.next, int(n), fin)
		if c.next += n; fin {
			c.next++
			break
		}
	}
	if c.retry.at == 0 && (c.next > c.acked || c.next < c.end()) {
		c.retry.set(c.host.net.Now() + c.rto) // the latter is for a window that is closed
	}
}

// segment sends n bytes from a number on, and a FIN if they are the last.
func (c *Conn) segment(from int64, n int, fin bool) {
	at := from - c.first
	c.host.net.Carry(Segment{
		From: c.local, To: c.remote, ACK: true, FIN: fin, Seq: from, Ack: c.arrived, Window: c.space(),
		Data: c.out[at : at+int64(n) : at+int64(n)],
	})
}

// acknowledge tells the peer what has arrived.
func (c *Conn) acknowledge() {
	c.host.net.Carry(Segment{From: c.local, To: c.remote, ACK: true, Seq: c.next, Ack: c.arrived, Window: c.space()})
}

// resend sends the first segment that is not acknowledged once more.
func (c *Conn) resend() {
	c.timed = 0 // by whose answer no round trip can be told
	n := min(c.end(), c.next) - c.acked
	fin := c.next > c.end() && n <= maxSegment
	c.segment(c.acked, int(min(n, maxSegment)), fin)
}

// late is called when an answer is overdue.
func (c *Conn) late() {
	now := c.host.net.Now()
	if c.tries == 0 {
		c.began = now - c.rto
	}
	c.tries++
	switch c.state {
	case synSent:
		if c.tries > synRetries || c.userTimeout > 0 && now-c.began >= c.userTimeout {
			c.fail(syscall.ETIMEDOUT)
			return
		}
		if c.tries > synLinear {
			c.rto *= 2
		}
		c.sendSYN()
		return
	case synReceived:
		if c.tries > synAckTries {
			c.forget()
			return
		}
		c.rto *= 2
		c.sendSYN()
		return
	}
	limit := retries
	if c.closed {
		limit = orphanTries
	}
	probing := c.next == c.acked // the window is closed, and answers to probes say so
	if !probing && (c.tries > limit || c.userTimeout > 0 && now-c.began >= c.userTimeout) {
		c.fail(syscall.ETIMEDOUT)
		return
	}
	if probing {
		c.host.net.Carry(Segment{From: c.local, To: c.remote, ACK: true, Seq: c.next - 1, Ack: c.arrived, Window: c.space()})
	} else {
		c.again = c.next
		c.resend()
	}
	c.rto = min(2*c.rto, maxRTO)
	c.retry.set(now + c.rto)
}

// measure takes a round trip into account: RFC 6298, with the least variance that Linux has it.
func (c *Conn) measure(trip time.Duration) {
	if c.srtt == 0 {
		c.srtt, c.rttv = trip, trip/2
	} else {
		c.rttv += ((c.srtt - trip).Abs() - c.rttv) / 4
		c.srtt += (trip - c.srtt) / 8
	}
	c.rto = min(c.srtt+max(4*c.rttv, minRTO), maxRTO)
}
