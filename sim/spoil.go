package sim

import (
	"time"

	"recount/election"
)

// Spoil lets one message that is sent from one node to another at a time be lost, or arrive so much later where late is not 0.
// It draws nothing at random, and the message draws what it would, so that all is as before but for it: what comes of that tells
// what the message decided.
func (c *Cluster) Spoil(m Carried, late time.Duration) {
	c.spoiled = &spoiled{from: c.index(m.From), to: c.index(m.To), sent: m.Sent, kind: m.Message.Kind, late: late}
}

// spoiled is the message that is to be lost or late.
type spoiled struct {
	from, to int32
	sent     time.Duration
	kind     string
	late     time.Duration
}

// is reports whether a message is the one.
func (s *spoiled) is(from, to int32, sent time.Duration, m *election.Message) bool {
	return s.from == from && s.to == to && s.sent == sent && s.kind == m.Kind
}
