package wire

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestMessagesAreReadAsTheyWereWritten(t *testing.T) {
	sent := []Message{
		{Type: Data, Socket: 7, At: 1 << 40, Data: []byte("hello")},
		{Type: Fin, Socket: FirstAccepted, At: 3, Data: []byte{}},
		{Type: Connect, Socket: 2, At: 5, Data: AppendAddr(AppendAddr(nil, Addr{[4]byte{10, 0, 0, 1}, 2380}), Addr{[4]byte{127, 0, 0, 1}, 65535})},
	}
	var b []byte
	for _, m := range sent {
		n := len(b)
		b = Append(b, m)
		require.Equal(t, MessageSize(len(m.Data)), len(b)-n)
	}
	var got []Message
	for len(b) > 0 {
		m, rest, ok := Cut(b)
		require.True(t, ok)
		got, b = append(got, m), rest
	}
	require.Equal(t, sent, got)
	to, rest := CutAddr(got[2].Data)
	from, rest := CutAddr(rest)
	require.Equal(t, Addr{[4]byte{10, 0, 0, 1}, 2380}, to)
	require.Equal(t, Addr{[4]byte{127, 0, 0, 1}, 65535}, from)
	require.Empty(t, rest)
}

func TestWhatIsCutShortIsNoMessage(t *testing.T) {
	b := Append(nil, Message{Type: Data, Data: []byte("0123456789")})
	for n := range len(b) {
		_, _, ok := Cut(b[:n])
		require.False(t, ok, n)
	}
	change := AppendChange(nil, Change{Kind: Rename, Path: "/a", To: "/b"})
	for n := range len(change) {
		_, ok := ParseChange(change[:n])
		require.False(t, ok, n)
	}
}

func TestChangesAreReadAsTheyWereWritten(t *testing.T) {
	for _, c := range []Change{
		{Kind: Write, File: 7, Offset: 1 << 33, Data: []byte("x")},
		{Kind: Rename, Path: "/data/a", To: "/data/b", Data: []byte{}},
	} {
		got, ok := ParseChange(AppendChange(nil, c))
		require.True(t, ok)
		require.Equal(t, c, got)
	}
}

func TestConfigRefusesLineBreaks(t *testing.T) {
	_, err := Config{Host: "n1\nroot=/"}.Text()
	require.Error(t, err)
	text, err := Config{Host: "n1", Root: "/tmp/n1/", Names: map[string][4]byte{"n2": {10, 9, 0, 2}, "n1": {10, 9, 0, 1}}}.Text()
	require.NoError(t, err)
	require.Equal(t, "host=n1\nroot=/tmp/n1\nname=10.9.0.1 n1\nname=10.9.0.2 n2\n", text)
}

// How many datagrams a socket kept that nobody read, on Linux 6.18 with rmem_default as it is.
func TestDatagramsTakeRoomAsOnLinux(t *testing.T) {
	for data, kept := range map[int]int{
		0: 256, 1: 256, 64: 256, 100: 256, 200: 166, 500: 166, 900: 92, 1000: 92, 1400: 92, 2000: 48, 3000: 48, 5000: 25, 9000: 12, 20000: 10, 60000: 3,
	} {
		require.Equal(t, kept, ReceiveRoom/Taken(data), data)
	}
}

func TestHeaderFitsItsPlace(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(Header{}), uintptr(TextAt))
	require.Equal(t, uintptr(40), unsafe.Sizeof(Event{}))
}
