//go:build linux

package agent

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is in each kernel's table is the group of all hosts; a node listens to what is there besides.
func TestGroupsAreReadAsTheKernelWritesThem(t *testing.T) {
	line := func(group string) string {
		octets := netip.MustParseAddr(group).As4()
		return fmt.Sprintf("\t\t\t\t%08X     1 0:00000000\t\t0\n", binary.NativeEndian.Uint32(octets[:]))
	}
	const head = "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n"
	alone := head + "1\tlo        :     1      V3\n" + line("224.0.0.1") + "397\teth0      :     1      V3\n" + line("224.0.0.1")
	require.Empty(t, parseGroups(alone))
	require.Equal(t, []netip.Addr{netip.MustParseAddr("224.0.0.18"), netip.MustParseAddr("239.1.2.3")},
		parseGroups(alone+line("239.1.2.3")+line("224.0.0.18")+line("224.0.0.18")))
}
