package etcd

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"recount/election"
	"recount/targets/systems/systemtest"
)

// raft is a message of raft's.
func raft(kind, from, term uint64, rejects bool) (b []byte) {
	field := func(n protowire.Number, v uint64) {
		b = protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
	}
	field(typeField, kind)
	field(2, 77)
	field(fromField, from)
	field(termField, term)
	b = protowire.AppendBytes(protowire.AppendTag(b, 7, protowire.BytesType), []byte("an entry\x20\x63"))
	field(rejectField, protowire.EncodeBool(rejects))
	return b
}

// counted is something with its length before it.
func counted(b []byte) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(len(b)))) + string(b)
}

func chunked(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// exchange has a connection read both ways, first the requests, each cut up into so many bytes.
func exchange(t *testing.T, asks, answers string, cut int) (asked, answered []election.Said) {
	to, from := systemtest.System(t, "etcd", nil).(election.Decoder).Decode(peerPort)
	feed := func(read election.Reader, text string) (all []election.Said) {
		for at := 0; at < len(text); at += cut {
			all = append(all, read([]byte(text[at:min(at+cut, len(text))]))...)
		}
		return all
	}
	return feed(to, asks), feed(from, answers)
}

func TestPeersAreRead(t *testing.T) {
	const stream = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]struct {
		asks, answers   string
		asked, answered []election.Said
	}{
		"posted": {
			asks: fmt.Sprintf("POST /raft HTTP/1.1\r\nHost: n2\r\nContent-Length: %d\r\n\r\n%s", len(raft(5, 3, 9, false)), raft(5, 3, 9, false)) +
				"GET /raft/probing HTTP/1.1\r\n\r\nGET /version HTTP/1.1\r\n\r\n",
			answers:  "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nHTTPHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked("body") + "0\r\n\r\n",
			asked:    []election.Said{{Kind: "vote request", Term: 9}, {Kind: "probe"}, {Kind: "request"}},
			answered: []election.Said{{Kind: "answer"}, {Kind: "answer"}, {Kind: "answer"}},
		},
		"stream of messages": {
			asks: "GET /raft/stream/message/abc HTTP/1.1\r\n\r\n",
			answers: stream + chunked(counted(raft(8, 0, 0, false))+counted(raft(8, 3, 4, false))[:5]) + chunked(counted(raft(8, 3, 4, false))[5:]) +
				chunked(counted(raft(18, 3, 5, true))+counted(raft(18, 3, 5, false))+counted(raft(99, 3, 5, false))),
			asked: []election.Said{{Kind: "ask for a stream"}},
			answered: []election.Said{{Kind: "answer"}, {Kind: keepAlive}, {Kind: "heartbeat", Term: 4}, {Kind: "pre-vote refused", Term: 5},
				{Kind: "pre-vote granted", Term: 5}, {Kind: "message of type 99", Term: 5}},
		},
		"stream of appends": {
			asks: "GET /raft/stream/msgapp/abc HTTP/1.1\r\n\r\n",
			answers: stream + chunked("\x00\x02"+counted(raft(3, 3, 6, false))) +
				chunked("\x01"+string(binary.BigEndian.AppendUint64(nil, 2))+counted([]byte("one"))+counted([]byte("two"))+"COMMITTD\x00"),
			asked:    []election.Said{{Kind: "ask for a stream"}},
			answered: []election.Said{{Kind: "answer"}, {Kind: keepAlive}, {Kind: "append", Term: 6}, {Kind: "append", Term: 6}, {Kind: keepAlive}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for cut := 1; cut <= max(len(c.asks), len(c.answers)); cut++ {
				asked, answered := exchange(t, c.asks, c.answers, cut)
				require.Equal(t, c.asked, asked, cut)
				require.Equal(t, c.answered, answered, cut)
			}
		})
	}
}

func TestWhatIsNoPeerIsNotGuessedAt(t *testing.T) {
	asked, answered := systemtest.System(t, "etcd", nil).(election.Decoder).Decode(ClientPort)
	require.Nil(t, asked)
	require.Nil(t, answered)
	asks, answers := exchange(t, "\x16\x03\x01 TLS\r\n\r\nPOST /raft HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", 1000)
	require.Empty(t, asks)
	require.Empty(t, answers, "an answer to no question")
	_, answers = exchange(t, "GET /raft/stream/msgapp/abc HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+chunked("\x07what is this")+chunked("\x00"), 1000)
	require.Equal(t, []election.Said{{Kind: "answer"}}, answers)
}
