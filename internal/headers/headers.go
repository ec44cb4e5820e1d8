// Package headers reads the headers of packets of IP, and tells where in them things are.
package headers

import (
	"encoding/binary"
	"net/netip"
)

// Protocols that IP carries.
const (
	TCP = 6
	UDP = 17
)

// Flags of TCP, in the byte of its header at Flags.
const (
	FIN = 1 << iota
	SYN
	RST
	PSH
	ACK

	Flags = 13
)

// Where the ports are in a header of TCP or UDP, two bytes each.
const (
	SourcePort      = 0
	DestinationPort = 2
)

// IP is what the header of a packet of IP says, of either version.
type IP struct {
	From, To netip.Addr
	Protocol byte
	Size     int    // of what it carries, in bytes
	Carried  []byte // as much of that as there is, and what fills up a short frame; nil if the header itself is cut short
}

// Read reads the header of a packet from its first bytes. ok is false, and the zero value returned, where they are none of IP's. Of
// version 6 a header that says where the next one is counts as what is carried.
func Read(b []byte) (h IP, ok bool) {
	var head, size int
	switch {
	case len(b) >= 20 && b[0]>>4 == 4:
		head, size = int(b[0]&15)*4, int(binary.BigEndian.Uint16(b[2:]))
		h = IP{From: netip.AddrFrom4([4]byte(b[12:])), To: netip.AddrFrom4([4]byte(b[16:])), Protocol: b[9]}
	case len(b) >= 40 && b[0]>>4 == 6:
		head, size = 40, 40+int(binary.BigEndian.Uint16(b[4:]))
		h = IP{From: netip.AddrFrom16([16]byte(b[8:])), To: netip.AddrFrom16([16]byte(b[24:])), Protocol: b[6]}
	default:
		return h, false
	}
	h.Size = size - head
	if head <= len(b) {
		h.Carried = b[head:]
	}
	return h, true
}

// Ports are those of what is carried, by TCP or UDP; ok is false if it has none.
func (h IP) Ports() (source, destination uint16, ok bool) {
	if h.Protocol != TCP && h.Protocol != UDP || len(h.Carried) < 4 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(h.Carried[SourcePort:]), binary.BigEndian.Uint16(h.Carried[DestinationPort:]), true
}
