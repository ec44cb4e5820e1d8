//go:build linux

package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"recount/history"
)

// A machine that dies has its own addresses in its next life, and none that a server gave it, also where a trap has it die. Who is killed leaves them.
func TestAddressesOfAMachineThatDies(t *testing.T) {
	a := twoPlaces(t)
	h, err := netlink.NewHandleAt(netns.NsHandle(a.places["n1"].space.file.Fd()))
	require.NoError(t, err)
	t.Cleanup(h.Close)
	eth0, err := h.LinkByName("eth0")
	require.NoError(t, err)
	told := func() (all []string) {
		list, err := h.AddrList(nil, netlink.FAMILY_ALL)
		require.NoError(t, err)
		for _, addr := range list {
			all = append(all, addr.IPNet.String())
		}
		return all
	}
	own := told()
	require.Subset(t, own, []string{"127.0.0.1/8", "10.9.8.1/24", "fd00::1/64"})
	give := func() {
		for _, text := range []string{"10.99.99.99/32", "10.9.8.77/24", "10.9.8.78/24", "fd00::99/128"} {
			addr, err := netlink.ParseAddr(text)
			require.NoError(t, err)
			require.NoError(t, h.AddrAdd(eth0, addr))
		}
		require.Len(t, told(), len(own)+4)
	}
	give()
	apply := func(o Apply) {
		done, err := a.apply(o)
		require.NoError(t, err)
		require.Empty(t, done.Errors)
	}
	apply(Apply{Signals: []Signal{{Node: "n1", Kind: Kill}}})
	require.Len(t, told(), len(own)+4)
	apply(Apply{Signals: []Signal{{Node: "n1", Kind: Kill}}, Crash: []string{"n1"}})
	require.ElementsMatch(t, own, told())
	give()
	a.traps.tells(func(Sprung) {})
	a.traps.doomed["n1"] = &doom{Trap: finish("n1", history.Receives, 0, true), over: true}
	a.fell("n1", false)
	require.ElementsMatch(t, own, told())
}
