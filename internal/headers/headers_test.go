package headers

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func bytes(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	require.NoError(t, err)
	return b
}

func TestRead(t *testing.T) {
	const carried = "9c40 094c 0010 0000"
	for name, one := range map[string]struct {
		head string
		want IP
	}{
		"version 4": {"4500 001c 1234 4000 4006 0000 0a090801 0a090802",
			IP{From: netip.MustParseAddr("10.9.8.1"), To: netip.MustParseAddr("10.9.8.2"), Protocol: TCP, Size: 8}},
		"version 4 with options": {"4600 0020 1234 4000 4011 0000 0a090801 0a090802 01010100",
			IP{From: netip.MustParseAddr("10.9.8.1"), To: netip.MustParseAddr("10.9.8.2"), Protocol: UDP, Size: 8}},
		"version 6": {"60000000 0008 06 40 fd000000000000000000000000000001 fd000000000000000000000000000002",
			IP{From: netip.MustParseAddr("fd00::1"), To: netip.MustParseAddr("fd00::2"), Protocol: TCP, Size: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			whole := bytes(t, one.head+carried)
			got, ok := Read(whole)
			require.True(t, ok)
			one.want.Carried = bytes(t, carried)
			require.Equal(t, one.want, got)
			source, destination, ok := got.Ports()
			require.True(t, ok)
			require.Equal(t, [2]uint16{40000, 2380}, [2]uint16{source, destination})

			for n := range whole { // whatever is missing, nothing is read that is not there
				cut, _ := Read(whole[:n])
				_, _, ok := cut.Ports()
				require.Equal(t, n >= len(whole)-4, ok, "cut after %d bytes", n)
			}
			got.Protocol = 1
			_, _, ok = got.Ports()
			require.False(t, ok, "ICMP has none")
		})
	}
	for _, other := range [][]byte{nil, bytes(t, strings.Repeat("50", 60)), bytes(t, strings.Repeat("60", 39))} {
		_, ok := Read(other)
		require.False(t, ok, "%x", other)
	}
}
