package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Begin is the first op of a run, of the harness, ok: it carries Setup.
const Begin F = "begin"

func init() {
	register(kind{
		name: Begin, alone: happened, first: true,
		value: pointed(func(op *Op) **Setup { return &op.Setup }), when: always,
		fits: func(op *Op) error {
			if op.Setup == nil {
				return nil
			}
			return op.Setup.fits()
		},
		nodes: func(op *Op) []string {
			if op.Setup == nil {
				return nil
			}
			return op.Setup.Nodes
		},
	})
}

// Setup is what the first op of a run tells a checker about the cluster, so that a history can be judged by itself.
type Setup struct {
	Version  string            `json:"version"`             // of Recount
	Target   string            `json:"target"`              // the election under test
	Options  map[string]string `json:"options,omitempty"`   // all of its options, defaults included
	Cluster  string            `json:"cluster"`             // "sim" or "docker"
	Seed     uint64            `json:"seed"`                // the run's only source of randomness
	Nodes    []string          `json:"nodes"`               // the members, in the order of their ids
	Servers  []string          `json:"servers,omitempty"`   // of them, those that do not lead, through which the others elect
	Peers    bool              `json:"peers,omitempty"`     // nobody elects through the servers: they are there for something else
	Voting   []string          `json:"voters,omitempty"`    // of them, those that vote, where not all do: of whom a leader takes a majority
	Store    string            `json:"store,omitempty"`     // the member that the others elect through, where it is part of the election itself
	NoTerms  bool              `json:"no_terms,omitempty"`  // the election numbers no leaderships
	Standing bool              `json:"standing,omitempty"`  // what a node announces holds until it announces something else, or answers otherwise
	Lag      time.Duration     `json:"lag,omitempty"`       // between what a node writes to its log and its being read, at most, where lines are standing; 0 if nobody knows
	Tokens   bool              `json:"tokens,omitempty"`    // nodes tell a term while they lead: 0 is no term of anybody else
	Recorded bool              `json:"recording,omitempty"` // the fenced resource accepts stale tokens and only records them
	Alarms   bool              `json:"alarms,omitempty"`    // the logs of nodes are listened to for alarms
	Bounds   Bounds            `json:"bounds"`

	// What is known of a history that somebody else recorded.
	Model    string            `json:"model,omitempty"`     // what its operations were on
	Initial  string            `json:"initial,omitempty"`   // what each register held at first; "" is nothing
	Initials map[string]string `json:"initials,omitempty"`  // what those of some keys held instead
	OneCount bool              `json:"one_count,omitempty"` // revisions count the writes of the whole store, not of one register
	Lock     bool              `json:"lock,omitempty"`      // what are told as writes are acquisitions of a lock, each with the token that it got
	Untimed  bool              `json:"untimed,omitempty"`   // not all ops told a time: only their order is known
}

// Bounds are the times by which a target is judged: what its own parameters allow, with room for the network.
type Bounds struct {
	Silence time.Duration `json:"silence"` // how long a node hears nothing of a leader before it may campaign, at most
	Elect   time.Duration `json:"elect"`   // how long a connected majority may be without a leader, at most
	Poll    time.Duration `json:"poll"`    // between two observations of one node

	// What is left 0 has a default that does for any election (see checkers.Thresholds).
	Moves   int    `json:"moves,omitempty"`   // from how many moves without need on leadership bounces,
	Returns int    `json:"returns,omitempty"` // and how many returns to a former leader among them
	Terms   uint64 `json:"terms,omitempty"`   // by how much a node that cannot win may raise its term
}

// Held is what the register of a key held at first; "" is nothing.
func (s *Setup) Held(key string) string {
	if value, ok := s.Initials[key]; ok {
		return value
	}
	return s.Initial
}

// Candidates are the nodes that are no servers: those that may lead.
func (s *Setup) Candidates() []string {
	return slices.DeleteFunc(slices.Clone(s.Nodes), func(n string) bool { return slices.Contains(s.Servers, n) })
}

// Voters are the members of which a leader takes a majority: those named, or the servers that it was elected through, or
// else all that are no servers.
func (s *Setup) Voters() []string {
	switch {
	case len(s.Voting) > 0:
		return s.Voting
	case s.Peers:
		return s.Candidates()
	case len(s.Servers) > 0:
		return s.Servers
	}
	return s.Nodes
}

// Quorum is the smallest number of voters that is a majority.
func (s *Setup) Quorum() int { return len(s.Voters())/2 + 1 }

// fits says what is wrong with a setup, or nil.
func (s *Setup) fits() error {
	for i, n := range s.Nodes {
		switch {
		case n == "":
			return errors.New("a node without a name")
		case strings.ContainsRune(n, utf8.RuneError): // what it was nobody knows, nor which nodes are one
			return fmt.Errorf("node %q: its name is no text in UTF-8", n)
		case slices.Contains(s.Nodes[:i], n):
			return fmt.Errorf("node %s is named twice", n)
		}
	}
	for _, n := range slices.Concat(s.Servers, s.Voting, []string{s.Store}) {
		if n != "" && !slices.Contains(s.Nodes, n) {
			return fmt.Errorf("%s is none of the nodes", n)
		}
	}
	for _, list := range [...][]string{s.Servers, s.Voting} { // or a majority would be reckoned of more than there are
		for i, n := range list {
			switch {
			case n == "":
				return errors.New("a node without a name")
			case slices.Contains(list[:i], n):
				return fmt.Errorf("node %s is named twice", n)
			}
		}
	}
	if s.Lag < 0 || s.Lag > longestBound {
		return fmt.Errorf("a lag of %d ns: want 0 or more, and no more than %v", s.Lag, longestBound)
	}
	return s.Bounds.Fit()
}

// Lull is for how long nothing may be heard of a node without its meaning anything: a silence, and no less than three polls.
func (b Bounds) Lull() time.Duration { return max(b.Silence, 3*b.Poll) }

// Fit says what is wrong with bounds that are to be written into a history, or nil.
func (b Bounds) Fit() error {
	for _, d := range []time.Duration{b.Silence, b.Elect, b.Poll} {
		if d < 0 || d > longestBound {
			return fmt.Errorf("a bound of %d ns: want 0 or more, and no more than %v", d, longestBound)
		}
	}
	if min(b.Moves, b.Returns) < 0 || max(b.Moves, b.Returns) > mostCounted || b.Terms > mostCounted {
		return fmt.Errorf("bounds of %d moves, %d returns and %d terms: want 0 or more, and no more than %d", b.Moves, b.Returns, b.Terms, mostCounted)
	}
	return nil
}

// Setup returns what the run's first op tells about the cluster, or nil.
func (h *History) Setup() *Setup { return h.Frame().Setup() }
