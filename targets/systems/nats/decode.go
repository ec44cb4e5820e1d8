package nats

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"recount/election"
	"recount/targets/systems"
)

// Ports are where servers listen to each other.
func (s *system) Ports() []int { return []int{routePort} }

// Decode reads what servers tell each other over their routes, a protocol of lines of text:
// https://docs.nats.io/reference/reference-protocols/nats-server-protocol
// What raft says goes in messages to subjects of its own, and begins with the term or has it behind the leader's name:
// https://github.com/nats-io/nats-server/blob/main/server/raft.go
func (s *system) Decode(port int) (asked, answered election.Reader) {
	if port != routePort {
		return nil, nil
	}
	return systems.Messages(next), systems.Messages(next)
}

// next reads a line, and the message that it announces.
func next(b []byte) (said []election.Said, n int) {
	line, _, ended := bytes.Cut(b, []byte("\r\n"))
	words := bytes.Fields(line)
	switch {
	case !ended && len(b) <= longestLine:
		return nil, 0
	case !ended, len(words) == 0:
		return nil, -1
	}
	n = len(line) + 2
	kind := verbs[string(bytes.ToUpper(words[0]))]
	switch kind {
	case "":
		return nil, -1
	case message:
	default:
		return []election.Said{{Kind: kind}}, n
	}
	size, err := strconv.ParseUint(string(words[len(words)-1]), 10, 31)
	if err != nil {
		return nil, -1
	}
	body := b[n:]
	if n += int(size) + 2; len(b) < n {
		return nil, 0
	}
	for _, w := range words[1 : len(words)-1] { // the account, if it has no route of its own, and the subject are the first of them
		if raft, is := bytes.CutPrefix(w, []byte("$NRG.")); is {
			return []election.Said{ofRaft(raft, body[:size])}, n
		}
	}
	return []election.Said{{Kind: message}}, n
}

// longestLine is how long a line may be. What servers know of each other comes in one.
const longestLine = 1 << 20

// message is a message that is not raft's.
const message = "message"

// verbs are what lines begin with.
var verbs = map[string]string{
	"INFO": "info", "CONNECT": "connect", "PING": "ping", "PONG": "pong", "+OK": "ok", "-ERR": "error",
	"RS+": "subscribe", "RS-": "unsubscribe", "LS+": "subscribe", "LS-": "unsubscribe", "A+": "account", "A-": "account",
	"RMSG": message, "HMSG": message,
}

// The lengths of raft's messages, by which answers are told apart, and of what comes before the entries of an append.
const (
	voteRequestBytes   = 32
	voteReplyBytes     = 17
	appendReplyBytes   = 25
	beforeEntries      = 40
	leaderName         = 8
	granted, succeeded = 16, 24 // the places of what they say
)

// ofRaft is a message to the subject $NRG.rest.
func ofRaft(rest, body []byte) election.Said {
	term := func(at int) uint64 { return binary.LittleEndian.Uint64(body[at:]) }
	kind, _, _ := bytes.Cut(rest, []byte("."))
	switch kind := string(kind); {
	case kind == "V" && len(body) == voteRequestBytes:
		return election.Said{Kind: "vote request", Term: term(0)}
	case kind == "AE" && len(body) >= beforeEntries+2:
		if binary.LittleEndian.Uint16(body[beforeEntries:]) == 0 {
			return election.Said{Kind: "heartbeat", Term: term(leaderName)}
		}
		return election.Said{Kind: "append", Term: term(leaderName)}
	case kind == "R" && len(body) == voteReplyBytes:
		if body[granted]&1 == 0 {
			return election.Said{Kind: "vote refused", Term: term(0)}
		}
		return election.Said{Kind: "vote granted", Term: term(0)}
	case kind == "R" && len(body) == appendReplyBytes:
		if body[succeeded] == 0 {
			return election.Said{Kind: "append refused", Term: term(0)}
		}
		return election.Said{Kind: "append reply", Term: term(0)}
	case kind == "P":
		return election.Said{Kind: "proposal"}
	case kind == "RP":
		return election.Said{Kind: "remove peer"}
	case kind == "CR":
		return election.Said{Kind: "catch-up"}
	}
	return election.Said{Kind: message}
}
