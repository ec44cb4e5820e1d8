package history

import (
	"strconv"

	"recount/election"
)

// How nodes tell who leads.
const (
	Observe  F = "observe"  // client: ask a node for its view; ok carries it
	Announce F = "announce" // ok without an invoke: a node reported a change of its view by itself, at Time or earlier
)

func init() {
	view := &payload{
		append: func(op *Op, b []byte) []byte { return op.View.appendJSON(b) },
		into:   func(op *Op) any { return &op.View },
		scan:   func(s *scanner, op *Op) { s.view(&op.View) },
	}
	register(kind{name: Observe, ofNode: true, value: view, when: whenOK})
	register(kind{name: Announce, alone: happened, ofNode: true, value: view, when: always})
}

// View is what one node says about the election, in one answer.
type View struct {
	Term   uint64 // 0 where the election has no terms
	Leader string // whom the node names as leader; "" when it names nobody
	Tenure uint64 // while this node leads, which of its leaderships this is: a number that no other of them has; 0 where the node tells none
	Role   Role
	Torn   bool // put together from answers read at different times: never evidence against anybody
}

// Role is the part a node says it plays.
type Role uint8

// The roles.
const (
	UnknownRole Role = iota
	Follower
	Candidate
	Leader
	Server // of a service that others elect through: it answers, and has no part in their election
)

// roles translates an algorithm's role.
var roles = [...]Role{
	election.Follower:  Follower,
	election.Candidate: Candidate,
	election.Leader:    Leader,
	election.Unknown:   UnknownRole,
}

// ViewOf is the view that a node tells as its status. It is not torn.
func ViewOf(s election.Status) View {
	return View{Role: roles[s.Role], Term: s.Term, Leader: s.Leader.String(), Tenure: s.Tenure}
}

// Claims reports whether v is a claim: a node saying, in one undivided answer, that it leads.
func (v View) Claims() bool { return v.Role == Leader && !v.Torn }

func (v *View) appendJSON(b []byte) []byte {
	b = append(b, `{"role":"`...)
	b = append(b, v.Role.String()...)
	b = append(b, `","term":`...)
	b = strconv.AppendUint(b, v.Term, 10)
	if v.Leader != "" {
		b = append(b, `,"leader":`...)
		b = appendString(b, v.Leader)
	}
	if v.Tenure != 0 {
		b = append(b, `,"tenure":`...)
		b = strconv.AppendUint(b, v.Tenure, 10)
	}
	if v.Torn {
		b = append(b, `,"torn":true`...)
	}
	return append(b, '}')
}

func (s *scanner) view(v *View) {
	s.skip(`{"role":"`)
	switch {
	case s.at(`follower"`):
		v.Role = Follower
	case s.at(`leader"`):
		v.Role = Leader
	case s.at(`candidate"`):
		v.Role = Candidate
	default:
		s.skip(`unknown"`)
	}
	s.skip(`,"term":`)
	v.Term = s.count()
	if s.at(`,"leader":`) {
		v.Leader = s.text()
	}
	if s.at(`,"tenure":`) {
		v.Tenure = s.count()
	}
	v.Torn = s.at(`,"torn":true`)
	s.skip(`}`)
}
