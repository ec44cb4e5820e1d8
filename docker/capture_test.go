package docker

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packet is bytes in hex, with spaces between.
func packet(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	require.NoError(t, err)
	return b
}

func TestReadingASegment(t *testing.T) {
	const (
		four = "4500 0039 1234 4000 4006 0000 0a090801 0a090802"
		six  = "60000000 0025 06 40 fd000000000000000000000000000001 fd000000000000000000000000000002"
		// Two options that say nothing, and the sender's clock.
		tcp  = "9c40 094c 00000010 00000020 8018 0100 0000 0000 0101 080a 00000064 000000c8"
		data = "68656c6c6f"
	)
	want := Segment{
		Source: netip.MustParseAddrPort("10.9.8.1:40000"), Destination: netip.MustParseAddrPort("10.9.8.2:2380"),
		ACK: true, Seq: 16, Ack: 32, Stamp: 100, Size: 5, Data: []byte("hello"),
	}
	got, err := readSegment(packet(t, four+tcp+data))
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = readSegment(append(packet(t, four+tcp+data), 0, 0, 0)) // what fills up a short frame
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = readSegment(packet(t, four+tcp)) // of one that arrives there is no more
	require.NoError(t, err)
	require.Equal(t, 5, got.Size)
	require.Empty(t, got.Data)

	got, err = readSegment(packet(t, six+tcp+data))
	require.NoError(t, err)
	want.Source, want.Destination = netip.MustParseAddrPort("[fd00::1]:40000"), netip.MustParseAddrPort("[fd00::2]:2380")
	require.Equal(t, want, got)

	whole := packet(t, four+tcp+data)
	for n := range len(packet(t, four+tcp)) {
		_, err := readSegment(whole[:n])
		require.Error(t, err, "cut after %d bytes", n)
	}
	for i := range whole { // whatever it says, nothing is read that is not there
		for _, b := range []byte{0, 1, 0x7f, 0xff} {
			spoilt := append([]byte(nil), whole...)
			spoilt[i] = b
			_, _ = readSegment(spoilt)
		}
	}
}
