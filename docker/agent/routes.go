//go:build linux

package agent

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// lead has a default route by each of the gateways, where there is none of its family yet. Not all engines give one to who is in a network
// that leads nowhere. On other machines programs find one, and from it their own address, or the interface by which they listen to a group.
func (p *place) lead(gateways []netip.Addr) error {
	h, err := p.routing()
	if err != nil {
		return err
	}
	defer h.Close()
	for _, gateway := range gateways {
		family := netlink.FAMILY_V6
		if gateway.Is4() {
			family = netlink.FAMILY_V4
		}
		there, err := h.RouteListFiltered(family, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_DST|netlink.RT_FILTER_TABLE)
		if err == nil && len(there) == 0 {
			err = h.RouteAdd(&netlink.Route{Gw: gateway.AsSlice()})
		}
		if err != nil {
			return fmt.Errorf("default route by %v: %w", gateway, err)
		}
	}
	return nil
}
