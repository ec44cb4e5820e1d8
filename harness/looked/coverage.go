package looked

import (
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"

	"recount/harness/record"
	"recount/history"
)

// What a run has reached is a set of features, each a number. Of a simulated run they are what happened before what: see
// sim.Relations. Of others two runs share one if they were once in the same kind of situation: as many nodes lead, campaign,
// follow and stand still, as many links are cut around each of them, and their terms lie as far apart; or if leadership moved
// as often, or votes were split over as many candidates; of programs that tell which of their statements ran, those;
// and of logs with lines that are to come sometimes, how often each did.

// Feature is one thing that a run has reached, as a number that means the same in every run of a target.
type Feature uint64

// featureOf is the number of a feature by its kind.
func featureOf(k kind, code uint64) Feature {
	h := (code ^ uint64(k)<<56) * 0x9e3779b97f4a7c15
	return Feature(h ^ h>>32)
}

type kind uint8

const (
	together kind = iota // what all nodes are at one time
	moves                // how often leadership has moved, and how many faults there had been
	splits               // over how many candidates votes of one term were split, and how far
	related              // something happened before something else
	ran                  // a stretch of statements of the nodes' programs
	came                 // a line that is to come sometimes, and how often
)

// reached returns the features of a run, by what was seen of its situations where nothing more is known.
func reached(r *record.Run, s *Situation) map[Feature]struct{} {
	if r.Code != nil {
		for b := range r.Code.Ran() {
			s.reach(ran, hashed("%s:%d.%d", b.File, b.Line, b.Column))
		}
	}
	for _, l := range r.Sometimes {
		s.reach(came, hashed("%d %s", bits.Len(uint(l.Times)), l.Pattern))
	}
	if len(r.Relations) == 0 {
		return s.seen
	}
	all := make(map[Feature]struct{}, len(r.Relations))
	for _, n := range r.Relations {
		all[featureOf(related, uint64(n))] = struct{}{}
	}
	return all
}

// hashed is the code of what has a name.
func hashed(format string, args ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, format, args...) // never fails
	return h.Sum64()
}

// Situation is what is known of each node at one time of a run, and of what the run has reached until then.
type Situation struct {
	names map[string]int
	nodes []member
	cut   []bool // the links, from*n+to
	codes []uint32
	seen  map[Feature]struct{}

	leader        string // who claimed to lead last
	moved, faults int
	votes         map[uint64]map[string]int // by term and candidate
}

// member is one node.
type member struct {
	view    history.View
	process history.ProcState
	ill     bool // links of it lose or delay packets, its clock is wrong, or it lacks its processor or memory
}

// Take takes note of what an op shows, while the run goes on. It does not keep the pointer.
func (s *Situation) Take(op *history.Op) {
	if op.Type != history.OK {
		return
	}
	switch op.F {
	case history.Begin:
		s.begin(op.Setup)
	case history.Observe, history.Announce:
		if k, known := s.names[op.Node]; known && s.nodes[k].view != op.View {
			s.nodes[k].view = op.View
			s.situate()
		}
		if op.View.Claims() && op.Node != s.leader {
			s.leader = op.Node
			s.moved++
			s.reach(moves, uint64(bits.Len(uint(s.moved)))<<8|uint64(min(s.faults, 3)))
		}
	case history.Granted:
		if s.votes[op.Vote.Term] == nil {
			s.votes[op.Vote.Term] = map[string]int{}
		}
		of := s.votes[op.Vote.Term]
		of[op.Vote.For]++
		s.reach(splits, uint64(len(of))<<8|uint64(of[op.Vote.For]))
	case history.Inject, history.Change, history.Heal:
		if op.F == history.Inject {
			s.faults++
		}
		if op.Fault != nil {
			s.change(op.Fault.Changes)
			s.situate()
		}
	}
}

// NewSituation is that of a run which has yet to begin.
func NewSituation() *Situation {
	return &Situation{names: map[string]int{}, seen: map[Feature]struct{}{}, votes: map[uint64]map[string]int{}}
}

// begin takes up who the members are.
func (s *Situation) begin(setup *history.Setup) {
	if setup != nil {
		for i, n := range setup.Nodes {
			s.names[n] = i
		}
	}
	n := len(s.names)
	s.nodes, s.cut, s.codes = make([]member, n), make([]bool, n*n), make([]uint32, n)
}

func (s *Situation) reach(k kind, code uint64) { s.seen[featureOf(k, code)] = struct{}{} }

// change takes note of what the nemesis did.
func (s *Situation) change(c history.Changes) {
	for _, l := range c.Links {
		from, ok1 := s.names[l.From]
		to, ok2 := s.names[l.To]
		if ok1 && ok2 {
			s.cut[from*len(s.nodes)+to] = l.Cut
			l.Cut = false
			s.nodes[to].ill = l.LinkState != history.LinkState{}
		}
	}
	for _, p := range c.Procs {
		if k, ok := s.names[p.Node]; ok {
			s.nodes[k].process = p.State
		}
	}
	for _, k := range c.Clocks {
		if i, ok := s.names[k.Node]; ok {
			s.nodes[i].ill = k.Offset != 0 || k.Drift != 0
		}
	}
	for _, d := range c.Disks {
		if i, ok := s.names[d.Node]; ok {
			s.nodes[i].ill = d.DiskState != history.DiskState{}
		}
	}
	for _, p := range c.CPUs() {
		if i, ok := s.names[p.Node]; ok {
			s.nodes[i].ill = p.Share > 0
		}
	}
	for _, m := range c.Memories() {
		if i, ok := s.names[m.Node]; ok {
			s.nodes[i].ill = m.Fails()
		}
	}
	for _, o := range c.Owns() {
		if i, ok := s.names[o.Node]; ok {
			s.nodes[i].ill = o.On
		}
	}
}

// situate takes note of what all nodes are, whatever their names.
func (s *Situation) situate() {
	top := uint64(0)
	for i := range s.nodes {
		top = max(top, s.nodes[i].view.Term)
	}
	n := len(s.nodes)
	for i := range s.nodes {
		m := &s.nodes[i]
		deaf, mute := 0, 0
		for j := range n {
			if s.cut[j*n+i] {
				deaf++
			}
			if s.cut[i*n+j] {
				mute++
			}
		}
		code := uint32(m.view.Role)<<8 | some(deaf, n-1)<<6 | some(mute, n-1)<<4 | uint32(min(top-m.view.Term, 3))<<2
		if m.view.Leader != "" {
			code |= 2
		}
		if m.ill {
			code |= 1
		}
		if m.process != "" && m.process != history.Up {
			code = uint32(m.process[0])<<16 | code&^0x3ff // what it last said counts no more
		}
		s.codes[i] = code
	}
	slices.Sort(s.codes)
	hash := uint64(14695981039346656037) // FNV-1a, code by code
	for _, c := range s.codes {
		hash = (hash ^ uint64(c)) * 1099511628211
	}
	s.reach(together, hash)
}

// some is how many of all there are, roughly: none, one, several, all.
func some(k, of int) uint32 {
	switch k {
	case 0:
		return 0
	case of:
		return 3
	case 1:
		return 1
	}
	return 2
}
