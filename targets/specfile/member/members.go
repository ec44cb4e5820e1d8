package member

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Who the members are changes by one at a time, as in chapter 4 of Ongaro's thesis, with no log but the last entry: each leader has what
// it found agreed on in its own term before it changes anything, and who has older members than a voter does not get its vote. Who is
// added is another member than the one of that name before it: n3.1.

// What a member can be.
const (
	voter   = "voter"
	learner = "learner" // it is told, and does not vote
)

// members are who they are. What was written in a later term, or later in one, is newer.
type members struct {
	Term    uint64            `json:"term"`
	Version uint64            `json:"version"`
	Are     map[string]string `json:"are"` // voter or learner, by ids
}

func (m members) newer(o members) bool {
	return m.Term > o.Term || m.Term == o.Term && m.Version > o.Version
}

func (m members) same(o members) bool { return m.Term == o.Term && m.Version == o.Version }

func (m members) voters() (ids []string) {
	for id, as := range m.Are {
		if as == voter {
			ids = append(ids, id)
		}
	}
	return ids
}

// but returns all but one, in order.
func (m members) but(id string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.Are)), func(o string) bool { return o == id })
}

// of is the id of the member of a name, and what it is: "" if there is none.
func (m members) of(name string) (id, as string) {
	for id, as := range m.Are {
		if nameOf(id) == name {
			return id, as
		}
	}
	return "", ""
}

func own(name string, joined int) string {
	if joined == 0 {
		return name
	}
	return fmt.Sprintf("%s.%d", name, joined)
}

func nameOf(id string) string {
	name, _, _ := strings.Cut(id, ".")
	return name
}

// take keeps who the members are from now on, if that is news.
func (s *server) take(m members) {
	if s.members.same(m) {
		return
	}
	s.members, s.agreed = m, false
	if err := s.store(); err != nil {
		log.Fatal(err)
	}
}

// lead tells all members that this one leads, and who they are. Who took itself out and has a majority's word for it stops leading.
func (s *server) lead(term uint64) {
	asked, _, yes := s.ask("/beat", term)
	if asked.Are[s.id] == voter {
		yes++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.role == "leader" && s.term == term && s.members.same(asked) && 2*yes > len(asked.voters()) {
		if s.agreed = true; asked.Are[s.id] != voter {
			s.enter(term, s.voted, "follower", "")
		}
	}
}

// list tells whom this member takes for what, by their names.
func (s *server) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := map[string]string{}
	for id, as := range s.members.Are {
		names[nameOf(id)] = as
	}
	if err := json.NewEncoder(w).Encode(names); err != nil {
		log.Print(err)
	}
}

// wish is what somebody wants a member to be.
type wish struct {
	Who    string `json:"who"`
	Joined int    `json:"joined"` // if it has to be added
	As     string `json:"as"`     // voter, learner, or "" to take it out
	Passed bool   `json:"passed"` // from one who does not lead
}

// change has the members agree that one is something else. It answers 409 where nothing was done, and 503 where nobody knows. Who does
// not lead asks the leader.
func (s *server) change(w http.ResponseWriter, r *http.Request) {
	var want wish
	if err := json.NewDecoder(r.Body).Decode(&want); err != nil || s.urls[want.Who] == "" && want.Who != s.name {
		http.Error(w, "who is that?", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	if s.role != "leader" {
		leader := s.urls[s.leader]
		s.mu.Unlock()
		if leader == "" || want.Passed {
			http.Error(w, "no leader", http.StatusConflict)
			return
		}
		want.Passed = true
		s.pass(leader, want, w)
		return
	}
	if !s.agreed {
		s.mu.Unlock()
		http.Error(w, "something else is to be agreed on first", http.StatusConflict)
		return
	}
	id, as := s.members.of(want.Who)
	switch {
	case as == want.As:
		s.mu.Unlock()
		return
	case as == voter && want.As == learner:
		s.mu.Unlock()
		http.Error(w, "it votes, and has to be taken out first", http.StatusBadRequest)
		return
	case id == "":
		id = own(want.Who, want.Joined)
	}
	are := maps.Clone(s.members.Are)
	if are[id] = want.As; want.As == "" {
		delete(are, id)
	}
	asked := members{s.term, s.members.Version + 1, are}
	s.take(asked)
	s.mu.Unlock()
	for range 20 {
		time.Sleep(s.timeout / 10)
		s.mu.Lock()
		agreed, changed := s.agreed, !s.members.same(asked)
		s.mu.Unlock()
		if agreed && !changed {
			return
		}
		if changed {
			break
		}
	}
	http.Error(w, "nobody knows", http.StatusServiceUnavailable)
}

// pass asks another what this member was asked.
func (s *server) pass(to string, want wish, w http.ResponseWriter) {
	text, err := json.Marshal(want)
	if err != nil {
		log.Fatal(err)
	}
	client := http.Client{Timeout: 4 * s.timeout}
	resp, err := client.Post(to+"/members", "application/json", strings.NewReader(string(text)))
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer resp.Body.Close()
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		log.Print(err)
	}
}
