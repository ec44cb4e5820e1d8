//go:build linux

package agent

import (
	"encoding/binary"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Datagrams that are made by hand: only so can one come from a port that belongs to somebody else.

const udpHead = 8 // bytes

// openRaw opens a socket that sends datagrams from ports that belong to others.
func openRaw(at *place, addr netip.Addr) (conn *net.IPConn, err error) {
	network := "ip4:udp"
	if addr.Is6() {
		network = "ip6:udp"
	}
	err = at.space.do(func() error {
		conn, err = net.ListenIP(network, &net.IPAddr{IP: addr.AsSlice()})
		return err
	})
	return conn, err
}

func ipHead(addr netip.Addr) int {
	if addr.Is6() {
		return 40
	}
	return 20
}

// udp is a datagram with its header.
func udp(from, to netip.AddrPort, payload []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, from.Port())
	b = binary.BigEndian.AppendUint16(b, to.Port())
	b = binary.BigEndian.AppendUint16(b, uint16(udpHead+len(payload)))
	b = append(b, 0, 0)
	b = append(b, payload...)
	sum := uint32(unix.IPPROTO_UDP) + uint32(len(b))
	for _, part := range [][]byte{from.Addr().AsSlice(), to.Addr().AsSlice(), b} {
		for i := 0; i < len(part); i += 2 {
			sum += uint32(part[i]) << 8
			if i+1 < len(part) {
				sum += uint32(part[i+1])
			}
		}
	}
	for sum>>16 != 0 {
		sum = sum>>16 + sum&0xffff
	}
	check := ^uint16(sum)
	if check == 0 {
		check = 0xffff // none would mean that there is no checksum
	}
	binary.BigEndian.PutUint16(b[6:], check)
	return b
}
