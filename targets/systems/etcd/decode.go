package etcd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"recount/election"
	"recount/targets/systems"
)

// Ports are where servers listen to each other.
func (s *system) Ports() []int { return []int{peerPort} }

// Decode reads what servers send each other, over HTTP: single messages of raft that are posted, and two streams of them that are the
// endless answers to requests, one of appends and one of all else:
// https://github.com/etcd-io/etcd/tree/main/server/etcdserver/api/rafthttp
func (s *system) Decode(port int) (asked, answered election.Reader) {
	if port != peerPort {
		return nil, nil
	}
	p := new(peer)
	return systems.Messages(p.request), systems.Messages(p.answer)
}

// peer is one connection to a peer.
type peer struct {
	asked  []string        // the paths of requests that have no answer yet
	stream election.Reader // of the answer that goes on; nil if that is no stream
	body   bool            // an answer goes on
}

const (
	messageStream = "/raft/stream/message"
	appendStream  = "/raft/stream/msgapp"
)

// request reads a request, with what is posted.
func (p *peer) request(b []byte) (said []election.Said, n int) {
	head, first, n := httpHead(b)
	if n <= 0 {
		return nil, n
	}
	if len(first) != 3 || !strings.HasPrefix(first[2], "HTTP/1.") {
		return nil, -1
	}
	size, _ := strconv.Atoi(head["content-length"])
	if size < 0 || len(b) < n+size {
		return nil, 0
	}
	path, body := first[1], b[n:n+size]
	p.asked = append(p.asked, path)
	one := election.Said{Kind: "request"}
	switch {
	case first[0] == "POST" && path == "/raft":
		one = ofRaft(body)
	case strings.HasPrefix(path, messageStream), strings.HasPrefix(path, appendStream):
		one.Kind = "ask for a stream"
	case strings.HasPrefix(path, "/raft/probing"):
		one.Kind = "probe"
	}
	return []election.Said{one}, n + size
}

// answer reads the head of an answer, or a piece of its body.
func (p *peer) answer(b []byte) (said []election.Said, n int) {
	if p.body {
		return p.chunk(b)
	}
	head, first, n := httpHead(b)
	if n <= 0 {
		return nil, n
	}
	if len(first) < 2 || !strings.HasPrefix(first[0], "HTTP/1.") || len(p.asked) == 0 {
		return nil, -1
	}
	size, _ := strconv.Atoi(head["content-length"])
	if size < 0 || len(b) < n+size {
		return nil, 0
	}
	path := p.asked[0]
	p.asked, p.stream, p.body = p.asked[1:], nil, head["transfer-encoding"] == "chunked"
	switch {
	case !p.body || first[1] != "200":
	case strings.HasPrefix(path, messageStream):
		p.stream = systems.Messages(streamed)
	case strings.HasPrefix(path, appendStream):
		p.stream = systems.Messages(new(appends).next)
	}
	return []election.Said{{Kind: "answer"}}, n + size
}

// chunk reads a piece of an answer: its length in hex, and so many bytes.
func (p *peer) chunk(b []byte) (said []election.Said, n int) {
	line, _, ended := bytes.Cut(b, []byte("\r\n"))
	if !ended {
		return nil, 0
	}
	size, err := strconv.ParseUint(string(line), 16, 31)
	if err != nil {
		return nil, -1
	}
	if n = len(line) + 2 + int(size) + 2; len(b) < n {
		return nil, 0
	}
	if size == 0 {
		p.body = false
		return nil, n
	}
	if p.stream == nil {
		return nil, n
	}
	return p.stream(b[len(line)+2 : n-2]), n
}

// httpHead reads the head of a request or an answer: its fields by their names in small letters, the words of its first line, and how many
// bytes it has; 0 if it has not ended, -1 if it is none.
func httpHead(b []byte) (fields map[string]string, first []string, n int) {
	text, _, ended := bytes.Cut(b, []byte("\r\n\r\n"))
	if !ended {
		if len(b) > 64<<10 {
			return nil, nil, -1
		}
		return nil, nil, 0
	}
	lines := strings.Split(string(text), "\r\n")
	fields = map[string]string{}
	for _, l := range lines[1:] {
		name, value, _ := strings.Cut(l, ":")
		fields[strings.ToLower(name)] = strings.TrimSpace(value)
	}
	return fields, strings.Fields(lines[0]), len(text) + 4
}

// streamed reads a message of the stream of messages: its length and itself.
func streamed(b []byte) (said []election.Said, n int) {
	if n = measured(b); n <= 0 {
		return nil, n
	}
	return []election.Said{ofRaft(b[8:n])}, n
}

// measured is how many bytes something has that comes with its length in eight bytes before it; 0 if it has not ended.
func measured(b []byte) int {
	if len(b) < 8 {
		return 0
	}
	size := binary.BigEndian.Uint64(b)
	if size > 1<<30 {
		return -1
	}
	if n := 8 + int(size); len(b) >= n {
		return n
	}
	return 0
}

// The kinds of what comes in the stream of appends.
const (
	nothing = iota // but that the peer is there
	entries        // an append that follows upon the last, without what it has in common with that
	wholeAppend
)

// appends reads the stream of appends.
type appends struct{ term uint64 }

func (a *appends) next(b []byte) (said []election.Said, n int) {
	switch b[0] {
	case nothing:
		return []election.Said{{Kind: keepAlive}}, 1
	case entries:
		if len(b) < 9 {
			return nil, 0
		}
		count := binary.BigEndian.Uint64(b[1:])
		n = 9
		for range min(count, 1<<20) {
			size := measured(b[n:])
			if size <= 0 {
				return nil, size
			}
			n += size
		}
		if n += 8; len(b) < n { // the commit index
			return nil, 0
		}
		return []election.Said{{Kind: "append", Term: a.term}}, n
	case wholeAppend:
		if n = measured(b[1:]); n <= 0 {
			return nil, n
		}
		one := ofRaft(b[9 : 1+n])
		a.term = one.Term
		return []election.Said{one}, 1 + n
	}
	return nil, -1
}

// The numbers of the fields of raft's messages that tell what they are.
const (
	typeField   = 1
	fromField   = 3
	termField   = 4
	rejectField = 10
)

// keepAlive is a heartbeat of a stream, of no member.
const keepAlive = "keepalive"

// kinds are the types of raft's messages, by their numbers, and the names of those that refuse.
var kinds = map[uint64][2]string{
	2: {"proposal"}, 3: {"append"}, 4: {"append reply", "append refused"}, 5: {"vote request"}, 6: {"vote granted", "vote refused"}, 7: {"snapshot"},
	8: {"heartbeat"}, 9: {"heartbeat reply"}, 13: {"hand over"}, 14: {"campaign now"}, 15: {"read"}, 16: {"read reply"},
	17: {"pre-vote request"}, 18: {"pre-vote granted", "pre-vote refused"},
}

// ofRaft is what a message of raft says: https://github.com/etcd-io/raft/blob/main/raftpb/raft.proto
func ofRaft(b []byte) election.Said {
	fields := map[protowire.Number]uint64{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		b = b[n:]
		if kind == protowire.VarintType {
			v, _ := protowire.ConsumeVarint(b)
			fields[number] = v
		}
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			break
		}
		b = b[n:]
	}
	if fields[fromField] == 0 {
		return election.Said{Kind: keepAlive}
	}
	names := kinds[fields[typeField]]
	said := election.Said{Kind: names[0], Term: fields[termField]}
	if names[1] != "" && fields[rejectField] != 0 {
		said.Kind = names[1]
	}
	if said.Kind == "" {
		said.Kind = fmt.Sprintf("message of type %d", fields[typeField])
	}
	return said
}
