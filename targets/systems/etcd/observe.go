package etcd

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"recount/election"
	"recount/targets/systems"
)

// What etcd's servers say about their election, in answers and in logs.

// raftID is the raft id that etcd gives to a first member of a cluster: a hash of its peer URL and the cluster's token.
func raftID(m election.Member) uint64 {
	sum := sha1.Sum([]byte(URL(m.Addr, peerPort) + clusterToken))
	return binary.BigEndian.Uint64(sum[:8])
}

func (s *system) meet(all []election.Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range all {
		s.ids[raftID(m)] = m.ID
	}
}

// who returns the member of that raft id, in hexadecimal; None for 0.
func (s *system) who(raft string) (election.ID, error) {
	id, err := strconv.ParseUint(raft, 16, 64)
	if err != nil {
		return election.None, fmt.Errorf("raft id %q is no hexadecimal number", raft)
	}
	if id == 0 {
		return election.None, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.ids[id]
	if !ok {
		return election.None, fmt.Errorf("raft id %q is none of the members'", raft)
	}
	return m, nil
}

// Observer asks a server for its raft status.
func (s *system) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	s.meet(all)
	return &observer{Asker: systems.NewAsker(dial, ClientPort), system: s, self: self}
}

type observer struct {
	*systems.Asker
	system *system
	self   election.Member
}

// raftStatus is the part of raft's status that tells of the election.
type raftStatus struct {
	ID        string `json:"id"`
	Term      uint64 `json:"term"`
	Lead      string `json:"lead"`
	RaftState string `json:"raftState"`
}

// Observe reads raft.status from the server's published variables. The goroutine that runs raft makes it in one go, so
// its parts belong together; those of the maintenance API's status do not, and lag.
//
// A server answers from the time when it has joined the others: one that starts without a majority in reach leaves the
// question open until ctx ends. Its log speaks from the start.
func (o *observer) Observe(ctx context.Context) (election.Status, bool, error) {
	status, err := o.observe(ctx)
	if err != nil {
		return election.Status{}, false, fmt.Errorf("etcd: observe %s: %w", o.self.Name, err)
	}
	return status, false, nil
}

func (o *observer) observe(ctx context.Context) (election.Status, error) {
	vars, err := o.Get(ctx, "/debug/vars")
	if err != nil {
		return election.Status{}, err
	}
	raft, err := statusIn(vars)
	switch {
	case err != nil:
		return election.Status{}, fmt.Errorf("/debug/vars: %w", err)
	case raft == nil:
		return election.Status{}, errors.New("raft has not started")
	}
	return o.system.status(o.self.ID, *raft)
}

// statusIn finds raft's status among a server's variables; nil where there is none yet. It does not read the others, which are nine
// tenths of what a server says: within a text of JSON those quotes would be escaped.
func statusIn(vars []byte) (*raftStatus, error) {
	const name = `"raft.status":`
	if at := bytes.LastIndex(vars, []byte(name)); at >= 0 { // it is near the end: they are sorted
		var one *raftStatus
		if json.NewDecoder(bytes.NewReader(vars[at+len(name):])).Decode(&one) == nil {
			return one, nil
		}
	}
	var all struct { // which says what is wrong
		Raft *raftStatus `json:"raft.status"`
	}
	err := json.Unmarshal(vars, &all)
	return all.Raft, err
}

var roles = map[string]election.Role{
	"StateFollower":     election.Follower,
	"StatePreCandidate": election.Candidate,
	"StateCandidate":    election.Candidate,
	"StateLeader":       election.Leader,
}

// status is what self's raft status says, once it is seen to be self's.
func (s *system) status(self election.ID, r raftStatus) (election.Status, error) {
	role, ok := roles[r.RaftState]
	if !ok {
		return election.Status{}, fmt.Errorf("raft state %q is none of those known", r.RaftState)
	}
	id, err := s.who(r.ID)
	if err != nil {
		return election.Status{}, err
	}
	if id != self {
		return election.Status{}, fmt.Errorf("the answer is that of raft id %q", r.ID)
	}
	leader, err := s.who(r.Lead)
	return election.Status{Role: role, Term: r.Term, Leader: leader}, err
}

// logLine is a message of raft's that tells of a new role, or of a new leader of a follower. The goroutine that runs
// raft logs it, with the term of that moment.
var logLine = regexp.MustCompile(`^(?:raft\.node: )?([0-9a-f]+) (?:became (follower|pre-candidate|candidate|leader)|` +
	`(?:elected leader|changed leader from [0-9a-f]+ to) ([0-9a-f]+)) at term ([0-9]+)$`)

// ReadLog reads raft's lines. A follower tells that it is one before it tells whom it follows; what a leader says about
// its own election after that it became leader is nothing new.
func (s *system) ReadLog(self election.ID, line string) (election.Status, bool) {
	if !strings.Contains(line, " at term ") {
		return election.Status{}, false
	}
	var entry struct {
		Msg string `json:"msg"`
	}
	if json.Unmarshal([]byte(line), &entry) != nil {
		return election.Status{}, false
	}
	m := logLine.FindStringSubmatch(entry.Msg)
	if m == nil {
		return election.Status{}, false
	}
	id, err := s.who(m[1])
	if err != nil || id != self {
		return election.Status{}, false
	}
	term, err := strconv.ParseUint(m[4], 10, 64)
	if err != nil {
		return election.Status{}, false
	}
	switch m[2] {
	case "follower":
		return election.Status{Role: election.Follower, Term: term}, true
	case "leader":
		return election.Status{Role: election.Leader, Term: term, Leader: self}, true
	case "candidate", "pre-candidate":
		return election.Status{Role: election.Candidate, Term: term}, true
	}
	leader, err := s.who(m[3])
	if err != nil || leader == self {
		return election.Status{}, false
	}
	return election.Status{Role: election.Follower, Term: term, Leader: leader}, true
}
