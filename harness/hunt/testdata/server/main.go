// Server is one member of an election over TCP, as somebody may have written it who knows nothing of Recount: Raft's terms and votes, and
// with --leases pre-votes and a lease by which the leader leads. It is right, save for one mistake that --bug plants; each is one that
// implementations have made.
//
//	late-vote      a vote of an earlier term counts
//	twice          a voter that is asked twice is counted twice
//	vote-lost      the vote is not kept, only the term
//	answer-first   the vote is kept after it was given
//	race           the vote is looked at, kept, and only then given, without a lock in between
//	race-beat      the term is kept and set without a lock in between
//	no-step-down   a candidate that votes for another in a later term goes on as one in that term
//	lease-receipt  the lease counts from when the answer is there
//	late-ack       answers of an earlier leadership count for the lease
//	pledge         who starts votes at once, though a leader may hold a lease that counts on it
//	leads-on       a leader that nobody answers goes on to lead
//	non-sticky     who campaigns asks nobody first, and everybody answers
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

type message struct {
	Kind string        `json:"kind"` // prevote, preyes, vote, yes, beat, ack
	From string        `json:"from"`
	Term uint64        `json:"term"` // of the sender
	For  uint64        `json:"for"`  // the term that a prevote or its answer is about
	Seq  uint64        `json:"seq"`  // of a beat and its ack
	Sent time.Duration `json:"sent"` // when the beat was sent, by its sender's clock; the ack repeats it
}

type kept struct {
	Term uint64 `json:"term"`
	Vote string `json:"vote"`
}

type peer struct {
	name, addr string
	out        chan message
}

type member struct {
	id, file, bug string
	leases        bool
	timeout       time.Duration
	peers         []*peer
	start         time.Time

	mu     sync.Mutex
	kept          // term and vote, on disk
	role   string // follower, pre, candidate, leader
	leader string
	votes  map[string]bool
	count  int
	heard  time.Duration            // from a leader, last
	due    time.Duration            // of the next campaign
	asked  time.Duration            // when this campaign began
	acked  map[string]time.Duration // when the latest beat was sent that each has acknowledged
	won    time.Duration            // when this leadership began
	seq    uint64

	disk sync.Mutex
}

func main() {
	m := &member{role: "follower", votes: map[string]bool{}, acked: map[string]time.Duration{}, start: time.Now()}
	var peers, listen, status string
	flag.StringVar(&m.id, "id", "", "name")
	flag.StringVar(&peers, "peers", "", "name=addr of the others, by commas")
	flag.StringVar(&listen, "listen", ":7000", "for members")
	flag.StringVar(&status, "status", ":8080", "for HTTP")
	flag.StringVar(&m.file, "file", "/data/state", "where term and vote are kept")
	flag.DurationVar(&m.timeout, "timeout", 500*time.Millisecond, "silence before a campaign, at least")
	flag.BoolVar(&m.leases, "leases", true, "whether a leader leads by a lease")
	flag.StringVar(&m.bug, "bug", "none", "the mistake")
	flag.Parse()
	for _, p := range strings.FieldsFunc(peers, func(r rune) bool { return r == ',' }) {
		name, addr, _ := strings.Cut(p, "=")
		m.peers = append(m.peers, &peer{name, addr, make(chan message, 64)})
	}
	if err := m.load(); err != nil {
		log.Fatal(err)
	}
	// Who has started may have promised a leader not to vote for another while its lease lasts.
	if m.heard = m.now(); m.bug == "pledge" || !m.leases {
		m.heard = -time.Hour
	}
	m.wait()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		log.Fatal(err)
	}
	go m.accept(l)
	for _, p := range m.peers {
		go p.send()
	}
	go m.tick()
	http.HandleFunc("GET /status", m.status)
	log.Fatal(http.ListenAndServe(status, nil))
}

func (m *member) is(bug string) bool { return m.bug == bug }
func (m *member) now() time.Duration { return time.Since(m.start) + time.Hour }
func (m *member) majority() int      { return (len(m.peers)+1)/2 + 1 }
func (m *member) lease() time.Duration {
	return m.timeout * 3 / 4
}

// wait draws when to campaign unless something is heard. The lock is held.
func (m *member) wait() { m.due = m.now() + m.timeout + rand.N(m.timeout) }

func (m *member) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go m.read(c)
	}
}

func (m *member) read(c net.Conn) {
	defer c.Close()
	in := json.NewDecoder(bufio.NewReader(c))
	for {
		var q message
		if in.Decode(&q) != nil {
			return
		}
		m.handle(q)
	}
}

// send delivers what is in the box, over one connection at a time. What cannot be sent is lost.
func (p *peer) send() {
	var c net.Conn
	for q := range p.out {
		if c == nil {
			var err error
			if c, err = net.DialTimeout("tcp", p.addr, time.Second); err != nil {
				c = nil
				continue
			}
		}
		c.SetWriteDeadline(time.Now().Add(time.Second))
		if json.NewEncoder(c).Encode(q) != nil {
			c.Close()
			c = nil
		}
	}
}

func (m *member) to(name string, q message) {
	q.From = m.id
	for _, p := range m.peers {
		if p.name == name || name == "" {
			select {
			case p.out <- q:
			default:
			}
		}
	}
}

// tick does what is due.
func (m *member) tick() {
	for range time.Tick(m.timeout / 10) {
		m.mu.Lock()
		now := m.now()
		switch {
		case m.role == "leader":
			if !m.is("leads-on") && now > max(m.leased(), m.won)+m.timeout {
				log.Printf("%s steps down in term %d", m.id, m.Term)
				m.follow("")
				break
			}
			m.seq++
			m.to("", message{Kind: "beat", Term: m.Term, Seq: m.seq, Sent: now})
		case now > m.due && (m.is("non-sticky") || !m.leases):
			m.wait()
			m.campaign()
		case now > m.due:
			m.wait()
			m.role, m.leader, m.asked = "pre", "", now
			m.votes = map[string]bool{m.id: true}
			m.to("", message{Kind: "prevote", Term: m.Term, For: m.Term + 1})
		case m.role == "candidate":
			m.to("", message{Kind: "vote", Term: m.Term})
		}
		m.mu.Unlock()
	}
}

// leased is the time of the latest beat that a majority has acknowledged. The lock is held.
func (m *member) leased() time.Duration {
	var times []time.Duration
	for _, p := range m.peers {
		times = append(times, m.acked[p.name])
	}
	for i := range times { // the latest first
		for j := range i {
			if times[j] < times[i] {
				times[i], times[j] = times[j], times[i]
			}
		}
	}
	return times[m.majority()-2]
}

// campaign asks for votes. The lock is held.
func (m *member) campaign() {
	m.Term, m.Vote = m.Term+1, m.id
	m.role, m.leader, m.asked = "candidate", "", m.now()
	m.votes, m.count = map[string]bool{m.id: true}, 1
	m.save()
	log.Printf("%s campaigns in term %d", m.id, m.Term)
	m.to("", message{Kind: "vote", Term: m.Term})
}

// follow makes a follower. The lock is held.
func (m *member) follow(leader string) { m.role, m.leader = "follower", leader }

// rise goes to a later term. The lock is held.
func (m *member) rise(term uint64, kind string) {
	m.Term, m.Vote = term, ""
	if m.role != "candidate" || !m.is("no-step-down") || kind != "vote" {
		m.follow("")
	}
}

// loyal tells whether a leader may still hold a lease that counts on this member. The lock is held.
func (m *member) loyal() bool {
	return !m.is("non-sticky") && m.leases && (m.now() < m.heard+m.timeout || m.role == "leader" && m.now() < max(m.leased(), m.won)+m.timeout)
}

func (m *member) handle(q message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch q.Kind {
	case "prevote":
		if !m.loyal() && q.For > m.Term {
			m.to(q.From, message{Kind: "preyes", Term: m.Term, For: q.For})
		} else if m.Term > q.Term {
			m.to(q.From, message{Kind: "no", Term: m.Term})
		}
		return
	case "vote":
		if m.loyal() {
			return
		}
	}
	if q.Term > m.Term && q.Kind != "preyes" {
		if m.rise(q.Term, q.Kind); q.Kind != "vote" {
			m.save()
		}
	}
	switch q.Kind {
	case "preyes":
		if m.role == "pre" && q.For == m.Term+1 {
			if m.votes[q.From] = true; len(m.votes) >= m.majority() {
				m.campaign()
			}
		}
	case "vote":
		m.vote(q)
	case "yes":
		m.yes(q)
	case "beat":
		m.beat(q)
	case "ack":
		if q.Term == m.Term && m.role == "leader" || m.is("late-ack") && m.role == "leader" {
			at := q.Sent
			if m.is("lease-receipt") {
				at = m.now()
			}
			if m.is("late-ack") && q.Seq <= m.seq {
				at = max(at, m.now()-time.Duration(m.seq-q.Seq)*m.timeout/10)
			}
			m.acked[q.From] = max(m.acked[q.From], at)
		}
	}
}

// vote answers a candidate. The lock is held.
func (m *member) vote(q message) {
	if q.Term < m.Term {
		m.to(q.From, message{Kind: "no", Term: m.Term})
		return
	}
	if m.Vote != "" && m.Vote != q.From || m.role == "leader" {
		m.save()
		return
	}
	switch {
	case m.is("vote-lost"):
		m.save()
		m.Vote = q.From
	case m.is("answer-first"):
		m.to(q.From, message{Kind: "yes", Term: m.Term})
		m.Vote = q.From
		m.wait()
		m.mu.Unlock()
		time.Sleep(time.Millisecond)
		m.mu.Lock()
		m.save()
		return
	case m.is("race"):
		m.mu.Unlock()
		m.write(kept{q.Term, q.From})
		m.mu.Lock()
		if q.Term != m.Term {
			return
		}
		m.Vote = q.From
	default:
		m.Vote = q.From
		m.save()
	}
	m.wait()
	m.to(q.From, message{Kind: "yes", Term: m.Term})
}

// yes counts a vote. The lock is held.
func (m *member) yes(q message) {
	if m.role != "candidate" || q.Term != m.Term && !m.is("late-vote") {
		return
	}
	m.votes[q.From] = true
	m.count++
	if n := len(m.votes); n >= m.majority() || m.is("twice") && m.count >= m.majority() {
		m.role, m.leader, m.seq, m.won = "leader", m.id, 0, m.now()
		m.acked = map[string]time.Duration{}
		log.Printf("%s leads in term %d", m.id, m.Term)
		m.seq++
		m.to("", message{Kind: "beat", Term: m.Term, Seq: m.seq, Sent: m.now()})
	}
}

// beat answers a leader. The lock is held.
func (m *member) beat(q message) {
	if q.Term < m.Term {
		m.to(q.From, message{Kind: "no", Term: m.Term})
		return
	}
	if m.is("race-beat") && m.leader != q.From {
		m.mu.Unlock()
		m.write(kept{q.Term, ""})
		m.mu.Lock()
		m.Term = q.Term
	}
	if m.role != "leader" {
		m.follow(q.From)
	}
	m.heard = m.now()
	m.wait()
	m.to(q.From, message{Kind: "ack", Term: m.Term, Seq: q.Seq, Sent: q.Sent})
}

func (m *member) status(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	role, leader := m.role, m.leader
	if role == "pre" {
		role = "candidate"
	}
	if role == "leader" && m.leases && !m.is("leads-on") && m.now() > m.leased()+m.lease() {
		role, leader = "follower", ""
	}
	json.NewEncoder(w).Encode(map[string]any{"role": role, "term": m.Term, "leader": leader})
}

func (m *member) load() error {
	text, err := os.ReadFile(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &m.kept); err != nil {
		return err
	}
	m.save() // a rename that was not synced before the process ended may yet be lost
	return nil
}

// save keeps term and vote. The lock is held.
func (m *member) save() { m.write(m.kept) }

func (m *member) write(k kept) {
	m.disk.Lock()
	defer m.disk.Unlock()
	text, _ := json.Marshal(k)
	f, err := os.Create(m.file + ".new")
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Sync(), f.Close(), os.Rename(m.file+".new", m.file))
	}
	if err == nil {
		f, err = os.Open(filepath.Dir(m.file))
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}
