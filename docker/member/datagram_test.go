package member

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

var messages = []election.Message{
	{Kind: "RequestVote"},
	{Kind: "AppendEntries", Term: 1<<64 - 1, Value: 1<<64 - 1, Node: 255, OK: true},
	{Kind: "ELECTION", List: []election.ID{5, 1, 3}, Data: []byte{0, 1, 255}},
}

func TestDatagramsCarryMessages(t *testing.T) {
	var d decoder
	for _, m := range messages {
		b, err := appendMessage([]byte("before"), &m)
		require.NoError(t, err)
		got, err := d.message(b[len("before"):])
		require.NoError(t, err)
		require.Equal(t, m, got)
	}
	for _, m := range []election.Message{
		{Kind: "a", Data: make([]byte, maxDatagram)},
		{Kind: strings.Repeat("a", maxKind+1)},
	} {
		b, err := appendMessage([]byte("before"), &m)
		require.ErrorIs(t, err, errTooLong)
		require.Equal(t, "before", string(b))
	}
}

func TestHeartbeatDatagramAllocatesNothing(t *testing.T) {
	var d decoder
	b, err := appendMessage(nil, &messages[1])
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		m, err := d.message(b)
		if err == nil {
			b, err = appendMessage(b[:0], &m)
		}
		if err != nil {
			t.Error(err)
		}
	}))
}

// Whatever comes from the network is a message or is refused; and what is a message is one both ways.
func FuzzDatagram(f *testing.F) {
	for _, m := range messages {
		b, err := appendMessage(nil, &m)
		require.NoError(f, err)
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(append(b, 0))
	}
	f.Add([]byte{})
	f.Add([]byte{datagramVersion, 0, 1, 'a', 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var d decoder
		m, err := d.message(b)
		if err != nil {
			require.Equal(t, election.Message{}, m)
			return
		}
		again, err := appendMessage(nil, &m)
		require.NoError(t, err)
		same, err := d.message(again)
		require.NoError(t, err)
		require.Equal(t, m, same)
	})
}
