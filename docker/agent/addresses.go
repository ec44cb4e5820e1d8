//go:build linux

package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
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

// routing opens what tells and sets a node's addresses and routes, to be closed by the caller.
func (p *place) routing() (*netlink.Handle, error) {
	h, err := netlink.NewHandleAt(netns.NsHandle(p.space.file.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("open netlink: %w", err)
	}
	return h, nil
}

// strip takes from a node's interfaces all addresses but its own, and those that are an interface's by its nature, as a loopback's are.
// Those that a server has given itself, as one that shares an address does, are in the kernel, and outlive its processes; but not its machine.
func (p *place) strip() error {
	h, err := p.routing()
	if err != nil {
		return err
	}
	defer h.Close()
	all, err := h.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return fmt.Errorf("addresses of %s: %w", p.name, err)
	}
	var errs []error
	for _, a := range all {
		addr, _ := netip.AddrFromSlice(a.IP)
		if a.Scope == unix.RT_SCOPE_HOST || a.Scope == unix.RT_SCOPE_LINK || slices.Contains(p.addrs, addr) {
			continue
		}
		err := h.AddrDel(nil, &a)
		if err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) { // gone with another, whose prefix it shared
			errs = append(errs, fmt.Errorf("address %v of %s: %w", addr, p.name, err))
		}
	}
	return errors.Join(errs...)
}
