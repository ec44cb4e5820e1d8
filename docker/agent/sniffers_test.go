//go:build linux

package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A socket that only sends, of protocol 0, reads nothing, and one of another protocol, such as RARP, nothing of IP.
func TestSniffersAreReadAsTheKernelWritesThem(t *testing.T) {
	const head = "sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n"
	require.False(t, parseSniffers(head))
	require.False(t, parseSniffers(head+"0000000000000000 3      3    0000   2     1 0      0      67890\n"))
	require.True(t, parseSniffers(head+"0000000000000000 3      3    0000   2     1 0      0      67890\n0000000000000000 3      3    0003   2     1 0      0      12345\n"))
	for _, other := range []string{"0806", "8035", "88cc"} { // ARP, RARP, LLDP
		require.False(t, parseSniffers(head+"0000000000000000 3      3    "+other+"   0     1 0      0      12345\n"))
	}
	require.True(t, parseSniffers(head+"0000000000000000 3      3    86dd   0     1 0      0      12345\n"))
	require.True(t, parseSniffers(head+"0000000000000000 3      2    0800   0     1 0      0      12345\n"))
}
