package algorithms

import (
	"encoding/binary"
	"fmt"
	"slices"

	"recount/election"
)

// What raft has of section 5.3 and 5.4: a log that the leader replicates, here of writes to one register, and the rule that
// only who has all that is committed can be elected. Without clients the log is empty, AppendEntries are heartbeats, and
// any candidate is as good as any other.
//
// AppendEntries has the index of the entry before its own in Value, and the rest in Data; that is empty while there is
// nothing to tell. The answer has in Value the last entry known to match, or when refused a guess of it, and in Data the
// round of the request. RequestVote and PreVote have the index of the last entry in Value and its term in Data.

// logEntry is one entry: a write, or the blank one that a leader begins with (section 8).
type logEntry struct {
	term  uint64
	from  election.ID // the leader of that term
	put   bool
	value uint64
}

// raftLog is the log of a node and, while it leads, what it knows of the others'.
type raftLog struct {
	entries []logEntry // from index 1

	commit, applied uint64 // a restarted node learns them anew, from its last checkpoint on
	register        uint64 // what the applied entries come to

	next, match []uint64 // of each follower, by id
	rounds      []uint64 // the latest that each has answered
	round       uint64   // counts the reads that ask followers whether this node still leads
	writes      map[uint64]pendingWrite
	reads       []pendingRead

	sorted   []uint64 // scratch
	stored   []byte   // scratch
	segments []string // the keys of those that were stored
	head     encoded  // what AppendEntries without an entry carry
	answered encoded  // what answers to them do
}

type pendingWrite struct {
	term uint64
	done func()
}

type pendingRead struct {
	round uint64
	done  func(uint64)
}

// last is the index of the last entry.
func (l *raftLog) last() uint64 { return uint64(len(l.entries)) }

// termOf is the term of an entry; 0 of none.
func (l *raftLog) termOf(index uint64) uint64 {
	if index == 0 || index > l.last() {
		return 0
	}
	return l.entries[index-1].term
}

// describe tells how long this node's log is, in a request for votes.
func (l *raftLog) describe(m election.Message) election.Message {
	if l.last() > 0 {
		m.Value, m.Data = l.last(), numbers(l.termOf(l.last()))
	}
	return m
}

// upToDate reports whether a candidate's log is no older than this one (5.4.1).
func (l *raftLog) upToDate(m election.Message) bool {
	term := readNumbers(m.Data, 1)[0]
	own := l.termOf(l.last())
	return term > own || term == own && m.Value >= l.last()
}

// beginLog makes this node ready to lead, with a blank entry of its term if there is anything that it may have to commit.
func (r *raft) beginLog() {
	size := r.env.Size() + 1
	r.log.next, r.log.match, r.log.rounds = make([]uint64, size), make([]uint64, size), make([]uint64, size)
	for id := range r.log.next {
		r.log.next[id] = r.log.last() + 1
	}
	r.log.reads = nil
	if r.log.last() > 0 {
		r.append(logEntry{term: r.term, from: r.env.ID()})
	}
}

// append adds an entry to the leader's log.
func (r *raft) append(e logEntry) {
	r.log.entries = append(r.log.entries, e)
	r.saveLog(r.log.last())
	r.advance()
}

// Put writes the register: the answer comes once the write is committed and applied (5.3).
func (r *raft) Put(value uint64, done func()) bool {
	if r.role != election.Leader {
		return false
	}
	if r.log.writes == nil {
		r.log.writes = map[uint64]pendingWrite{}
	}
	r.log.writes[r.log.last()+1] = pendingWrite{r.term, done}
	r.append(logEntry{term: r.term, from: r.env.ID(), put: true, value: value})
	r.sendHeartbeats()
	return true
}

// Get reads the register: the answer comes once a majority has confirmed, since the question, that this node leads, and an
// entry of its term is committed (section 8).
func (r *raft) Get(done func(uint64)) bool {
	switch {
	case r.role != election.Leader:
		return false
	case r.noQuorumCheck, r.hasLease() && r.hasCommitted(): // it is the leader, in the first case it thinks
		done(r.log.register)
		return true
	}
	r.log.round++
	r.log.reads = append(r.log.reads, pendingRead{r.log.round, done})
	r.sendHeartbeats()
	r.answerReads()
	return true
}

// answerReads answers the reads that a majority has confirmed.
func (r *raft) answerReads() {
	if len(r.log.reads) == 0 || !r.hasCommitted() {
		return
	}
	confirmed := r.majorityOf(r.log.rounds, r.log.round)
	for len(r.log.reads) > 0 && r.log.reads[0].round <= confirmed {
		r.log.reads[0].done(r.log.register)
		r.log.reads = r.log.reads[1:]
	}
}

// hasCommitted reports whether this leader knows all that is committed: an entry of its own term is.
func (r *raft) hasCommitted() bool {
	return r.log.last() == 0 || r.log.termOf(r.log.commit) == r.term
}

// majorityOf is the highest number that a quorum has reached, this node by its own.
func (r *raft) majorityOf(of []uint64, own uint64) uint64 {
	all := append(r.log.sorted[:0], of[1:]...)
	r.log.sorted = all
	all[r.env.ID()-1] = own
	slices.Sort(all)
	return all[len(all)-r.votes.quorum]
}

// mostEntries is how many entries one message carries: they have to fit into a datagram.
const mostEntries = 20

// appendEntries is the message to one follower: the entries that it lacks, as far as is known.
func (r *raft) appendEntries(to election.ID) election.Message {
	l := &r.log
	m := election.Message{Kind: "AppendEntries", Term: r.term, Value: l.next[to] - 1}
	if l.last() == 0 && l.round == 0 {
		return m
	}
	entries := l.entries[m.Value:min(l.last(), m.Value+mostEntries)]
	if len(entries) == 0 {
		m.Data = l.head.numbers(l.termOf(m.Value), l.commit, l.round)
		return m
	}
	m.Data = appendNumbers(make([]byte, 0, entrySize*(1+len(entries))), l.termOf(m.Value), l.commit, l.round)
	for _, e := range entries {
		m.Data = appendEntry(m.Data, e)
	}
	return m
}

// take brings this log into line with the leader's (5.3), and answers.
func (r *raft) take(m election.Message) election.Message {
	l := &r.log
	answer := election.Message{Kind: "AppendEntriesResponse", Term: r.term}
	head := readNumbers(m.Data, 3)
	if head[2] > 0 {
		answer.Data = l.answered.numbers(head[2])
	}
	if m.Value > l.last() || l.termOf(m.Value) != head[0] {
		answer.Value = min(l.last(), m.Value-min(m.Value, 1))
		return answer
	}
	index, changed := m.Value, uint64(0)
	for b := m.Data[min(len(m.Data), 24):]; len(b) >= entrySize; b = b[entrySize:] {
		e := readEntry(b)
		if index++; index <= l.last() && l.termOf(index) == e.term {
			continue
		}
		l.entries = append(l.entries[:index-1], e) // what contradicts the leader goes, and all after it
		if changed == 0 {
			changed = index
		}
	}
	if changed > 0 {
		r.saveLog(changed)
	}
	r.commitTo(min(head[1], index))
	answer.OK, answer.Value = true, index
	return answer
}

// taken handles a follower's answer of this term. What tells nothing new is not answered at once, but with the next heartbeat: of
// an answer that comes twice there would be two more, and of them four.
func (r *raft) taken(from election.ID, m election.Message) {
	l := &r.log
	if r.role != election.Leader {
		return
	}
	l.rounds[from] = max(l.rounds[from], readNumbers(m.Data, 1)[0])
	r.takeLease()
	before := l.next[from]
	if m.OK {
		matched := l.match[from]
		l.match[from] = max(matched, min(m.Value, l.last()))
		l.next[from] = max(before, l.match[from]+1)
		if l.match[from] > matched {
			r.advance()
		}
	} else if !r.noBacktrack {
		l.next[from] = max(min(m.Value, l.last())+1, l.match[from]+1)
	}
	if l.next[from] != before && l.next[from] <= l.last() {
		r.env.Send(from, r.appendEntries(from))
	}
	r.answerReads()
}

// advance commits what a majority has, if it is of this term: then all before it is committed, too (5.4.2).
func (r *raft) advance() {
	if n := r.majorityOf(r.log.match, r.log.last()); n > r.log.commit && r.log.termOf(n) == r.term {
		r.commitTo(n)
	}
}

// commitTo applies what is committed, in order.
func (r *raft) commitTo(index uint64) {
	l := &r.log
	for l.commit = max(l.commit, index); l.applied < min(l.commit, l.last()); {
		l.applied++
		e := l.entries[l.applied-1]
		if e.put {
			l.register = e.value
		}
		if l.applied%checkpoint == 0 {
			r.env.Store("checkpoint", numbers(l.applied, l.register))
			r.env.Sync()
		}
		r.env.Applied(e.term, l.applied, e.from)
		if w, waits := l.writes[l.applied]; waits {
			delete(l.writes, l.applied)
			if w.term == e.term {
				w.done()
			}
		}
	}
}

// checkpoint is after how many entries a node keeps what they come to, as section 7 has it: it need not apply them anew when it is restarted.
// The log stays whole, so that no follower ever needs what was kept.
const checkpoint = 2048

// loadCheckpoint takes up what the log of an earlier life had come to, if it is in that log.
func (l *raftLog) loadCheckpoint(b []byte) {
	if n := readNumbers(b, 2); n[0] <= l.last() {
		l.commit, l.applied, l.register = n[0], n[0], n[1]
	}
}

// segment is how many entries are stored together.
const segment = 16

// saveLog puts the log on disk from an index on, before anybody is told of it (figure 2). Each segment begins with the term of
// the entry before it: a process that ends between two of them leaves segments of two logs behind.
func (r *raft) saveLog(from uint64) {
	l := &r.log
	for k := (from - 1) / segment; k*segment < max(l.last(), 1); k++ {
		l.stored = appendNumbers(l.stored[:0], l.termOf(k*segment))
		for _, e := range l.entries[k*segment : min(l.last(), (k+1)*segment)] {
			l.stored = appendEntry(l.stored, e)
		}
		r.env.Store(l.key(k), l.stored)
	}
	l.stored = appendNumbers(l.stored[:0], l.last())
	r.env.Store("log-length", l.stored)
	r.env.Sync()
}

// key is what a segment is stored under.
func (l *raftLog) key(of uint64) string {
	for k := uint64(len(l.segments)); k <= of; k++ {
		l.segments = append(l.segments, fmt.Sprintf("log-%d", k))
	}
	return l.segments[of]
}

// loadLog takes up the log of an earlier life, as far as it is one: where two have the same term at an index, all before it is
// the same (5.3).
func (r *raft) loadLog() {
	defer r.log.loadCheckpoint(r.env.Load("checkpoint")) // once the log is there
	length := readNumbers(r.env.Load("log-length"), 1)[0]
	for k := uint64(0); r.log.last() < length; k++ {
		b := r.env.Load(r.log.key(k))
		if len(b) < 8+entrySize || r.log.last() != k*segment || readNumbers(b, 1)[0] != r.log.termOf(k*segment) {
			return // what follows was not saved, and nobody was told of it
		}
		for b = b[8:]; len(b) >= entrySize && r.log.last() < length; b = b[entrySize:] {
			r.log.entries = append(r.log.entries, readEntry(b))
		}
	}
}

// entrySize is the length of an encoded entry: term, leader and kind, value.
const entrySize = 24

func appendEntry(b []byte, e logEntry) []byte {
	what := uint64(e.from) << 1
	if e.put {
		what |= 1
	}
	return appendNumbers(b, e.term, what, e.value)
}

func readEntry(b []byte) logEntry {
	n := readNumbers(b, 3)
	return logEntry{term: n[0], from: election.ID(n[1] >> 1), put: n[1]&1 == 1, value: n[2]}
}

// numbers encodes numbers, and readNumbers reads the first three of them; what is missing is 0.
func numbers(all ...uint64) []byte { return appendNumbers(make([]byte, 0, 8*len(all)), all...) }

func appendNumbers(b []byte, all ...uint64) []byte {
	for _, n := range all {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

func readNumbers(b []byte, count int) (n [3]uint64) {
	for i := range count {
		if len(b) >= 8*(i+1) {
			n[i] = binary.BigEndian.Uint64(b[8*i:])
		}
	}
	return n
}

// encoded are the numbers that a message carried last: the next often carries the same, and nobody changes them.
type encoded struct {
	of   [3]uint64
	data []byte
}

func (e *encoded) numbers(all ...uint64) []byte {
	var of [3]uint64
	if copy(of[:], all); e.data == nil || of != e.of {
		e.of, e.data = of, numbers(all...)
	}
	return e.data
}
