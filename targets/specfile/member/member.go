// Package member is an election of one's own that is a program: members talk HTTP, keep their votes on disk, and tell at
// /status who leads. Recount knows nothing of it but what election.yaml says.
//
// With --quorum=all a candidate needs the votes of more than half of all members. With --quorum=answering it makes do
// with more than half of those that answer, which sounds reasonable and is wrong: the parts of a cluster elect a leader
// each, in the same term.
package member

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Main runs one member, by its command line, until it fails.
func Main(args []string) error {
	s := &server{heard: time.Now(), role: "follower", urls: map[string]string{}}
	var peers, listen, id string
	var joined int
	var show bool
	flag := flag.NewFlagSet("member", flag.ContinueOnError)
	flag.SetOutput(io.Discard) // the error says it
	flag.StringVar(&id, "id", "", "name of this member")
	flag.IntVar(&joined, "joined", 0, "0 for a member of the beginning, and another number for each of that name that is added later")
	flag.StringVar(&peers, "peers", "", "the other members, name=http://host:port, separated by commas")
	flag.StringVar(&listen, "listen", ":8080", "address to listen on")
	flag.StringVar(&s.data, "data", "/data", "folder that survives a restart")
	flag.StringVar(&s.quorum, "quorum", "all", "whose majority elects: all or answering")
	flag.DurationVar(&s.timeout, "timeout", time.Second, "silence after which a member campaigns, at least; at most twice as long")
	flag.BoolVar(&show, "show", false, "print what the member on this machine says, and end")
	if err := flag.Parse(args); err != nil {
		return err
	}
	if show {
		return printStatus("http://localhost" + listen + "/status")
	}
	s.id, s.name = own(id, joined), id
	first := map[string]string{id: voter}
	for _, p := range strings.Split(peers, ",") {
		if name, url, ok := strings.Cut(p, "="); ok {
			s.urls[name] = url
			first[name] = voter
		}
	}
	if joined == 0 {
		s.members.Are = first
	}
	s.client = http.Client{Timeout: s.timeout / 4}
	if err := s.load(); err != nil {
		return err
	}
	go s.run()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", s.status)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("POST /resign", s.resign)
	mux.HandleFunc("POST /vote", s.vote)
	mux.HandleFunc("POST /beat", s.beat)
	mux.HandleFunc("GET /members", s.list)
	mux.HandleFunc("POST /members", s.change)
	return http.ListenAndServe(listen, mux)
}

type server struct {
	id, data, quorum string
	name             string            // the id, without how often it was added
	urls             map[string]string // of the others, by their names
	timeout          time.Duration
	client           http.Client

	mu     sync.Mutex
	term   uint64
	voted  string // for whom, in this term
	role   string
	leader string
	heard  time.Time // of a leader or a candidate that got the vote

	members members // as this member has it
	agreed  bool    // of a leader: a majority has it so
}

// state is what members tell each other and whoever asks.
type state struct {
	Role   string `json:"role"`
	Term   uint64 `json:"term"`
	Leader string `json:"leader"`
	Yes    bool   `json:"yes"`

	votes bool // who says it
}

// message is what they ask each other.
type message struct {
	From    string  `json:"from"`
	To      string  `json:"to"`
	Term    uint64  `json:"term"`
	Members members `json:"members"`
}

func (s *server) status(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer(w, state{Role: s.role, Term: s.term, Leader: s.leader})
}

// metrics says the same in Prometheus's text format.
func (s *server) metrics(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	leads := 0
	if s.role == "leader" {
		leads = 1
	}
	fmt.Fprintf(w, "# TYPE election_term counter\nelection_term %d\nelection_leads %d\n", s.term, leads)
	if s.leader != "" {
		fmt.Fprintf(w, "election_leader{name=%q} 1\n", s.leader)
	}
}

// printStatus prints what a member answers.
func printStatus(url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}

func answer(w http.ResponseWriter, st state) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(st); err != nil {
		log.Print(err)
	}
}

// enter goes to a term with a vote in it, or none, and keeps both before anybody hears of them.
func (s *server) enter(term uint64, vote, role, leader string) {
	if s.role != role || s.term != term {
		log.Printf("%s becomes %s at term %d", s.id, role, term)
	}
	if term != s.term || vote != s.voted {
		s.term, s.voted = term, vote
		if err := s.store(); err != nil {
			log.Fatal(err) // a member that cannot keep its vote must not give it
		}
	}
	s.role, s.leader = role, leader
}

func (s *server) vote(w http.ResponseWriter, r *http.Request) {
	var m message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.To != s.id || s.members.Are[m.From] != voter && !m.Members.newer(s.members) {
		http.Error(w, "not from or to a member", http.StatusForbidden)
		return
	}
	if m.Term > s.term {
		s.enter(m.Term, "", "follower", "")
	}
	yes := m.Term == s.term && (s.voted == "" || s.voted == m.From) && !s.members.newer(m.Members)
	if yes {
		s.enter(s.term, m.From, s.role, s.leader)
		s.heard = time.Now()
	}
	answer(w, state{Term: s.term, Yes: yes})
}

func (s *server) beat(w http.ResponseWriter, r *http.Request) {
	var m message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.To != s.id {
		http.Error(w, "not to this member", http.StatusForbidden)
		return
	}
	if m.Term > s.term {
		s.enter(m.Term, "", "follower", nameOf(m.From))
	}
	yes := m.Term == s.term && s.role != "leader"
	if yes {
		s.take(m.Members)
		s.enter(s.term, s.voted, "follower", nameOf(m.From))
		s.heard = time.Now()
	}
	answer(w, state{Term: s.term, Yes: yes})
}

// resign has a leader follow, and leave it to the others to campaign first.
func (s *server) resign(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.role != "leader" {
		http.Error(w, "not the leader", http.StatusConflict)
		return
	}
	s.enter(s.term, s.voted, "follower", "")
	s.heard = time.Now().Add(2 * s.timeout)
}

// run is a member's life: lead while leading, or else wait and campaign.
func (s *server) run() {
	for {
		s.mu.Lock()
		role, term := s.role, s.term
		patience := s.timeout + rand.N(s.timeout)
		s.mu.Unlock()
		if role == "leader" {
			s.lead(term)
			time.Sleep(s.timeout / 10)
			continue
		}
		time.Sleep(patience)
		s.mu.Lock()
		silent := s.role != "leader" && time.Since(s.heard) >= s.timeout && s.members.Are[s.id] == voter
		if silent {
			s.enter(s.term+1, s.id, "candidate", "")
			term = s.term
		}
		s.mu.Unlock()
		if silent {
			s.campaign(term)
		}
	}
}

func (s *server) campaign(term uint64) {
	asked, answered, yes := s.ask("/vote", term)
	voters := len(asked.voters())
	if s.quorum == "answering" {
		voters = answered + 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.role == "candidate" && s.term == term && s.members.same(asked) && 2*(yes+1) > voters {
		s.enter(term, s.id, "leader", s.name)
		s.take(members{term, s.members.Version + 1, s.members.Are}) // nothing is changed before this is agreed on
	}
}

// ask asks all other members at once, and counts which voters answered and which said yes. A higher term in an answer ends this one.
func (s *server) ask(path string, term uint64) (asked members, answered, yes int) {
	s.mu.Lock()
	asked = s.members
	s.mu.Unlock()
	states := make(chan *state)
	others := asked.but(s.id)
	for _, id := range others {
		text, err := json.Marshal(message{s.id, id, term, asked})
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			resp, err := s.client.Post(s.urls[nameOf(id)]+path, "application/json", strings.NewReader(string(text)))
			if err != nil {
				states <- nil
				return
			}
			defer resp.Body.Close()
			var st state
			if resp.StatusCode != http.StatusOK || json.NewDecoder(resp.Body).Decode(&st) != nil {
				states <- nil
				return
			}
			st.votes = asked.Are[id] == voter
			states <- &st
		}()
	}
	for range others {
		st := <-states
		if st == nil {
			continue
		}
		if st.votes {
			answered++
			if st.Yes {
				yes++
			}
		}
		s.mu.Lock()
		if st.Term > s.term {
			s.enter(st.Term, "", "follower", "")
		}
		s.mu.Unlock()
	}
	return asked, answered, yes
}

func (s *server) file() string { return filepath.Join(s.data, "vote") }

func (s *server) load() error {
	if err := os.MkdirAll(s.data, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var are string
	if _, err = fmt.Sscanf(string(text), "%d %q %q", &s.term, &s.voted, &are); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(are), &s.members); err != nil {
		return err
	}
	return s.store() // the process before may have ended between the renaming of the file and its sync
}

// store writes a new file and puts it in the place of the old one: a crash leaves either, and once it returns the new one.
func (s *server) store() error {
	f, err := os.Create(s.file() + ".new")
	if err != nil {
		return err
	}
	are, err := json.Marshal(s.members)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d %q %q\n", s.term, s.voted, are)
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), s.file()); err != nil {
		return err
	}
	dir, err := os.Open(s.data)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
