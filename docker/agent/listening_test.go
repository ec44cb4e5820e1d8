//go:build linux

package agent

import (
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of what is in the kernel's tables, a node listens to what is in that state, but for the engine's own resolver.
func TestPortsAreReadAsTheKernelWritesThem(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue\n"
	require.Empty(t, parseListening(head))
	require.Equal(t, []listener{{8080, false}, {2379, true}, {2380, false}, {2381, false}, {2382, true}}, parseListening(head+
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n"+
		"   1: 0B00007F:9C41 00000000:0000 0A 00000000:00000000\n"+
		"   2: 0100007F:1F91 0100007F:0050 01 00000000:00000000\n"+
		"   3: 00000000000000000000000000000000:094B 00000000000000000000000000000000:0000 0A 00000000:00000000\n"+
		"   4: 00000000000000000000000001000000:094C 00000000000000000000000000000000:0000 0A 00000000:00000000\n"+
		"   5: 0000000000000000FFFF00000100007F:094D 00000000000000000000000000000000:0000 0A 00000000:00000000\n"+
		"   6: 0000000000000000FFFF0000020011AC:094E 00000000000000000000000000000000:0000 0A 00000000:00000000\n"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	text, err := os.ReadFile("/proc/self/net/tcp")
	require.NoError(t, err)
	require.Contains(t, parseListening(string(text)), listener{l.Addr().(*net.TCPAddr).Port, false})
}
