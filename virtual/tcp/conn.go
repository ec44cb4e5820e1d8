package tcp

import (
	"net/netip"
	"syscall"
	"time"
)

// state is how far a connection has come.
type state uint8

const (
	synSent     state = iota // asked for
	synReceived              // asked for by the peer, who has not confirmed it yet
	established
	gone
)

// Conn is one host's end of a connection.
type Conn struct {
	ID uint32 // is the owner's
	ends
	host     *Host
	owner    Owner
	listener *Listener // that it came by, until the program has taken it
	number   int
	state    state
	untaken  bool // the program has been told of it, and has not taken it yet
	closed   bool // by its owner: it has none any more

	// What is sent.
	out      []byte // not acknowledged; what was is before it in the same block of memory
	block    int    // the size of that: who writes often gets larger ones
	first    int64  // the number of the first byte of out
	acked    int64  // the peer has all before it
	next     int64  // the first byte, or the FIN, that was never sent
	again    int64  // while above acked: what was sent before it may be lost, and is sent again as room is made
	finish   bool   // a FIN comes after out
	peerRoom int    // how much the peer can take from acked on
	dups     int    // acknowledgments in a row that say nothing new

	// When it is sent again.
	retry alarm
	rto   time.Duration
	srtt  time.Duration // 0 before the first measurement
	rttv  time.Duration
	timed int64 // the acknowledgment that measures a round trip; 0 for none under way
	since time.Duration
	tries int           // in a row without an answer
	began time.Duration // of those

	// What arrives.
	arrived int64 // all before it has
	early   []Segment
	room    int  // what may arrive
	unread  int  // arrived and not read
	over    bool // the peer's FIN has arrived,
	told    bool // and the owner knows
	heard   time.Duration

	// Silence.
	idle        alarm
	keepalive   KeepAlive
	probes      int
	userTimeout time.Duration
}

// KeepAlive says how a connection is watched over which nothing comes: after Idle a probe is sent, then one in every
// Interval, and after Count of them the connection fails. The zero value does not watch it.
type KeepAlive struct {
	Idle, Interval time.Duration
	Count          int
}

// Local is this end of the connection.
func (c *Conn) Local() netip.AddrPort { return c.local }

// Remote is the other end.
func (c *Conn) Remote() netip.AddrPort { return c.remote }

// Taken says that the program has accepted the connection.
func (c *Conn) Taken() {
	if c.untaken {
		c.untaken = false
		c.listener.waiting--
	}
}

// Write sends bytes, of which it keeps a copy.
func (c *Conn) Write(p []byte) {
	if c.closed || c.finish || c.state == gone {
		return
	}
	if n := len(c.out) + len(p); n > cap(c.out) {
		c.block = max(n+len(c.out), min(2*c.block, maxBlock))
		c.out = append(make([]byte, 0, c.block), c.out...) // the old block is left to the segments that are of it
	}
	c.out = append(c.out, p...)
	c.push()
}

// Shut says that nothing more will be written.
func (c *Conn) Shut() {
	if !c.finish && c.state != gone {
		c.finish = true
		c.push()
	}
}

// Read says that the program has read so much more: there is room for as much.
func (c *Conn) Read(n int) {
	before := c.space()
	c.unread = max(c.unread-n, 0)
	if c.state == established && !c.over && before < c.room/2 && c.space() >= c.room/2 {
		c.acknowledge()
	}
}

func (c *Conn) space() int { return max(c.room-c.unread, 0) }

// Close gives the connection up. What was written is still sent, without anybody to be told.
func (c *Conn) Close() {
	if c.closed || c.state == gone {
		return
	}
	c.Taken()
	c.closed, c.owner = true, orphan{}
	if c.state == synSent {
		c.forget()
		return
	}
	c.Shut()
	c.settle()
}

// Abort gives the connection up at once, and resets it.
func (c *Conn) Abort() {
	if c.state == gone {
		return
	}
	c.Taken()
	if c.state != synSent {
		c.host.net.Carry(Segment{From: c.local, To: c.remote, RST: true, Seq: c.next, Ack: c.arrived, ACK: true})
	}
	c.forget()
}

// SetKeepAlive has the connection watched from now on.
func (c *Conn) SetKeepAlive(k KeepAlive) {
	c.keepalive = k
	c.watch()
}

// SetUserTimeout has the connection fail when what was sent is not acknowledged for so long: TCP_USER_TIMEOUT.
func (c *Conn) SetUserTimeout(d time.Duration) { c.userTimeout = d }

// fail ends the connection and tells its owner.
func (c *Conn) fail(err syscall.Errno) {
	o := c.owner
	never := c.state == synReceived // which its owner has never heard of
	c.forget()
	if !never {
		o.Failed(c, err)
	}
}

// forget removes the connection from its host.
func (c *Conn) forget() {
	if c.state == gone {
		return
	}
	if c.state == synReceived {
		c.listener.waiting--
	}
	c.Taken()
	c.state = gone
	c.retry.stop()
	c.idle.stop()
	delete(c.host.conns, c.ends)
}

// settle removes a connection that has nothing left to do.
func (c *Conn) settle() {
	if c.state != established || !c.closed {
		return
	}
	sent := c.finish && c.acked > c.end()
	switch {
	case sent && c.over:
		c.forget()
	case sent:
		c.idle.f = c.forget
		c.idle.set(c.host.net.Now() + finTimeout)
	}
}

// end is the number after the last byte to be sent: that of the FIN, if there is one.
func (c *Conn) end() int64 { return c.first + int64(len(c.out)) }
