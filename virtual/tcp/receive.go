package tcp

import (
	"cmp"
	"slices"
	"syscall"
	"time"
)

// receive handles a segment of this connection.
func (c *Conn) receive(s Segment) {
	c.heard, c.probes = c.host.net.Now(), 0
	if s.RST {
		c.reset(s)
		return
	}
	switch c.state {
	case synSent:
		if s.SYN && s.ACK {
			c.establish(s)
			c.acknowledge()
			c.owner.Connected(c)
			c.push()
		} else if s.ACK { // of a connection that had the same ends
			c.host.refuse(s)
		}
		return
	case synReceived:
		if s.SYN {
			c.sendSYN()
			return
		}
		if !s.ACK || !c.listener.open() {
			c.forget()
			c.host.refuse(s)
			return
		}
		c.state = established
		c.establish(s)
		c.untaken = true
		c.owner.Accepted(c.listener, c)
	}
	if s.SYN { // its answer was lost
		c.acknowledge()
		return
	}
	c.acknowledged(s)
	if c.state == established {
		c.take(s)
	}
}

// reset ends the connection, unless the segment is of an older one.
func (c *Conn) reset(s Segment) {
	switch {
	case c.state == synSent && s.Ack <= 1: // higher ones are of an older connection
		c.fail(syscall.ECONNREFUSED)
	case c.over && !c.finish: // it has ended already, and it is a write that is told
		c.fail(syscall.EPIPE)
	case c.state != synSent:
		c.fail(syscall.ECONNRESET)
	}
}

// establish begins the connection proper, with the peer's first answer.
func (c *Conn) establish(s Segment) {
	c.state = established
	c.retry.stop()
	c.tries = 0
	c.measure(c.host.net.Now() - c.since)
	c.acked, c.first, c.next = 1, 1, max(c.next, 1)
	c.arrived = max(c.arrived, 1)
	c.peerRoom = s.Window
	c.watch()
}

// acknowledged handles what a segment tells about what was sent.
func (c *Conn) acknowledged(s Segment) {
	now := c.host.net.Now()
	opened := c.peerRoom == 0 && s.Window > 0
	switch {
	case s.Ack > c.next: // of a connection before
		return
	case s.Ack > c.acked:
		n := min(s.Ack, c.end()) - c.first
		c.out, c.first = c.out[n:], c.first+n
		c.acked, c.peerRoom, c.dups, c.tries = s.Ack, s.Window, 0, 0
		if c.timed != 0 && s.Ack >= c.timed {
			c.measure(now - c.since)
			c.timed = 0
		} else if c.srtt > 0 {
			c.rto = min(c.srtt+max(4*c.rttv, minRTO), maxRTO)
		}
		c.retry.stop()
		if c.next > c.acked {
			c.retry.set(now + c.rto)
			if c.again > c.acked { // more of it may be lost
				c.resend()
			}
		}
		if n > 0 {
			c.owner.Acked(c, int(n))
		}
		if c.state == gone {
			return
		}
	case s.Ack == c.acked:
		c.peerRoom = s.Window
		if len(s.Data) == 0 && !s.FIN && c.next > c.acked && !opened {
			if c.dups++; c.dups == dupsToResend {
				c.again = c.next
				c.resend()
			}
		}
		if c.next == c.acked {
			c.tries = 0
		}
	}
	if opened {
		c.retry.stop()
	}
	c.push()
	c.settle()
}

// take handles the bytes of a segment, and those that came early and follow on them.
func (c *Conn) take(s Segment) {
	if len(s.Data) == 0 && !s.FIN {
		if s.Seq < c.arrived { // a probe
			c.acknowledge()
		}
		return
	}
	if c.closed && s.Seq+int64(len(s.Data)) > c.arrived && len(s.Data) > 0 { // nobody will read it
		c.host.refuse(s)
		c.forget()
		return
	}
	if s.Seq > c.arrived {
		if !slices.ContainsFunc(c.early, func(e Segment) bool { return e.Seq == s.Seq && len(e.Data) == len(s.Data) }) {
			c.early = append(c.early, s)
			slices.SortStableFunc(c.early, func(a, b Segment) int { return cmp.Compare(a.Seq, b.Seq) })
		}
		c.acknowledge()
		return
	}
	var got []byte
	got = c.join(got, s)
	for len(c.early) > 0 && c.early[0].Seq <= c.arrived {
		got = c.join(got, c.early[0])
		c.early = c.early[1:]
	}
	over := c.over
	c.unread += len(got)
	c.acknowledge()
	if len(got) > 0 {
		c.owner.Arrived(c, got)
	}
	if over && !c.told {
		c.told = true
		c.owner.Ended(c)
	}
	c.settle()
}

// join appends what is new in a segment to the bytes that have arrived.
func (c *Conn) join(got []byte, s Segment) []byte {
	if from := c.arrived - s.Seq; from < int64(len(s.Data)) {
		if got == nil {
			got = s.Data[from:]
		} else {
			got = append(slices.Clip(got), s.Data[from:]...)
		}
		c.arrived = s.Seq + int64(len(s.Data))
	}
	if s.FIN && !c.over && c.arrived == s.Seq+int64(len(s.Data)) {
		c.over = true
		c.arrived++
	}
	return got
}

// watch sets the alarm for when nothing has come for too long.
func (c *Conn) watch() {
	if c.state == established && !c.closed && c.keepalive.Idle > 0 {
		c.idle.set(max(c.heard, c.host.net.Now()-c.keepalive.Idle) + c.keepalive.Idle)
	}
}

// silent is called when the next probe may be due.
func (c *Conn) silent() {
	now, k := c.host.net.Now(), c.keepalive
	if c.state != established || c.closed || k.Idle == 0 {
		return
	}
	if c.next > c.acked { // what was sent is the probe
		c.idle.set(now + k.Idle)
		return
	}
	due := c.heard + k.Idle + time.Duration(c.probes)*k.Interval
	if now < due {
		c.idle.set(due)
		return
	}
	if c.probes >= k.Count || c.userTimeout > 0 && c.probes > 0 && now-c.heard >= c.userTimeout {
		c.host.net.Carry(Segment{From: c.local, To: c.remote, RST: true, ACK: true, Seq: c.next, Ack: c.arrived})
		c.fail(syscall.ETIMEDOUT)
		return
	}
	c.probes++
	c.host.net.Carry(Segment{From: c.local, To: c.remote, ACK: true, Seq: c.next - 1, Ack: c.arrived, Window: c.space()})
	c.idle.set(now + k.Interval)
}
