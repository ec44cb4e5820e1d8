//go:build linux

package agent

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// A node that has no way out is given one, of each family that its network has a gateway of; who has one keeps it.
func TestDefaultRoutes(t *testing.T) {
	p := twoPlaces(t).places["n1"]
	h, err := netlink.NewHandleAt(netns.NsHandle(p.space.file.Fd()))
	require.NoError(t, err)
	t.Cleanup(h.Close)
	gateways := func() (all []string) {
		for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
			routes, err := h.RouteListFiltered(family, &netlink.Route{}, netlink.RT_FILTER_DST)
			require.NoError(t, err)
			for _, r := range routes {
				all = append(all, r.Gw.String())
			}
		}
		return all
	}
	require.NoError(t, p.lead(nil))
	require.Empty(t, gateways())
	require.NoError(t, p.lead([]netip.Addr{netip.MustParseAddr("10.9.8.2")}))
	require.Equal(t, []string{"10.9.8.2"}, gateways())
	require.NoError(t, p.lead([]netip.Addr{netip.MustParseAddr("10.9.8.3"), netip.MustParseAddr("fd00::2")}))
	require.Equal(t, []string{"10.9.8.2", "fd00::2"}, gateways())
	require.ErrorContains(t, twoPlaces(t).places["n1"].lead([]netip.Addr{netip.MustParseAddr("10.1.1.1")}), "default route by 10.1.1.1: network is unreachable")
}
