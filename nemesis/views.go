package nemesis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"recount/history"
)

// Views are what the history has shown so far of who leads. The words of a schedule are looked up in them.
type Views struct {
	nodes   []string
	servers []string     // of the nodes, those that never lead, because the others elect through them or elect among themselves
	voters  []string     // those of which a leader takes a majority: those that vote, or the servers, or else all
	others  []string     // those that may lead: who votes, or all but servers
	views   []told       // of each node
	chain   []string     // the leaders so far, each once for every leadership
	latest  string       // the last to claim to lead
	last    history.View // of it, when it began to
	ballot  [2]string    // who gave its vote last, and to whom
	cue     func(seen []Cue, what string)

	// NoLeaderNames says that no node names another as the leader, so that none can be seen to agree.
	NoLeaderNames bool
	// Tokens says that nodes tell a term while they lead, and that one who follows in term 0 has told none.
	Tokens bool
}

// told is what a node was last seen to say, if it was seen.
type told struct {
	history.View
	seen  bool
	asked bool // it has answered, and not only told by itself
	knows bool // it has named a leader, itself or another, at any time
}

// leads reports whether a node says that it leads, in one undivided answer or not: to aim at it accuses nobody.
func leads(v history.View) bool { return v.Role == history.Leader }

// of is what a node was last seen to say.
func (s *Views) of(node string) history.View { return s.views[history.Place(s.nodes, node)].View }

// NewViews watches a recorder.
func NewViews(nodes []string, r *history.Recorder) *Views {
	s := &Views{nodes: nodes, voters: nodes, others: nodes, views: make([]told, len(nodes)), cue: func([]Cue, string) {}}
	r.Watch(s.see)
	return s
}

// Serve tells that some of the nodes are servers that the others elect through.
func (s *Views) Serve(servers []string) {
	if len(servers) > 0 {
		s.servers, s.voters = servers, servers
		s.others = slices.DeleteFunc(slices.Clone(s.nodes), s.server)
	}
}

// Stand tells that some of the nodes are servers of something else, and that the others elect among themselves.
func (s *Views) Stand(servers []string) {
	s.Serve(servers)
	s.voters = s.others
}

// Vote tells that some of the nodes vote, and no others.
func (s *Views) Vote(voters []string) {
	if len(voters) == 0 {
		return
	}
	if s.voters = voters; len(s.servers) == 0 {
		s.others = voters
	}
}

// server reports whether a node is one.
func (s *Views) server(node string) bool { return slices.Contains(s.servers, node) }

func (s *Views) see(op *history.Op) {
	switch {
	case op.Type != history.OK:
	case op.F == history.Observe, op.F == history.Announce:
		s.view(op.Node, op.View, op.F == history.Observe)
	case op.F == history.Granted && op.Vote.For != op.Node:
		s.ballot = [2]string{op.Node, op.Vote.For}
		s.cue([]Cue{Voted}, fmt.Sprintf("vote of %s for %s in term %d", op.Node, op.Vote.For, op.Vote.Term))
	}
}

func (s *Views) view(node string, v history.View, asked bool) {
	now := &s.views[history.Place(s.nodes, node)]
	was := now.View
	if !now.seen || was != v {
		*now = told{v, true, now.asked, now.knows || v.Leader != ""}
	}
	now.asked = now.asked || asked
	if !leads(v) {
		return
	}
	changed := s.latest != node
	switch {
	case s.latest != "" && v.Term < s.last.Term:
		return
	case changed:
		s.latest = node
		// Without terms, a claim that goes on is no new leadership, whoever has claimed it meanwhile.
		if goesOn := v.Term == 0 && leads(was) && slices.Contains(s.chain, node); !goesOn {
			s.chain = append(s.chain, node)
		}
	case v.Term == s.last.Term && v.Tenure == s.last.Tenure:
		return
	}
	s.last = v
	seen := []Cue{Elected}
	if changed {
		seen = append(seen, LeaderChanged)
	}
	s.cue(seen, "election of "+node+inTerm(v.Term))
}

// Leader returns the node that was last seen to lead, and not seen to have stopped since; "" if there is none. Of several it is
// the one in the newest term, and of several in that, as without terms, the one that claimed it last. A node that died or stands still
// has not been seen to stop.
func (s *Views) Leader() string {
	leader, term := "", uint64(0)
	for i, n := range s.nodes {
		if v := &s.views[i]; leads(v.View) && (leader == "" || v.Term > term || v.Term == term && n == s.latest) {
			leader, term = n, v.Term
		}
	}
	return leader
}

// Agreed reports whether a leader is known to more than half of the nodes that may lead, itself included.
func (s *Views) Agreed() bool {
	leader := s.Leader()
	if leader == "" {
		return false
	}
	if s.NoLeaderNames {
		return true
	}
	count := 0
	for _, n := range s.others {
		if s.follows(n, leader) {
			count++
		}
	}
	return count > len(s.others)/2
}

// Strangers are nodes that have not joined the leader's cluster: they may lead, were asked who does, and never named anybody. There
// are none unless one node alone has led, and so many never named it that no majority can have known it.
func (s *Views) Strangers() (nodes []string) {
	if s.NoLeaderNames || len(slices.Compact(slices.Clone(s.chain))) != 1 {
		return nil
	}
	for _, n := range s.others {
		if v := s.views[history.Place(s.nodes, n)]; v.asked && !v.knows {
			nodes = append(nodes, n)
		}
	}
	if 2*len(nodes) < len(s.others) {
		return nil
	}
	return nodes
}

// AllAgree reports whether every node that may lead names the same leader in the same term. Where nodes name no leader, it reports
// whether one alone leads.
func (s *Views) AllAgree() bool {
	leader := s.Leader()
	if leader == "" {
		return false
	}
	for _, n := range s.others {
		if s.NoLeaderNames && !leads(s.of(n)) {
			continue
		}
		if !s.follows(n, leader) {
			return false
		}
	}
	return true
}

// follows reports whether a node names the leader in the leader's term, or names it and tells no term.
func (s *Views) follows(node, leader string) bool {
	v := s.of(node)
	mute := s.Tokens && !leads(v) && v.Term == 0
	return v.Leader == leader && (mute || v.Term == s.of(leader).Term)
}

// inTerm is " in term 4", or nothing where no term is known.
func inTerm(term uint64) string {
	if term == 0 {
		return ""
	}
	return fmt.Sprintf(" in term %d", term)
}

// String is what every node was last seen to say: "n1 leads in term 4, n2→n1 (term 4), n3 not seen".
func (s *Views) String() string {
	var parts []string
	for i, n := range s.nodes {
		v := &s.views[i]
		switch {
		case !v.seen:
			parts = append(parts, n+" not seen")
		case v.Role == history.Server:
		case v.Role == history.Leader:
			parts = append(parts, n+" leads"+inTerm(v.Term))
		case v.Term == 0:
			parts = append(parts, n+"→"+cmp.Or(v.Leader, "nobody"))
		default:
			parts = append(parts, fmt.Sprintf("%s→%s (term %d)", n, cmp.Or(v.Leader, "nobody"), v.Term))
		}
	}
	return strings.Join(parts, ", ")
}
