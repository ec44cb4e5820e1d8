//go:build linux

package agent

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A probe sends datagrams along a link of its own, from within the sender's network namespace into the receiver's, and
// finds out what becomes of them. One process sees both ends, so a delay is the difference of two looks at one clock.
type probe struct {
	from, to *place
	family   int           // index of the address, of both
	port     uint16        // that the datagrams come from; 0 for any
	count    int           // how many to send
	every    time.Duration // from one to the next; 0 for all at once
	size     int           // of each as an IP packet
	wait     time.Duration // for what is still on its way after the last was sent
	first    bool          // the first arrival is enough
}

// sample is what became of one probe's datagrams.
type sample struct {
	sent    []time.Duration // by number: when
	delays  []time.Duration // by number; unarrived for those that did not arrive
	twice   int             // arrived once more
	arrived int             // how many did
	took    time.Duration   // from the first sending to the last arrival
}

const unarrived = time.Duration(-1)

// rounds numbers the calls of send, so that a datagram that was long on its way does not count for a later one.
var rounds atomic.Uint32

// probeHead is how many bytes of a datagram say which it is: round, number of the probe, its own number, when it was sent.
const probeHead = 20

// send carries out probes, all at the same time.
func send(probes []probe) ([]sample, error) {
	r := &round{number: rounds.Add(1), began: time.Now(), samples: make([]sample, len(probes))}
	ends := map[end]*prober{}
	defer func() {
		for _, p := range ends {
			p.conn.Close()
		}
	}()
	for _, p := range probes {
		for _, at := range []*place{p.from, p.to} {
			if ends[end{at, p.family}] != nil {
				continue
			}
			e, err := openProber(at, at.addrs[p.family])
			if err != nil {
				return nil, fmt.Errorf("probe at %s: %w", at.name, err)
			}
			ends[end{at, p.family}] = e
		}
	}
	for _, e := range ends {
		go e.read(r)
	}
	errs := make([]error, len(probes))
	var all sync.WaitGroup
	for i, p := range probes {
		all.Go(func() { errs[i] = r.drive(uint32(i), p, ends[end{p.from, p.family}], ends[end{p.to, p.family}]) })
	}
	all.Wait()
	for _, e := range ends {
		if !e.finish(r.number) {
			return nil, fmt.Errorf("probe: %v does not hear itself", e.addr)
		}
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return r.samples, nil
}

// end is one place under one of its addresses.
type end struct {
	at     *place
	family int
}

// round is one call of send.
type round struct {
	number uint32
	began  time.Time

	mu      sync.Mutex
	samples []sample
}

// drive sends one probe's datagrams and waits for them.
func (r *round) drive(i uint32, p probe, from, to *prober) error {
	out := from.conn.WriteToUDPAddrPort
	source := from.addr
	if p.port != 0 { // a port that may well be in use
		raw, err := openRaw(p.from, source.Addr())
		if err != nil {
			return fmt.Errorf("probe from port %d of %s: %w", p.port, p.from.name, err)
		}
		defer raw.Close()
		source = netip.AddrPortFrom(source.Addr(), p.port)
		out = func(b []byte, addr netip.AddrPort) (int, error) {
			return raw.WriteToIP(udp(source, addr, b), &net.IPAddr{IP: addr.Addr().AsSlice()})
		}
	}
	size := max(probeHead, p.size-udpHead-ipHead(source.Addr()))
	datagram := make([]byte, size)
	var first time.Duration
	tick := time.NewTimer(0)
	defer tick.Stop()
	<-tick.C
	for n := range p.count {
		now := time.Since(r.began)
		if n == 0 {
			first = now
		}
		r.mu.Lock()
		s := &r.samples[i]
		s.sent, s.delays = append(s.sent, now), append(s.delays, unarrived)
		r.mu.Unlock()
		b := binary.BigEndian.AppendUint32(datagram[:0], r.number)
		b = binary.BigEndian.AppendUint32(b, i)
		b = binary.BigEndian.AppendUint32(b, uint32(n))
		binary.BigEndian.AppendUint64(b, uint64(now))
		// An error of the socket is no evidence: what counts is what arrives.
		out(datagram, to.addr)
		if p.first && r.arrived(i, 1) {
			break
		}
		if p.every > 0 && n+1 < p.count {
			tick.Reset(time.Until(r.began.Add(first + time.Duration(n+1)*p.every)))
			<-tick.C
		}
	}
	// Doubled datagrams come right behind the first ones, and what a cut link lets through comes at once.
	for limit := time.Now().Add(p.wait); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if (p.first && r.arrived(i, 1)) || r.arrived(i, p.count) {
			time.Sleep(time.Millisecond)
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples[i].took = max(0, r.samples[i].took-first)
	return nil
}

func (r *round) arrived(i uint32, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.samples[i].arrived >= n
}

// note takes in one datagram that has arrived.
func (r *round) note(i, n uint32, sent, now time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if int(i) >= len(r.samples) || int(n) >= len(r.samples[i].delays) {
		return
	}
	s := &r.samples[i]
	if s.delays[n] != unarrived {
		s.twice++
		return
	}
	s.delays[n] = now - sent
	s.arrived++
	s.took = now
}

// overtaken counts the datagrams that arrived before one that was sent earlier.
func (s *sample) overtaken() (n int) {
	var latest time.Duration
	for i, d := range s.delays {
		if d == unarrived {
			continue
		}
		if s.sent[i]+d < latest {
			n++
		}
		latest = max(latest, s.sent[i]+d)
	}
	return n
}

// known returns the delays of what has arrived, in order of size.
func (s *sample) known() (all []time.Duration) {
	for _, d := range s.delays {
		if d != unarrived {
			all = append(all, d)
		}
	}
	slices.Sort(all)
	return all
}

// prober is one node's end of the probes: a UDP socket in its network namespace that sends and receives.
type prober struct {
	conn *net.UDPConn
	addr netip.AddrPort
	done chan struct{} // closed once it has read everything that arrived before the end mark
}

// finishWithin is how long a prober may take to hear itself, on a machine that is busy.
const finishWithin = 10 * time.Second

// endMark is what a prober sends to itself, in place of the number of a probe. It arrives behind all that arrived before.
const endMark = ^uint32(0)

// firstProbePort is where the ports of probers begin.
const firstProbePort = 61001

// openProber takes a port above those that Linux hands out by itself, so that it is in nobody's way.
func openProber(at *place, addr netip.Addr) (*prober, error) {
	p := &prober{done: make(chan struct{})}
	return p, at.space.do(func() (err error) {
		for port := firstProbePort; port < 65536; port++ {
			if p.conn, err = net.ListenUDP("udp", &net.UDPAddr{IP: addr.AsSlice(), Port: port}); err == nil {
				p.conn.SetReadBuffer(1 << 20)
				p.addr = netip.AddrPortFrom(addr, uint16(port))
				return nil
			}
		}
		return err
	})
}

func (p *prober) read(r *round) {
	defer close(p.done)
	b := make([]byte, 2048)
	for {
		n, from, err := p.conn.ReadFromUDPAddrPort(b)
		now := time.Since(r.began)
		if err != nil {
			return // closed
		}
		if n < probeHead || binary.BigEndian.Uint32(b) != r.number {
			continue
		}
		i := binary.BigEndian.Uint32(b[4:])
		if i == endMark && netip.AddrPortFrom(from.Addr().Unmap(), from.Port()) == p.addr {
			return
		}
		r.note(i, binary.BigEndian.Uint32(b[8:]), time.Duration(binary.BigEndian.Uint64(b[12:])), now)
	}
}

// finish waits until everything that has arrived is read.
func (p *prober) finish(round uint32) bool {
	mark := make([]byte, probeHead)
	binary.BigEndian.PutUint32(mark, round)
	binary.BigEndian.PutUint32(mark[4:], endMark)
	for limit := time.Now().Add(finishWithin); time.Now().Before(limit); {
		p.conn.WriteToUDPAddrPort(mark, p.addr)
		select {
		case <-p.done:
			return true
		case <-time.After(time.Millisecond): // the mark itself may be lost to a full buffer
		}
	}
	return false
}
