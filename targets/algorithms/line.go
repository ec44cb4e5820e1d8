package algorithms

import (
	"slices"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

// What ZooKeeper's recipe and etcd's Election share: candidates stand in line in a store. Each has an entry there that
// lives as long as its session does, numbered in the order of joining; whose is the lowest leads, and everybody else
// watches the entry before its own, so that one departure wakes one candidate and nobody starves. The number of the
// leader's entry is its term, and a fencing token: entries of later leaders have higher ones.
//
// Join opens a session and joins the line, Ping keeps the session alive, Leave ends it; all carry the session in Value.
// Pong answers the first two: Term repeats the session, OK says that it lives, Value is the number of the first entry,
// and Node whose that is, unless an earlier session of the asker left it. Gone tells a candidate that the entry before
// its own is gone.

// entry is one candidate's place in line, and its session.
type entry struct {
	Number  uint64
	Node    election.ID
	Session uint64
	until   time.Duration // the session expires, on the store's clock
}

// lineStore is the store with the line.
type lineStore struct {
	env     election.Env
	timeout time.Duration // of sessions
	sweep   time.Duration // between looks for expired ones; 0 is at once
	record  struct {
		Number uint64 // given to an entry last
		Line   []entry
	}
}

const sweepTime election.Timer = 0

// Start gives all sessions of an earlier life their full time again: how much was left is not on disk.
func (s *lineStore) Start() {
	recall(s.env, &s.record)
	for i := range s.record.Line {
		s.record.Line[i].until = s.env.Now() + s.timeout
	}
	s.plan()
}

// plan sets the time of the next look for expired sessions.
func (s *lineStore) plan() {
	if s.sweep > 0 {
		s.env.SetTimer(sweepTime, s.sweep)
		return
	}
	s.env.StopTimer(sweepTime)
	if len(s.record.Line) > 0 {
		first := slices.MinFunc(s.record.Line, func(a, b entry) int { return int(a.until - b.until) })
		s.env.SetTimer(sweepTime, first.until-s.env.Now())
	}
}

// Expire removes the entries whose sessions have expired.
func (s *lineStore) Expire(election.Timer) {
	now := s.env.Now()
	s.remove(func(e *entry) bool { return e.until <= now })
	s.plan()
}

// Status is hearsay: the store never leads.
func (s *lineStore) Status() election.Status {
	v := election.Status{Term: s.head().Number, Leader: s.head().Node}
	if v.Leader == election.None {
		v.Term = s.record.Number
	}
	return v
}

// head is the first in line.
func (s *lineStore) head() entry {
	if len(s.record.Line) == 0 {
		return entry{}
	}
	return s.record.Line[0]
}

// Receive answers one request.
func (s *lineStore) Receive(from election.ID, m election.Message) {
	own := func(e *entry) bool { return e.Node == from && e.Session == m.Value }
	find := func() int { return slices.IndexFunc(s.record.Line, func(e entry) bool { return own(&e) }) }
	switch {
	case m.Kind == "Leave":
		s.remove(own)
		return
	case m.Kind == "Join" && find() < 0:
		s.record.Number++
		s.record.Line = append(s.record.Line, entry{Number: s.record.Number, Node: from, Session: m.Value})
		keep(s.env, s.record)
	}
	head := s.head()
	pong := election.Message{Kind: "Pong", Term: m.Value, Value: head.Number, Node: head.Node}
	if i := find(); i >= 0 {
		s.record.Line[i].until = s.env.Now() + s.timeout
		if s.sweep == 0 { // else the next look is planned, and must not be put off by every ping
			s.plan()
		}
		pong.OK = true
	}
	if head.Node == from && !own(&head) {
		pong.Node = election.None
	}
	s.env.Send(from, pong)
}

// remove takes entries out of the line, and tells those who watched them.
func (s *lineStore) remove(which func(e *entry) bool) {
	var rest []entry
	var wake []election.ID
	gone := false
	for i := range s.record.Line {
		e := &s.record.Line[i]
		if which(e) {
			gone = true
			continue
		}
		if rest = append(rest, *e); gone {
			wake, gone = append(wake, e.Node), false
		}
	}
	if len(rest) == len(s.record.Line) {
		return
	}
	s.record.Line = rest
	keep(s.env, s.record)
	for _, id := range wake {
		s.env.Send(id, election.Message{Kind: "Gone"})
	}
}

// inLine is a candidate. It leads while its entry is the first, as far as it knows, and it trusts its session to live:
// for a time after the store was last heard, on its own clock.
type inLine struct {
	env election.Env
	leaseClock
	ping  time.Duration // between messages to the store
	trust time.Duration // how long the session is trusted
	check time.Duration // between looks whether it still is; 0 is at every moment
	// rejoin says that a candidate whose session is not trusted any more begins another, and does not wait for the store to
	// tell whether it is over.
	rejoin bool

	session uint64
	joined  bool
	heard   time.Duration // when the store was, with the session alive
	lost    bool          // the last look found the session too old
	leader  election.ID   // who is first in line
	first   uint64        // and the number of that entry
}

const (
	pingTime  election.Timer = iota // the next message to the store
	checkTime                       // to look whether the session is to be trusted
)

// Start begins a session.
func (c *inLine) Start() {
	c.begin()
	if c.check > 0 { // everybody looks at moments of its own
		c.env.SetTimer(checkTime, time.Duration(c.env.Rand().Int64N(int64(c.check))))
	}
}

// begin begins a session, at a random moment, so that candidates do not all join together.
func (c *inLine) begin() {
	c.session, c.joined, c.lost, c.leader = session(c.env), false, false, election.None
	c.env.SetTimer(pingTime, time.Duration(c.env.Rand().Int64N(int64(c.ping))))
}

// trusted reports whether the session is believed to live.
func (c *inLine) trusted() bool {
	if c.check > 0 {
		return c.joined && !c.lost
	}
	return c.joined && c.old() < c.trust
}

// old is the time since the store was heard.
func (c *inLine) old() time.Duration { return c.read() - c.heard }

// Status names the first in line, while the session is trusted.
func (c *inLine) Status() election.Status {
	s := election.Status{Term: c.first}
	if !c.trusted() {
		return s
	}
	if s.Leader = c.leader; c.leader == c.env.ID() {
		s.Role = election.Leader
	}
	return s
}

// Expire sends the next message to the store, or looks at the session.
func (c *inLine) Expire(t election.Timer) {
	if t == pingTime {
		c.send()
		return
	}
	if c.check > 0 {
		c.env.SetTimer(checkTime, c.check)
		c.lost = c.old() >= c.trust
	}
	if c.rejoin && c.joined && !c.trusted() {
		c.begin()
	}
}

func (c *inLine) send() {
	kind := "Join"
	if c.joined {
		kind = "Ping"
	}
	c.env.SetTimer(pingTime, c.ping)
	c.env.Send(storeID, election.Message{Kind: kind, Value: c.session})
}

// Receive handles what the store says.
func (c *inLine) Receive(_ election.ID, m election.Message) {
	switch {
	case m.Kind == "Gone": // look who is first now
		c.send()
		return
	case m.Term != c.session: // to a session that is over
		return
	case m.Value >= c.first:
		c.leader, c.first = m.Node, m.Value
	}
	switch {
	case m.OK:
		c.joined, c.heard, c.lost = true, c.read(), false
		if c.check == 0 {
			c.env.SetTimer(checkTime, c.trust)
		}
	case c.joined: // the session has expired
		c.begin()
	}
}

// Resign leaves the line, and joins it again at its end.
func (c *inLine) Resign() {
	if c.Status().Role == election.Leader {
		c.env.Send(storeID, election.Message{Kind: "Leave", Value: c.session})
		c.begin()
	}
}

// lineBounds are the times of an election by line: a session that expires, and the next ping of everybody.
func lineBounds(timeout, ping, sweep time.Duration) history.Bounds {
	return targets.BoundsOf(timeout+ping+sweep, 2*timeout+3*ping+sweep, ping)
}
