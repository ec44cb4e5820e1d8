package agent

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// Packet is one of IP that was copied, on the stream that a Capture has opened: a head of fixed size and its bytes.
type Packet struct {
	Node   int           // its place in Capture.Nodes
	Left   bool          // it was seen to leave, else to arrive, behind all faults
	At     time.Duration // since the copying began
	Missed int           // packets of the node that were not copied, since the last that was
	Bytes  []byte        // of one that arrives its headers alone
}

// The head: node, direction, two bytes for nothing, how many bytes, how many were missed, when.
const packetHead = 1 + 1 + 2 + 4 + 4 + 8

// packetMost is how long a packet can be.
const packetMost = 1 << 17

func (p *Packet) write(w *bufio.Writer) error {
	var head [packetHead]byte
	head[0] = byte(p.Node)
	if p.Left {
		head[1] = 1
	}
	binary.BigEndian.PutUint32(head[4:], uint32(len(p.Bytes)))
	binary.BigEndian.PutUint32(head[8:], uint32(p.Missed))
	binary.BigEndian.PutUint64(head[12:], uint64(p.At))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(p.Bytes)
	return err
}

// ReadPacket reads one from the stream.
func ReadPacket(r *bufio.Reader) (*Packet, error) {
	var head [packetHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[4:])
	if size > packetMost {
		return nil, fmt.Errorf("a packet of %d bytes", size)
	}
	p := &Packet{
		Node: int(head[0]), Left: head[1] == 1, Missed: int(binary.BigEndian.Uint32(head[8:])),
		At: time.Duration(binary.BigEndian.Uint64(head[12:])), Bytes: make([]byte, size),
	}
	_, err := io.ReadFull(r, p.Bytes)
	return p, err
}
