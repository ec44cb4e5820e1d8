//go:build linux

package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// dies has a node's machine lose what was not synced to its disk, and the addresses that it was given. Its processes are dead.
func (p *place) dies() error {
	p.crashes++
	var err error
	if p.volume != nil {
		err = p.volume.crash()
	}
	return errors.Join(err, p.strip())
}

// strip takes from a node's interfaces all addresses but its own. Those that a server has given itself, as one that shares an
// address does, are in the kernel, and outlive its processes; but not its machine.
func (p *place) strip() error {
	conn, err := netlink.Dial(unix.NETLINK_ROUTE, &netlink.Config{NetNS: int(p.space.file.Fd())})
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer conn.Close()
	all, err := conn.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETADDR, Flags: netlink.Request | netlink.Dump},
		Data:   make([]byte, unix.SizeofIfAddrmsg),
	})
	if err != nil {
		return fmt.Errorf("addresses of %s: %w", p.name, err)
	}
	var errs []error
	for _, m := range all {
		addr, err := given(m.Data)
		if err == nil && addr.IsValid() && !slices.Contains(p.addrs, addr) {
			_, err = conn.Execute(netlink.Message{
				Header: netlink.Header{Type: unix.RTM_DELADDR, Flags: netlink.Request | netlink.Acknowledge},
				Data:   m.Data, // as it was told
			})
		}
		if err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) { // gone with another, whose prefix it shared
			errs = append(errs, fmt.Errorf("address %v of %s: %w", addr, p.name, err))
		}
	}
	return errors.Join(errs...)
}

// given reads the address that a message of the kernel is about; none if it is the interface's by its nature, as those of a loopback are.
func given(message []byte) (addr netip.Addr, err error) {
	const scope = 3 // in struct ifaddrmsg
	if len(message) < unix.SizeofIfAddrmsg {
		return addr, errors.New("the kernel told less than an address")
	}
	if message[scope] == unix.RT_SCOPE_HOST || message[scope] == unix.RT_SCOPE_LINK {
		return addr, nil
	}
	attributes, err := netlink.UnmarshalAttributes(message[unix.SizeofIfAddrmsg:])
	for _, a := range attributes {
		if a.Type == unix.IFA_LOCAL || a.Type == unix.IFA_ADDRESS && !addr.IsValid() { // that of the other end, where there is one
			addr, _ = netip.AddrFromSlice(a.Data)
		}
	}
	return addr, err
}
