// Command strangers is a small replicated election that knows nothing of Recount: terms, votes that are kept on disk, a leader that
// steps down when it hears no majority, and members that do not vote. log_lines.yaml and non_voters.yaml describe it, once as
// a server that tells of itself in its log alone, and once as one that can be asked.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// kept is what outlives a member's process.
type kept struct {
	Term  uint64 `json:"term"`
	Voted string `json:"voted"`
}

// member is one member of the cluster. Its fields below mu are guarded by it.
type member struct {
	id      string
	peers   map[string]string // by name, where each of the others listens
	voters  []string
	timeout time.Duration
	file    string

	mu     sync.Mutex
	kept   kept
	role   string
	leader string
	due    time.Time            // a campaign, unless a leader is heard of before
	heard  map[string]time.Time // of a leader: when it last asked what each voter has answered
}

func main() {
	id, listen, data := flag.String("id", "", "own name"), flag.String("listen", ":8080", "address"), flag.String("data", "/data", "folder")
	peers, voters := flag.String("peers", "", "NAME=URL of each other member"), flag.String("voters", "", "who votes; all if empty")
	timeout, mute := flag.Duration("timeout", 500*time.Millisecond, "silence that a follower bears"), flag.Bool("mute", false, "answer no questions")
	flag.Parse()
	m := &member{id: *id, peers: map[string]string{}, timeout: *timeout, file: filepath.Join(*data, "state"), heard: map[string]time.Time{}}
	m.voters = append(m.voters, *id)
	for _, p := range strings.Split(*peers, ",") {
		name, url, _ := strings.Cut(p, "=")
		m.peers[name] = url
		m.voters = append(m.voters, name)
	}
	if *voters != "" {
		m.voters = strings.Split(*voters, ",")
	}
	if b, err := os.ReadFile(m.file); err == nil {
		if err := json.Unmarshal(b, &m.kept); err != nil {
			log.Fatalf("read state: %v", err)
		}
	}
	m.become("follower", "")
	http.HandleFunc("/vote", m.answer(m.vote))
	http.HandleFunc("/beat", m.answer(m.beat))
	if !*mute {
		http.HandleFunc("/status", m.status)
	}
	go m.live()
	log.Fatal(http.ListenAndServe(*listen, nil))
}

// keep writes what must not be forgotten, and ends the process rather than going on without.
func (m *member) keep() {
	b, _ := json.Marshal(m.kept)
	f, err := os.Create(m.file + ".new")
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(m.file+".new", m.file)
	}
	if err == nil {
		var dir *os.File
		if dir, err = os.Open(filepath.Dir(m.file)); err == nil {
			err = dir.Sync()
			dir.Close()
		}
	}
	if err != nil {
		log.Fatalf("keep state: %v", err)
	}
}

// become takes a role in the term that the member is in, and says so.
func (m *member) become(role, leader string) {
	if m.role != role {
		log.Printf("role=%s term=%d", role, m.kept.Term)
	}
	m.role, m.leader = role, leader
	m.due = time.Now().Add(m.timeout + rand.N(m.timeout))
}

// follow joins a later term.
func (m *member) follow(term uint64) {
	m.kept = kept{Term: term}
	m.keep()
	m.role = "" // it is a follower of another term now
	m.become("follower", "")
}

func (m *member) live() {
	for range time.Tick(m.timeout / 10) {
		m.mu.Lock()
		switch {
		case m.role == "leader":
			if m.majority(func(v string) bool { return v == m.id || time.Since(m.heard[v]) < m.timeout }) {
				m.ask("beat")
			} else {
				m.become("follower", "")
			}
		case slices.Contains(m.voters, m.id) && time.Now().After(m.due):
			m.kept = kept{m.kept.Term + 1, m.id}
			m.keep()
			m.become("candidate", "")
			clear(m.heard)
			m.ask("vote")
		}
		m.mu.Unlock()
	}
}

func (m *member) majority(of func(voter string) bool) bool {
	n := 0
	for _, v := range m.voters {
		if of(v) {
			n++
		}
	}
	return 2*n > len(m.voters)
}

// ask sends a question of this term to all others, and takes note of who agrees.
func (m *member) ask(what string) {
	term, began := m.kept.Term, time.Now()
	for name, url := range m.peers {
		if what == "vote" && !slices.Contains(m.voters, name) {
			continue
		}
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), m.timeout/2)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/%s?term=%d&from=%s", url, what, term, m.id), nil)
			if err != nil {
				log.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return
			}
			defer resp.Body.Close()
			var reply struct {
				Term uint64
				Yes  bool
			}
			if json.NewDecoder(resp.Body).Decode(&reply) != nil {
				return
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			switch {
			case reply.Term > m.kept.Term:
				m.follow(reply.Term)
			case term != m.kept.Term || !reply.Yes:
			case m.role == "leader":
				m.heard[name] = began
			case m.role == "candidate" && what == "vote":
				m.heard[name] = began
				if m.majority(func(v string) bool { return v == m.id || !m.heard[v].IsZero() }) {
					m.become("leader", m.id)
				}
			}
		}()
	}
}

// answer serves a question: of which term, and from whom.
func (m *member) answer(agree func(from string) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var term uint64
		_, _ = fmt.Sscan(r.FormValue("term"), &term)
		m.mu.Lock()
		defer m.mu.Unlock()
		if term > m.kept.Term {
			m.follow(term)
		}
		yes := term == m.kept.Term && agree(r.FormValue("from"))
		_ = json.NewEncoder(w).Encode(map[string]any{"Term": m.kept.Term, "Yes": yes})
	}
}

func (m *member) vote(from string) bool {
	if m.kept.Voted != "" && m.kept.Voted != from {
		return false
	}
	m.kept.Voted = from
	m.keep()
	m.become(m.role, m.leader)
	return true
}

func (m *member) beat(from string) bool {
	m.become("follower", from)
	return true
}

func (m *member) status(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]any{"role": m.role, "term": m.kept.Term, "leader": m.leader})
}
