package record

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMessagesAreReadAsTheyWereWritten(t *testing.T) {
	for _, compress := range []bool{false, true} {
		dir := t.TempDir()
		err := EachMessage(os.DirFS(dir), nil)
		require.ErrorIs(t, err, fs.ErrNotExist)
		w, err := CreateMessages(dir, compress)
		require.NoError(t, err)
		want := []Message{
			{From: "n1", To: "n2", Sent: time.Second, Arrived: 2 * time.Second, Kind: "<b>", Term: 3, Words: "\u2028 </script>", Port: 2380, Bytes: 10},
			{From: "n2", To: "n1", Sent: time.Second, Arrived: 3 * time.Second, Lost: "the link is cut", Again: true},
			{From: "n2", To: "n1", Words: strings.Repeat("long ", 100_000)},
			{From: "n2", To: "n1", Late: "slow", Of: &Traffic{Packets: 2, Connections: []Connections{{Port: 1, Open: 2}}}},
		}
		for i := range want {
			w.Add(&want[i])
		}
		require.NoError(t, w.Close())
		var got []Message
		require.NoError(t, EachMessage(os.DirFS(dir), func(m *Message) { got = append(got, *m) }))
		require.Equal(t, want, got)
	}
}

func TestMessagesThatAreCutShortAreReadAsFarAsTheyGo(t *testing.T) {
	for _, compress := range []bool{false, true} {
		dir := t.TempDir()
		w, err := CreateMessages(dir, compress)
		require.NoError(t, err)
		for i := range 5000 {
			w.Add(&Message{From: "n1", To: "n2", Sent: time.Duration(i)})
		}
		require.NoError(t, w.Close())
		name := filepath.Join(dir, MessagesFile)
		if compress {
			name += Compressed
		}
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(name, info.Size()*2/3))
		n := 0
		require.NoError(t, EachMessage(os.DirFS(dir), func(m *Message) { require.Equal(t, time.Duration(n), m.Sent); n++ }))
		require.Greater(t, n, 1000)
		require.Less(t, n, 5000)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, MessagesFile), []byte("{}\nno JSON\n"), 0o644))
	require.ErrorContains(t, EachMessage(os.DirFS(dir), func(*Message) {}), "messages.jsonl, line 2")
	require.NoError(t, os.WriteFile(filepath.Join(dir, MessagesFile), make([]byte, longestLine+(1<<20)), 0o644))
	require.ErrorContains(t, EachMessage(os.DirFS(dir), func(*Message) {}), "messages.jsonl, line 1: it goes on after 16 MiB")
}

func TestNoMoreThanMostMessagesAreKept(t *testing.T) {
	dir := t.TempDir()
	w, err := CreateMessages(dir, true)
	require.NoError(t, err)
	w.count = MostMessages - 1
	for range 3 {
		w.Add(&Message{From: "n1"})
	}
	require.Equal(t, 2, w.Left())
	require.NoError(t, w.Close())
	n := 0
	require.NoError(t, EachMessage(os.DirFS(dir), func(*Message) { n++ }))
	require.Equal(t, 1, n)
}
