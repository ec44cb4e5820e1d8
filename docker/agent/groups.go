//go:build linux

package agent

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// allHosts is the group that every interface is in.
var allHosts = netip.AddrFrom4([4]byte{224, 0, 0, 1})

// groups are the multicast groups of IPv4 that nodes listen to, by node, as the kernel has them of their namespaces.
func (a *agent) groups() (map[string][]netip.Addr, error) {
	a.mu.Lock()
	pids := map[string]int{}
	for name, p := range a.places {
		pids[name] = p.anchor.pid
	}
	a.mu.Unlock()
	all := map[string][]netip.Addr{}
	for name, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/igmp", pid))
		if err != nil {
			return nil, fmt.Errorf("groups of %s: %w", name, err)
		}
		if groups := parseGroups(string(text)); len(groups) > 0 {
			all[name] = groups
		}
	}
	return all, nil
}

// parseGroups reads /proc/net/igmp: a line for each interface, and under it, further in, one for each of its groups, whose
// number is in the machine's order of bytes.
func parseGroups(text string) []netip.Addr {
	seen := map[netip.Addr]bool{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "\t") || len(fields) == 0 {
			continue
		}
		number, err := strconv.ParseUint(fields[0], 16, 32)
		if err != nil {
			continue
		}
		var octets [4]byte
		binary.NativeEndian.PutUint32(octets[:], uint32(number))
		if group := netip.AddrFrom4(octets); group != allHosts {
			seen[group] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), netip.Addr.Compare)
}
