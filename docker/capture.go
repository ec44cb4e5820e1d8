package docker

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"recount/docker/agent"
	"recount/internal/headers"
)

// Captured is a segment of TCP that one node has sent another, as it was seen to leave or to arrive.
type Captured struct {
	From, To string
	Left     bool          // it was seen to leave From, else to arrive at To
	At       time.Duration // since the run began
	Missed   int           // packets that nobody saw where this was seen, since the last that was
	Segment
}

// Segment is what a packet of IP says of TCP.
type Segment struct {
	Source, Destination netip.AddrPort
	SYN, ACK, FIN, RST  bool
	Seq, Ack            uint32
	Stamp               uint32 // its sender's clock, by which what is sent again is told from what was sent; 0 where that is not known
	Size                int    // of the data
	Data                []byte // as much of it as was copied
}

// Capture calls got with what nodes say to each other on ports that servers listen on, from now on and until the cluster is closed,
// on a goroutine of its own. It fails where the kernel cannot copy packets, and when ctx ends before that has begun.
func (c *Cluster) Capture(ctx context.Context, ports []int, got func(Captured)) error {
	nodes := map[netip.Addr]string{}
	for name, n := range c.nodes {
		for _, a := range n.addrs {
			nodes[a] = name
		}
	}
	within, cancel := context.WithTimeout(ctx, applyWithin)
	defer cancel()
	var answer agent.Capturing
	stream, err := c.remote.begin(within, agent.Opening{Capture: &agent.Capture{Nodes: c.names, Ports: ports}}, &answer)
	begun := time.Now()
	if err != nil {
		return err
	}
	if answer.Error != "" {
		stream.Close()
		return errors.New(answer.Error)
	}
	c.work.Go(func() {
		defer stream.Close()
		missed := map[int]int{}
		for r := bufio.NewReaderSize(stream, 256<<10); ; {
			p, err := agent.ReadPacket(r)
			if err != nil {
				return // the run is over
			}
			missed[p.Node] += p.Missed
			s, err := readSegment(p.Bytes)
			if err != nil {
				continue
			}
			one := Captured{
				From: nodes[s.Source.Addr()], To: nodes[s.Destination.Addr()], Left: p.Left, Missed: missed[p.Node], Segment: s,
				At: max(0, c.Now()-(time.Since(begun)-p.At)),
			}
			if one.From != "" && one.To != "" {
				missed[p.Node] = 0
				got(one)
			}
		}
	})
	return nil
}

// stampOption is the kind of the option of TCP that has its sender's clock.
const stampOption = 8

// readSegment reads a packet of IP with TCP in it, of which the end may be missing.
func readSegment(b []byte) (s Segment, err error) {
	ip, _ := headers.Read(b)
	t := ip.Carried
	from, to, ok := ip.Ports()
	if !ok || ip.Protocol != headers.TCP || len(t) < 20 {
		return s, fmt.Errorf("no packet of TCP: %d bytes of protocol %d", len(b), ip.Protocol)
	}
	n := int(t[12]>>4) * 4
	if n < 20 || len(t) < n || ip.Size < n {
		return s, fmt.Errorf("a packet of TCP that is cut short: %d bytes", len(b))
	}
	flags := t[headers.Flags]
	s = Segment{
		Source: netip.AddrPortFrom(ip.From, from), Destination: netip.AddrPortFrom(ip.To, to),
		FIN: flags&headers.FIN != 0, SYN: flags&headers.SYN != 0, RST: flags&headers.RST != 0, ACK: flags&headers.ACK != 0,
		Seq: binary.BigEndian.Uint32(t[4:]), Ack: binary.BigEndian.Uint32(t[8:]), Size: ip.Size - n,
	}
	s.Data = t[n:min(len(t), ip.Size)]
	for o := t[20:n]; len(o) > 0; {
		switch {
		case o[0] == 0: // the end
			o = nil
		case o[0] == 1: // nothing
			o = o[1:]
		case len(o) < 2 || int(o[1]) < 2 || int(o[1]) > len(o):
			o = nil
		default:
			if o[0] == stampOption && o[1] == 10 {
				s.Stamp = binary.BigEndian.Uint32(o[2:])
			}
			o = o[o[1]:]
		}
	}
	return s, nil
}
