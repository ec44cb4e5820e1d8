// Race is one member of an election that is wrong only when its goroutines go on in another order than they usually do. One
// goroutine owns the vote; requests for it are handled one at a time, under a lock, by goroutines that look whether it is
// still to be had and have the owner give it. With --race, which is the default, the lock is released once the owner was
// told, and not once the vote is given: who is handled next may find it free as well. The owner was woken first, so that
// nobody ever sees it happen, until a processor is busy elsewhere.
//
// A member without --id draws one in each of its lives. With --tell, GET /leader names the leader as such servers do: by its id, but
// for the member itself, which is "self".
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
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

// ballot is what a member may never forget.
type ballot struct {
	Term uint64 `json:"term"`
	Vote string `json:"vote"` // for whom in that term; "" for nobody yet
}

// request is what a candidate and a leader ask others.
type request struct {
	From string `json:"from"`
	Term uint64 `json:"term"`
}

// answer is what they get, and whoever asks for the status.
type answer struct {
	Term   uint64 `json:"term"`
	Role   string `json:"role"`
	Leader string `json:"leader"`
	Yes    bool   `json:"yes"`
}

// vote is what the owner is asked to give.
type vote struct {
	request
	given chan bool
}

type member struct {
	id, file string
	peers    []string // URLs
	timeout  time.Duration
	race     bool
	client   http.Client
	votes    chan vote
	heard    chan struct{} // a leader

	voting sync.Mutex // held by who handles a candidate's request

	mu     sync.Mutex // never held while anything is waited for
	ballot ballot
	role   string
	leader string
	count  int // of votes for this member, in this term

	disk sync.Mutex
	kept ballot // what the file holds
}

func main() {
	var peers, listen string
	m := &member{role: "follower", votes: make(chan vote), heard: make(chan struct{}, 1)}
	flag.StringVar(&m.id, "id", "", "name of this member (default: one that it draws)")
	flag.StringVar(&peers, "peers", "", "URLs of the others, separated by commas")
	flag.StringVar(&listen, "listen", ":8080", "address to listen on")
	flag.StringVar(&m.file, "file", "/data/ballot", "file that holds term and vote")
	flag.DurationVar(&m.timeout, "timeout", time.Second, "silence after which a member campaigns")
	flag.BoolVar(&m.race, "race", true, "handle the next request for a vote before the owner has given the last")
	tell := flag.Bool("tell", false, "answer GET /leader as well")
	flag.Parse()
	if m.id == "" {
		m.id = fmt.Sprintf("%016x", rand.Uint64())
	}
	m.peers = strings.FieldsFunc(peers, func(r rune) bool { return r == ',' })
	m.client.Timeout = m.timeout
	if err := m.load(); err != nil {
		log.Fatal(err)
	}
	go m.own()
	http.HandleFunc("POST /vote", m.onVote)
	http.HandleFunc("POST /beat", m.onBeat)
	http.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { m.reply(w, false) })
	if *tell {
		http.HandleFunc("GET /leader", m.tell)
	}
	log.Fatal(http.ListenAndServe(listen, nil))
}

// onVote answers a candidate.
func (m *member) onVote(w http.ResponseWriter, r *http.Request) {
	q, ok := read(w, r)
	if !ok {
		return
	}
	m.voting.Lock()
	m.mu.Lock()
	if q.Term > m.ballot.Term {
		m.follow(q.Term, "")
	}
	m.mu.Unlock()
	m.keep()
	v := vote{q, make(chan bool, 1)}
	if m.free(q) {
		m.votes <- v
	} else {
		v.given <- false
	}
	var yes bool
	if m.race {
		m.voting.Unlock()
		yes = <-v.given
	} else {
		yes = <-v.given
		m.voting.Unlock()
	}
	m.reply(w, yes)
}

// free tells whether a candidate can have this member's vote.
func (m *member) free(q request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return q.Term == m.ballot.Term && (m.ballot.Vote == "" || m.ballot.Vote == q.From)
}

// own is the goroutine that owns the vote: it gives it to others, or to this member itself when nobody was heard for long.
func (m *member) own() {
	for {
		silence := time.NewTimer(m.timeout + rand.N(m.timeout/50))
		select {
		case v := <-m.votes:
			v.given <- m.give(v.request)
		case <-m.heard:
		case <-silence.C:
			m.campaign()
		}
		silence.Stop()
	}
}

// give gives the vote that was found to be free, if its term has not passed since.
func (m *member) give(q request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if q.Term != m.ballot.Term {
		return false
	}
	m.ballot.Vote = q.From
	return true
}

// onBeat answers a leader.
func (m *member) onBeat(w http.ResponseWriter, r *http.Request) {
	q, ok := read(w, r)
	if !ok {
		return
	}
	m.mu.Lock()
	leads := q.Term >= m.ballot.Term
	if leads {
		m.follow(q.Term, q.From)
	}
	m.mu.Unlock()
	if leads {
		select {
		case m.heard <- struct{}{}:
		default: // the owner is about to hear it
		}
	}
	m.reply(w, leads)
}

// follow goes to a term, or stays in it, as a follower. The lock is held.
func (m *member) follow(term uint64, leader string) {
	if term > m.ballot.Term {
		m.ballot = ballot{Term: term}
	}
	m.role, m.leader = "follower", leader
}

// campaign asks everybody for a vote. Their answers are counted as they come.
func (m *member) campaign() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.role == "leader" {
		return
	}
	m.ballot = ballot{m.ballot.Term + 1, m.id}
	m.role, m.leader, m.count = "candidate", "", 0
	term := m.ballot.Term
	go func() {
		m.keep()
		m.won(term)
		for _, url := range m.peers {
			go func() {
				if a, ok := m.ask(url+"/vote", term); ok && a.Yes {
					m.won(term)
				}
			}()
		}
	}()
}

// won counts a vote in a term, and leads with more than half of all.
func (m *member) won(term uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.role != "candidate" || m.ballot.Term != term {
		return
	}
	if m.count++; 2*m.count > len(m.peers)+1 {
		m.role, m.leader = "leader", m.id
		log.Printf("%s leads in term %d", m.id, term)
		go m.lead(term)
	}
}

// lead lets all others hear of this leader, for as long as it leads.
func (m *member) lead(term uint64) {
	for {
		m.mu.Lock()
		leads := m.role == "leader" && m.ballot.Term == term
		m.mu.Unlock()
		if !leads {
			return
		}
		for _, url := range m.peers {
			go m.ask(url+"/beat", term)
		}
		time.Sleep(m.timeout / 5)
	}
}

// ask asks one of the others. A later term in the answer ends whatever this member is in its own.
func (m *member) ask(url string, term uint64) (a answer, ok bool) {
	text, err := json.Marshal(request{m.id, term})
	if err != nil {
		log.Fatal(err)
	}
	resp, err := m.client.Post(url, "application/json", bytes.NewReader(text))
	if err != nil {
		return a, false
	}
	defer resp.Body.Close()
	if json.NewDecoder(resp.Body).Decode(&a) != nil {
		return a, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.Term > m.ballot.Term {
		m.follow(a.Term, "")
	}
	return a, true
}

func read(w http.ResponseWriter, r *http.Request) (q request, ok bool) {
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return q, false
	}
	return q, true
}

// reply says what this member is, once it cannot forget it.
func (m *member) reply(w http.ResponseWriter, yes bool) {
	m.mu.Lock()
	a := answer{Term: m.ballot.Term, Role: m.role, Leader: m.leader, Yes: yes}
	m.mu.Unlock()
	m.keep()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(a); err != nil {
		log.Print(err)
	}
}

// tell says who leads, in this member's words.
func (m *member) tell(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	told := map[string]any{"me": m.id, "role": m.role, "term": m.ballot.Term, "leader": cmp.Or(m.leader, "nobody")}
	if m.leader == m.id {
		told["leader"] = "self"
	}
	m.mu.Unlock()
	m.keep()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(told); err != nil {
		log.Print(err)
	}
}

// load reads what an earlier life has left. It may be on no disk yet: that life may have ended before it was synced. So it counts as
// not kept.
func (m *member) load() error {
	text, err := os.ReadFile(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &m.ballot); err != nil {
		return fmt.Errorf("%s: %w", m.file, err)
	}
	return nil
}

// keep returns when the file holds this member's ballot, or a later one. A member that cannot keep it must not go on.
func (m *member) keep() {
	m.disk.Lock()
	defer m.disk.Unlock()
	m.mu.Lock()
	now := m.ballot
	m.mu.Unlock()
	if now == m.kept {
		return
	}
	if err := write(m.file, now); err != nil {
		log.Fatal(err)
	}
	m.kept = now
}

// write puts a new file in the place of the old one: a crash leaves either.
func write(file string, b ballot) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	f, err := os.Create(file + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
