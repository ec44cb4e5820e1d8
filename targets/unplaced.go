package targets

import (
	"net/netip"

	"recount/election"
)

// Unplaced is an address for a member of which nobody knows yet where it will be, to try whether it could be started: one that an engine
// might give it, and another for each.
func Unplaced(id election.ID) netip.Addr { return netip.AddrFrom4([4]byte{172, 17, 0, byte(id + 1)}) }
