package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"recount/election"
)

// Members changes the members of a cluster of mains of ours. Who is added is another member than all before it of that name: it has a
// number that none of them had, which is 0 for those of the beginning, and starts with a folder of its own.
//
// A main answers POST /members, with ?who= and what the member is called by its number here, &as= voter, learner or removed, and
// &number= for the case that it has to be added. It answers 200 and {"number": N} when the cluster has committed that it is so, N being
// the number of who is a member now; 409 when it certainly is not, and may be a little later; 400 when it refuses; and anything else
// when it cannot tell. GET /members answers with a list of Seat: whom the member itself takes for what.
type Members struct {
	mu     sync.Mutex
	number map[election.ID]int  // the last that was given away
	spent  map[election.ID]bool // somebody of that name was asked to be taken out since
	seats  map[election.ID]Seat // of those that were added and are to be started as such, the latest of that name
}

// Seat is what a member is called, and is to the cluster.
type Seat struct {
	Who    election.ID `json:"who"`
	Number int         `json:"number"`
	As     string      `json:"as"` // voter, learner
}

// Reconfigure implements election.Reconfigurable.
func (s *Members) Reconfigure(ctx context.Context, _ election.Member, _ []election.Member, who election.ID, as election.Membership, dial election.Dial) error {
	number := s.next(who, as)
	path := fmt.Sprintf("/members?who=%d&as=%s&number=%d", uint64(who), as, number)
	answer, err := post(ctx, dial, StatusPort, path, election.ErrNotYet)
	if err != nil {
		return err
	}
	var is struct {
		Number int `json:"number"`
	}
	if err := json.Unmarshal(answer, &is); err != nil {
		return fmt.Errorf("/members: %w", err)
	}
	s.welcome(Seat{who, is.Number, as.String()})
	return nil
}

// next is the number of who is added: one that no member of that name ever had, and the same until one was to be taken out. It is 0
// where nobody is added.
func (s *Members) next(who election.ID, as election.Membership) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.number == nil {
		s.number, s.spent, s.seats = map[election.ID]int{}, map[election.ID]bool{}, map[election.ID]Seat{}
	}
	if as == election.Removed {
		s.spent[who] = true
		return 0
	}
	if s.spent[who] || s.number[who] == 0 {
		s.number[who]++
		s.spent[who] = false
	}
	return s.number[who]
}

// welcome takes note of how a member is started, if it is a new one. What it was added as it stays, to itself: its log tells the rest.
func (s *Members) welcome(is Seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is.As != election.Removed.String() && is.Number > s.seats[is.Who].Number {
		s.seats[is.Who] = is
	}
}

// Joining are the flags of a member that was added: --number=N and --join=voter or learner; none of one of the beginning.
func (s *Members) Joining(self election.ID) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is, added := s.seats[self]; added {
		return []string{"--number=" + strconv.Itoa(is.Number), "--join=" + is.As}
	}
	return nil
}

// Membership implements election.Reconfigurable.
func (s *Members) Membership(ctx context.Context, _ election.Member, _ []election.Member, who election.ID, dial election.Dial) (election.Membership, error) {
	a := NewAsker(dial, StatusPort)
	defer a.Close()
	var all []Seat
	if err := a.Ask(ctx, "/members", &all); err != nil {
		return 0, err
	}
	for _, is := range all {
		if is.Who == who {
			return map[string]election.Membership{"voter": election.Voter, "learner": election.Learner}[is.As], nil
		}
	}
	return election.Removed, nil
}
