package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"recount/election"
	"recount/targets/systems"
)

// How a leader of etcd is asked to hand over: by MoveLeader of its maintenance API, through its JSON gateway.

// HandOver implements election.Abdicator.
func (s *system) HandOver() election.HandOver { return s.handOver }

// progress is what raft's status of a leader tells of the others, by their raft ids.
type progress struct {
	raftStatus
	Progress map[string]struct {
		Match uint64 `json:"match"`
		State string `json:"state"`
	} `json:"progress"`
	Transferee string `json:"leadtransferee"` // that it hands over to just now; "0" for none
}

// handOver has the leader move the leadership to the member that has most of its log, if not to heir. The answer comes when the
// heir leads. Until then raft's status names the heir, for one election timeout at most; so after half of one, that is asked.
func (s *system) handOver(ctx context.Context, self election.Member, all []election.Member, heir election.ID, dial election.Dial) error {
	s.meet(all)
	a := systems.NewAsker(dial, ClientPort)
	defer a.Close()
	before, err := s.progress(ctx, a)
	if err != nil {
		return fmt.Errorf("%w: it was not asked: %w", election.ErrRefused, err)
	}
	if before.RaftState != "StateLeader" {
		return election.ErrNotLeader
	}
	target := s.raftOf(all[max(heir, 1)-1])
	if heir == election.None {
		if target = before.foremost(s.votes); target == 0 {
			return fmt.Errorf("%w: it has nobody to hand over to", election.ErrRefused)
		}
	}
	within, cancel := context.WithTimeout(ctx, s.options.Duration("election-timeout")/2)
	defer cancel()
	status, answer, err := a.Post(within, "/v3/maintenance/transfer-leadership", fmt.Sprintf(`{"targetID":"%d"}`, target))
	switch {
	case err == nil:
		return moved(status, answer)
	case within.Err() == nil || ctx.Err() != nil:
		return err
	}
	now, err := s.progress(ctx, a)
	switch {
	case err != nil:
		return err
	case now.Term == before.Term && now.Transferee == strconv.FormatUint(target, 16):
		return nil
	}
	return errors.New("it gave no answer within half an election timeout")
}

func (s *system) progress(ctx context.Context, a *systems.Asker) (progress, error) {
	var vars struct {
		Raft progress `json:"raft.status"`
	}
	err := a.Ask(ctx, "/debug/vars", &vars)
	return vars.Raft, err
}

// votes reports whether a member, by its raft id, is none of those that are there to learn.
func (s *system) votes(raft uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return systems.Votes(s.options, s.ids[raft])
}

// foremost is the voter that the leader replicates to and that has most of its log; 0 if there is none.
func (p progress) foremost(votes func(raft uint64) bool) (id uint64) {
	most := uint64(0)
	var others []uint64
	for raft := range p.Progress {
		if n, err := strconv.ParseUint(raft, 16, 64); err == nil && raft != p.ID && votes(n) {
			others = append(others, n)
		}
	}
	slices.Sort(others) // so that the same is chosen each time
	for _, n := range others {
		if of := p.Progress[strconv.FormatUint(n, 16)]; strings.HasSuffix(of.State, "Replicate") && (id == 0 || of.Match > most) {
			id, most = n, of.Match
		}
	}
	return id
}

// moved is what the gateway's answer says: it refuses before it does anything if the server does not lead or knows no such member;
// that it waited in vain it says when raft was asked.
func moved(status int, answer []byte) error {
	if status == http.StatusOK {
		return nil
	}
	why, unknown := refusal("transfer-leadership", status, answer)
	switch {
	case strings.Contains(why, "not leader"):
		return election.ErrNotLeader
	case strings.Contains(why, "bad leader transferee"):
		return fmt.Errorf("%w: %s", election.ErrRefused, why)
	case strings.Contains(why, "leader transfer"): // request timed out, leader transfer took too long
		return nil
	default:
		return unknown
	}
}
