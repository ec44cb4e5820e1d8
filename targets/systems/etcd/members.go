package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"recount/election"
	"recount/targets/systems"
)

// How members of etcd's cluster are changed: by the cluster's API through its JSON gateway, in the order that etcd's makers want. Who
// was taken out never comes back as who it was: https://etcd.io/docs/v3.6/op-guide/runtime-configuration/

// seat is one member as the cluster's list has it.
type seat struct {
	ID       uint64   `json:"ID,string"`
	PeerURLs []string `json:"peerURLs"`
	Learner  bool     `json:"isLearner"`
	Clients  []string `json:"clientURLs"` // none before its server has first joined
}

func (s *seat) membership() election.Membership {
	switch {
	case s == nil:
		return election.Removed
	case s.Learner:
		return election.Learner
	}
	return election.Voter
}

// roll is a list of members.
type roll []seat

// of finds a member by its address; nil where it is none.
func (r roll) of(m election.Member) *seat {
	for i := range r {
		if at(m, r[i]) {
			return &r[i]
		}
	}
	return nil
}

func at(m election.Member, s seat) bool {
	for _, u := range s.PeerURLs {
		if parsed, err := url.Parse(u); err == nil {
			if a, err := netip.ParseAddrPort(parsed.Host); err == nil && a.Addr() == m.Addr {
				return true
			}
		}
	}
	return false
}

// Reconfigure implements election.Reconfigurable.
func (s *system) Reconfigure(ctx context.Context, self election.Member, all []election.Member, who election.ID, as election.Membership, dial election.Dial) error {
	s.meet(all)
	a := systems.NewAsker(dial, ClientPort)
	defer a.Close()
	now, err := s.roll(ctx, a)
	if err != nil {
		return fmt.Errorf("%w: %w", election.ErrRefused, err) // so far it was asked for nothing
	}
	m := all[who-1]
	is := now.of(m)
	switch {
	case as == election.Removed && is != nil:
		_, err = s.change(ctx, a, "remove", fmt.Sprintf(`{"ID":"%d"}`, is.ID))
		return err
	case is == nil && as != election.Removed:
		body := fmt.Sprintf(`{"peerURLs":[%q],"isLearner":%v}`, URL(m.Addr, peerPort), as == election.Learner)
		added, err := s.change(ctx, a, "add", body)
		if err != nil {
			return err
		}
		if is = added.of(m); is == nil {
			return fmt.Errorf("%v was added, and is not in the list", m.ID)
		}
		s.welcome(all, m, is.ID, added)
		return nil
	case is != nil && is.Learner && as == election.Voter:
		_, err = s.change(ctx, a, "promote", fmt.Sprintf(`{"ID":"%d"}`, is.ID))
		return err
	case is.membership() != as:
		return fmt.Errorf("%w: %v is a %v, and has to be taken out first", election.ErrRefused, who, is.membership())
	}
	if is != nil && len(is.Clients) == 0 { // added by a question that nobody knew the answer of
		s.welcome(all, m, is.ID, now)
	}
	return nil
}

// welcome takes note of how a member is started that was added: with a folder of its own, as one of a cluster that is there.
func (s *system) welcome(all []election.Member, m election.Member, raft uint64, now roll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[raft], s.newcomers[m.ID] = m.ID, raft
	s.cluster = initialCluster(all, func(m election.Member) bool { return now.of(m) != nil })
}

// joining is the raft id of a server that was added, and the cluster that it finds; 0 for one that was not.
func (s *system) joining(self election.ID) (raft uint64, cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newcomers[self], s.cluster
}

// raftOf is a member's raft id.
func (s *system) raftOf(m election.Member) uint64 {
	if raft, _ := s.joining(m.ID); raft != 0 {
		return raft
	}
	return raftID(m)
}

// Membership implements election.Reconfigurable, by the list that a server shows its peers: its own, and a learner's, too.
func (s *system) Membership(ctx context.Context, _ election.Member, all []election.Member, who election.ID, dial election.Dial) (election.Membership, error) {
	a := systems.NewAsker(dial, peerPort)
	defer a.Close()
	var own []struct {
		PeerURLs []string `json:"peerURLs"`
		Learner  bool     `json:"isLearner"`
	}
	if err := a.Ask(ctx, "/members", &own); err != nil {
		return 0, err
	}
	var now roll
	for _, m := range own {
		now = append(now, seat{PeerURLs: m.PeerURLs, Learner: m.Learner})
	}
	return now.of(all[who-1]).membership(), nil
}

// roll asks a server for the members that a majority agrees on. Those of 3.4 tell those that they know of themselves, and have to read
// something before that a majority agrees on, to know the same.
func (s *system) roll(ctx context.Context, a *systems.Asker) (roll, error) {
	body := `{"linearizable":true}`
	if strings.HasPrefix(s.options.Value("version"), "3.4.") {
		body = "{}"
		if status, answer, err := a.Post(ctx, "/v3/kv/range", `{"key":"AA=="}`); err != nil || status != http.StatusOK {
			return nil, errors.Join(fmt.Errorf("/v3/kv/range answered %d %q", status, answer), err)
		}
	}
	return s.change(ctx, a, "list", body)
}

// change asks for something of /v3/cluster/member and returns the members that the answer has.
func (s *system) change(ctx context.Context, a *systems.Asker, what, body string) (roll, error) {
	path := "/v3/cluster/member/" + what
	status, answer, err := a.Post(ctx, path, body)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, refused(path, status, answer)
	}
	var told struct {
		Members roll `json:"members"`
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return told.Members, nil
}

// notYet are what etcd says before it does anything, to what it would do a little later; never what it says to all else that
// it does not do.
var (
	notYet = []string{"can only promote a learner member which is in sync", "unhealthy cluster", "not enough started members"}
	never  = []string{"member not found", "Peer URLs already exists", "already exist", "can only promote a learner member", "too many learner members", "not supported"}
)

// refused is what a refusal comes to. Whatever is not known to be said before anything is done may be done yet.
func refused(path string, status int, answer []byte) error {
	why, unknown := refusal(path, status, answer)
	says := func(w string) bool { return strings.Contains(why, w) }
	switch {
	case slices.ContainsFunc(notYet, says):
		return fmt.Errorf("%w: %s", election.ErrNotYet, why)
	case slices.ContainsFunc(never, says):
		return fmt.Errorf("%w: %s", election.ErrRefused, why)
	}
	return unknown
}
