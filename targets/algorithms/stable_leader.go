package algorithms

import (
	"encoding/binary"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
	"recount/targets/algorithms/detector"
)

func init() {
	targets.Register(&targets.Target{
		Name:  "stable-leader",
		About: "rounds take turns: each has one leader, and who misses its messages starts the next round",
		Source: `Aguilera, Delporte-Gallet, Fauconnier and Toueg, "Stable Leader Election" (2001), the algorithm with O(n) ` +
			`rounds for links that lose messages`,
		Options: append([]targets.Option{targets.Scale("0.1")}, detector.Options("1s", "2")...),
		// Of each round only one node can be the leader. But a node that hears nobody goes on through the rounds, and all
		// follow it when it is heard again.
		Promises: targets.OnDisk([]targets.Promise{
			{Property: "single-leader-per-term"},
			{Property: "fencing"},
			{Property: "monotonic-term"},
			{Property: "agreement"},
			{Property: "elects", While: wholeNetwork, Suspended: targets.BreaksLinks},
			{Property: "learns-leader"},
		}...),
		// A round whose leader is dead costs a silence, and one that begins two heartbeats.
		Bounds: func(o targets.Options) history.Bounds {
			s := detector.Silence(o)
			return targets.BoundsOf(s, 5*(s+2*targets.Scaled(o, "heartbeat")), targets.Scaled(o, "heartbeat"))
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			return &stableLeader{env: env, interval: targets.Scaled(o, "heartbeat"), detector: detector.New(o)}
		},
	})
}

// stableLeader is a node of a stable election: a leader stays as long as it is up and its links are in order, whatever
// others do. The leader of round r is the node r mod n and sends OK to everybody. Who misses it starts round r+1 by
// START to everybody; who gets an OK or a START of a higher round starts that, and answers those of a lower one with a
// START of its own. A leader is one only after two OKs in its round, so that one who is about to be replaced is not
// taken for it.
//
// The paper lets links drop what is late, by clocks; here nothing is that late. It has no restarts; here the round is
// on disk, so that a node that restarts is one that was slow, unless it led. Terms are rounds, counted from 1.
type stableLeader struct {
	env      election.Env
	interval time.Duration
	detector detector.Detector
	round    uint64
	oks      int // of the round
}

// Start goes on with the round that an earlier life was in; one whose leader has been down is over: by an OK with each of its lives one
// that starts again and again would keep the others waiting, and never lead.
func (s *stableLeader) Start() {
	r := uint64(1)
	if b := s.env.Load("round"); len(b) == 8 {
		if r = binary.BigEndian.Uint64(b); s.leader(r) == s.env.ID() {
			r++
		}
	}
	s.begin(r)
}

// Status names the round's leader once it has shown itself.
func (s *stableLeader) Status() election.Status {
	v := election.Status{Term: s.round}
	if s.oks < 2 {
		return v
	}
	if v.Leader = s.leader(s.round); v.Leader == s.env.ID() {
		v.Role = election.Leader
	}
	return v
}

// leader is the node whose turn a round is.
func (s *stableLeader) leader(round uint64) election.ID {
	return election.ID((round-1)%uint64(s.env.Size())) + 1
}

// begin starts a round.
func (s *stableLeader) begin(round uint64) {
	s.round, s.oks = round, 0
	s.env.Store("round", binary.BigEndian.AppendUint64(nil, round))
	s.env.Sync()
	if s.leader(round) == s.env.ID() {
		s.env.StopTimer(silenceTimer)
		s.beat()
		return
	}
	s.env.StopTimer(beatTimer)
	s.env.SetTimer(silenceTimer, s.detector.Patience())
	broadcast(s.env, election.Message{Kind: "START", Term: round})
}

// beat sends the OK of this node's own round, to itself, too.
func (s *stableLeader) beat() {
	s.oks++
	s.env.SetTimer(beatTimer, s.interval)
	broadcast(s.env, election.Message{Kind: "OK", Term: s.round})
}

// Expire sends the next OK, or gives up a round whose leader is silent.
func (s *stableLeader) Expire(t election.Timer) {
	if t == beatTimer {
		s.beat()
	} else {
		s.begin(s.round + 1)
	}
}

// Receive handles a message of some round.
func (s *stableLeader) Receive(from election.ID, m election.Message) {
	switch {
	case m.Term < s.round:
		s.env.Send(from, election.Message{Kind: "START", Term: s.round})
	case m.Term > s.round:
		s.begin(m.Term)
	}
	if m.Kind == "OK" && m.Term == s.round {
		s.oks++
		s.detector.Heard(from, s.env.Now())
		s.env.SetTimer(silenceTimer, s.detector.Patience())
	}
}

// Resign starts the next round.
func (s *stableLeader) Resign() {
	if s.Status().Role == election.Leader {
		s.begin(s.round + 1)
	}
}
