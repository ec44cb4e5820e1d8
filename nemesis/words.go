package nemesis

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"recount/history"
	"recount/internal/hint"
)

// Words stand for nodes in a schedule and are looked up when a step fires: who leads is not known before.
var words = []struct{ word, about string }{
	{"leader", "the node that was last seen to lead, in the highest term"},
	{"old-leader", "the one that led before, also while it stands still"},
	{"next-leader", "the next one to lead: the step waits for it"},
	{"follower", "any running node but the leader and servers"},
	{"followers", "all running nodes but the leader and servers"},
	{"voter", "the node that gave another its vote last"},
	{"candidate", "the one that it voted for"},
	{"one", "any running node"},
	{"server", "any running server, where nodes elect through servers"},
	{"servers", "all running servers"},
	{"minority", "any nodes, as many as a minority has at most; of servers, where nodes elect through servers"},
	{"majority", "any nodes, as many as a majority has at least; of servers, as above"},
	{"others", "all that the step's other words do not name"},
	{"all", "every node"},
}

// Words returns the known words and what each stands for.
func Words() (list [][2]string) {
	for _, w := range words {
		list = append(list, [2]string{w.word, w.about})
	}
	return list
}

// checkWord accepts the known words, the names of nodes, and several names with commas.
func checkWord(word string, nodes []string) error {
	if names := strings.Split(word, ","); len(names) > 1 {
		for _, n := range names {
			if !slices.Contains(nodes, n) {
				return hint.Unknown("node", n, nodes)
			}
		}
		return nil
	}
	word, _, _ = strings.Cut(word, "/") // of a part of a node
	known := slices.Clone(nodes)
	for _, w := range words {
		known = append(known, w.word)
	}
	if !slices.Contains(known, word) {
		return hint.Unknown("node", word, known)
	}
	return nil
}

// Views are what the history has shown so far of who leads. Words are resolved by them.
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

	// NoLeaderNames says that no node names another as the leader, so that nobody can be waited for to agree.
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
	if !v.Claims() {
		return
	}
	changed := s.latest != node
	switch {
	case s.latest != "" && v.Term < s.last.Term:
		return
	case changed:
		s.latest = node
		// Without terms, a claim that goes on is no new leadership, whoever has claimed it meanwhile.
		if goesOn := v.Term == 0 && was.Claims() && slices.Contains(s.chain, node); !goesOn {
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

// Leader returns the node that was last seen to lead and has not been seen otherwise since, or "": of the newest term, and of several
// that claim it, as all do without terms, who came to claim it last. Who has died or stands still is seen no otherwise.
func (s *Views) Leader() string {
	leader, term := "", uint64(0)
	for i, n := range s.nodes {
		if v := &s.views[i]; v.Claims() && (leader == "" || v.Term > term || v.Term == term && n == s.latest) {
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

// Strangers are the nodes that may lead, were asked who does, and have never named anybody, where they are so many that no majority can have
// known the one leader that there was: they have not joined its cluster.
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

// AllAgree reports whether every node that may lead names the same leader in the same term; of nameless ones, whether one
// alone leads.
func (s *Views) AllAgree() bool {
	leader := s.Leader()
	if leader == "" {
		return false
	}
	for _, n := range s.others {
		if s.NoLeaderNames && !s.of(n).Claims() {
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
	mute := s.Tokens && !v.Claims() && v.Term == 0
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

// nobody is why a word means no node just now. It is put into words by who gives up looking, at once: most try again.
type nobody struct {
	word  string
	views *Views
	holds history.States // no word but old-leader and all means a node that these halt, whatever it was last seen to say
}

func (n nobody) Error() string {
	text := fmt.Sprintf("no node to be %q; last seen: %s", n.word, n.views)
	var held []string
	for _, node := range n.views.nodes {
		if p, ok := n.holds.Of(history.Proc{Node: node}.Key()).(history.Proc); ok {
			held = append(held, fmt.Sprintf("%s %s", node, p.State))
		}
	}
	if len(held) > 0 {
		text += "; held by a fault: " + strings.Join(held, ", ")
	}
	return text
}

// resolve looks up the words of one step, "others" after all else. No node is used for two words, "all" excepted. led is who led
// when the step's time had come. Nodes that the nemesis holds down or paused are aimed at by name only.
func (s *Views) resolve(asked []string, led string, holds history.States, rnd *rand.Rand) ([][]string, error) {
	var used []string
	free := func(but string) []string {
		return slices.DeleteFunc(slices.Clone(s.nodes), func(n string) bool {
			return n == but || halted(holds, n) || slices.Contains(used, n)
		})
	}
	among := func(from []string) []string {
		return slices.DeleteFunc(free(""), func(n string) bool { return !slices.Contains(from, n) })
	}
	only := func(n string) []string {
		if n == "" || !slices.Contains(free(""), n) {
			return nil
		}
		return []string{n}
	}
	pick := func(from []string, k int) []string {
		rnd.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		from = from[:min(k, len(from))]
		slices.SortFunc(from, func(a, b string) int { return slices.Index(s.nodes, a) - slices.Index(s.nodes, b) })
		return from
	}
	aims := make([][]string, len(asked))
	for _, at := range othersLast(asked) {
		var aim []string
		word, part, ofPart := strings.Cut(asked[at], "/")
		switch word {
		case "leader":
			aim = only(s.Leader())
		case "next-leader":
			if l := s.Leader(); l != led {
				aim = only(l)
			}
		case "old-leader":
			if k := len(s.chain); k > 1 {
				if old := s.chain[k-2]; !slices.Contains(used, old) {
					aim = []string{old} // also while it is paused: that is when it is old
				}
			}
		case "voter":
			aim = only(s.ballot[0])
		case "candidate":
			aim = only(s.ballot[1])
		case "follower", "followers":
			if l := s.Leader(); l != "" {
				aim = slices.DeleteFunc(free(l), s.server)
			}
			if word == "follower" {
				aim = pick(aim, 1)
			}
		case "server":
			aim = pick(among(s.servers), 1)
		case "servers":
			aim = among(s.servers)
		case "one":
			aim = pick(free(""), 1)
		case "minority":
			aim = pick(among(s.voters), (len(s.voters)-1)/2)
		case "majority":
			aim = pick(among(s.voters), len(s.voters)/2+1)
		case "others":
			aim = free("")
		case "all":
			aim = slices.Clone(s.nodes)
		default:
			aim = strings.Split(word, ",")
		}
		if len(aim) == 0 {
			return nil, nobody{word, s, holds}
		}
		if word != "all" {
			used = append(used, aim...)
		}
		if ofPart {
			aim = slices.Clone(aim)
			for i := range aim {
				aim[i] += "/" + part
			}
		}
		aims[at] = aim
	}
	return aims, nil
}

// othersLast is the order in which the words of a step are looked up, as their places.
func othersLast(asked []string) (order []int) {
	var last []int
	for at := range asked {
		if isOthers(asked[at]) {
			last = append(last, at)
		} else {
			order = append(order, at)
		}
	}
	return append(order, last...)
}

// isOthers reports whether a word is "others", or a part of them.
func isOthers(word string) bool {
	word, _, _ = strings.Cut(word, "/")
	return word == "others"
}
