package harness

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/harness/record"
	"recount/virtual"
	"recount/virtual/tcp"
)

// spelled is a system whose servers send each other words that end in a dot, on port 7000.
type spelled struct{ election.System }

func (spelled) Decode(port int) (asked, answered election.Reader) {
	if port != 7000 {
		return nil, nil
	}
	word := func() election.Reader {
		var rest []byte
		return func(sent []byte) (all []election.Said) {
			rest = append(rest, sent...)
			for {
				one, after, ended := bytes.Cut(rest, []byte("."))
				if !ended {
					return all
				}
				all, rest = append(all, election.Said{Kind: string(one), Term: uint64(len(one))}), after
			}
		}
	}
	return word(), word()
}

var (
	caller = netip.MustParseAddrPort("10.9.0.1:41000")
	called = netip.MustParseAddrPort("10.9.0.2:7000")
)

func TestPacketsBecomeMessages(t *testing.T) {
	var got []record.Message
	p := newPackets(spelled{}, func(m *record.Message) { got = append(got, *m) })
	send := func(s tcp.Segment, fates ...virtual.Fate) (words []string) {
		k := virtual.Packet{From: "n1", To: "n2", Sent: time.Second, Segment: s}
		if s.From == called {
			k.From, k.To = k.To, k.From
		}
		got = nil
		if tell := p.sent(k); tell != nil {
			for _, f := range fates {
				tell(f)
			}
		}
		for _, m := range got {
			words = append(words, m.Words)
		}
		return words
	}
	there := func(seq int64, data string) tcp.Segment {
		return tcp.Segment{From: caller, To: called, ACK: true, Seq: seq, Data: []byte(data)}
	}
	arrives, cut := virtual.Fate{At: 2 * time.Second, Late: "the link is slow"}, virtual.Fate{At: 3 * time.Second, Lost: "the link is cut"}

	require.Equal(t, []string{"asks for a connection to port 7000"}, send(tcp.Segment{From: caller, To: called, SYN: true}, arrives))
	require.Equal(t, []string{"accepts a connection from port 7000"}, send(tcp.Segment{From: called, To: caller, SYN: true, ACK: true}, arrives))
	require.Empty(t, send(there(1, ""), arrives), "what only confirms is no message")

	require.Equal(t, []string{"vote term 4, in 7 bytes to port 7000"}, send(there(1, "vote.be"), arrives))
	require.Equal(t, []record.Message{{
		From: "n1", To: "n2", Sent: time.Second, Arrived: 2 * time.Second, Late: "the link is slow", Kind: "vote", Term: 4,
		Words: "vote term 4, in 7 bytes to port 7000", Port: 7000, Bytes: 7,
	}}, got)

	require.Equal(t, []string{"beat term 4, 2 of them, in 13 bytes to port 7000", "no term 2, in 13 bytes to port 7000"}, send(there(8, "at.no.beat.be"), cut),
		"a word is said where it ends")
	require.Equal(t, "the link is cut", got[0].Lost)
	require.Equal(t, []string{"beat term 4, 2 of them, in 13 bytes, sent again, to port 7000", "no term 2, in 13 bytes, sent again, to port 7000"},
		send(there(8, "at.no.beat.be"), arrives))
	require.True(t, got[0].Again)
	require.Equal(t, []string{"beat term 4, 2 of them, in 20 bytes to port 7000", "no term 2, in 20 bytes to port 7000", "begone term 6, in 20 bytes to port 7000"},
		send(there(8, "at.no.beat.begone.xx"), arrives)[:3], "what was sent before and more")

	require.Equal(t, []string{"2 bytes from port 7000"}, send(tcp.Segment{From: called, To: caller, ACK: true, Seq: 1, Data: []byte("ye")}, arrives))
	require.Equal(t, []string{"yes term 3, in 2 bytes from port 7000", "ends a connection from port 7000"},
		send(tcp.Segment{From: called, To: caller, ACK: true, FIN: true, Seq: 3, Data: []byte("s.")}, arrives))
	require.Equal(t, []string{"resets a connection to port 7000"}, send(tcp.Segment{From: caller, To: called, RST: true}, arrives))
	require.Len(t, send(tcp.Segment{From: caller, To: called, Data: []byte("hello")}, arrives, arrives), 2, "a datagram that arrives twice")
	require.Equal(t, "datagram of 5 bytes to port 7000", got[0].Words)

	bare := newPackets(struct{ election.System }{}, func(m *record.Message) { got = append(got, *m) })
	got = nil
	bare.sent(virtual.Packet{Segment: there(1, "vote.")})(arrives)
	require.Equal(t, "5 bytes to port 7000", got[0].Words)
	require.Empty(t, got[0].Kind, "bytes that nobody has read have no kind")
}
