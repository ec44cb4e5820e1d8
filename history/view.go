package history

import "recount/election"

// View is what one node says about the election, in one answer.
type View struct {
	Term   uint64 // 0 where the election has no terms
	Leader string // whom the node names as leader; "" when it names nobody
	Tenure uint64 // counts this node's leaderships from 1, while it leads; 0 where the node does not count
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

// ViewOf is the view that a node tells as its status. It counts no tenures, and is not torn.
func ViewOf(s election.Status) View {
	return View{Role: roles[s.Role], Term: s.Term, Leader: s.Leader.String()}
}

// Claims reports whether v is a claim: a node saying, in one undivided answer, that it leads.
func (v View) Claims() bool { return v.Role == Leader && !v.Torn }
