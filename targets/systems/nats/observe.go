package nats

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"recount/election"
	"recount/targets/systems"
)

// What NATS servers say about the leader of their meta group.

// raftID is what a server is called in raft: a hash of its name, in letters and digits (getHash in server/events.go).
func raftID(m election.Member) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(m.ID.String()))
	id := make([]byte, 8)
	for i := range id {
		id[i] = digits[int(sum[i])%len(digits)]
	}
	return string(id)
}

func (s *system) meet(all []election.Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range all {
		s.ids[raftID(m)] = m.ID
	}
}

// who returns the member of that raft id; None for "".
func (s *system) who(raft string) (election.ID, error) {
	if raft == "" {
		return election.None, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.ids[raft]
	if !ok {
		return election.None, fmt.Errorf("raft id %q is none of the members'", raft)
	}
	return m, nil
}

// Observer asks a server for the state of its meta group.
func (s *system) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	s.meet(all)
	return &observer{system: s, self: self, Asker: systems.NewAsker(dial, monitorPort)}
}

type observer struct {
	*systems.Asker
	system *system
	self   election.Member
}

// group is the part of a raft group's state that tells of the election.
type group struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Leader string `json:"leader"`
	Term   uint64 `json:"term"`
	Vote   string `json:"voted_for"`
}

// Observe reads the meta group's state. /raftz, which there is since 2.10, puts it together under the lock of the group.
// 2.9 has /jsz, which names the leader and tells no term: a server that names itself claims to lead.
func (o *observer) Observe(ctx context.Context) (s election.Status, torn bool, err error) {
	if strings.HasPrefix(o.system.version, "2.9.") {
		s, err = o.jsz(ctx)
	} else {
		s, torn, err = o.raftz(ctx)
	}
	if err != nil {
		return election.Status{}, false, fmt.Errorf("nats: observe %v: %w", o.self.ID, err)
	}
	return s, torn, nil
}

func (o *observer) raftz(ctx context.Context) (election.Status, bool, error) {
	var accounts map[string]map[string]group
	if err := o.Ask(ctx, "/raftz?acc=$SYS&group=_meta_", &accounts); err != nil {
		return election.Status{}, false, err
	}
	g, ok := accounts["$SYS"]["_meta_"]
	if !ok {
		return election.Status{}, false, errors.New("the meta group has not started")
	}
	return o.system.status(o.self, g)
}

var roles = map[string]election.Role{
	"FOLLOWER": election.Follower, "CANDIDATE": election.Candidate, "LEADER": election.Leader,
}

// status is what self's group state says, once it is seen to be self's.
//
// In 2.10.20 and before, a leader that learns of a higher term takes the term at once and steps down a little later. In between
// it is a leader in a term that it did not win. Whoever has won a term has voted for itself in it, so a leader that has
// not is torn between two.
func (s *system) status(self election.Member, g group) (election.Status, bool, error) {
	role, ok := roles[g.State]
	if !ok {
		return election.Status{}, false, fmt.Errorf("raft state %q is none of those known", g.State)
	}
	if g.ID != raftID(self) {
		return election.Status{}, false, fmt.Errorf("the answer is that of raft id %q", g.ID)
	}
	leader, err := s.who(g.Leader)
	torn := role == election.Leader && g.Vote != g.ID
	return election.Status{Role: role, Term: g.Term, Leader: leader}, torn, err
}

func (o *observer) jsz(ctx context.Context) (election.Status, error) {
	var answer struct {
		Meta *struct {
			Leader string `json:"leader"`
		} `json:"meta_cluster"`
	}
	if err := o.Ask(ctx, "/jsz", &answer); err != nil {
		return election.Status{}, err
	}
	if answer.Meta == nil {
		return election.Status{}, errors.New("the meta group has not started")
	}
	switch leader := answer.Meta.Leader; {
	case leader == "":
		return election.Status{}, nil
	case leader == o.self.ID.String():
		return election.Status{Role: election.Leader, Leader: o.self.ID}, nil
	default:
		return election.Status{Leader: systems.MemberNamed(leader)}, nil
	}
}
