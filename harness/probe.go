package harness

import (
	"fmt"
	"slices"
	"time"

	"recount/history"
)

// Probe is what a few nodes of a real system let Recount see, with the servers that they elect through.
type Probe struct {
	Nodes   []string         // their names
	Image   string           // that the first runs
	Args    []string         // that its image's entry point is given
	Ready   time.Duration    // from the start until all were ready
	Watched time.Duration    // from then on
	Views   []ProbeView      // each that differs from the one before of its node, in order
	Names   bool             // they name whom they follow
	Led     bool             // one of them led
	Told    int              // changes that they announced by themselves
	Alone   map[string][]int // where nodes have not come together, the ports of each at which no other node reaches it
	Apart   error            // why faults cannot be of each of the parts of the first node that a file names; nil if they can
	servers []string         // of the nodes: nobody wants to hear of these who leads
	ProbeAnswers
	ProbeUses
	ProbeLogs
}

// ProbeAnswers are what came of asking nodes for their views.
type ProbeAnswers struct {
	Asked   int
	Failed  int                       // of the questions
	Why     error                     // why the last of these got no answer
	Mute    map[string]error          // of whom there was no answer, and why there was none the last time
	Unread  int                       // of those that failed, the ones that were answered by what makes no sense
	Strange error                     // what was wrong with the last of these
	Slow    time.Duration             // the slowest answer took
	Late    int                       // of the answers, those that observers would have given up
	Sooner  string                    // how such are waited for; "" if there are none
	Answer  []byte                    // the last of the first that led, or of n1, as it was given, where its observer keeps it
	Answers string                    // a pattern of the files beside the logs that have what each answered last, whole; "" if none did
	Roles   map[string]map[string]int // the words that nodes said of their roles, and how often, where a file says how they are read
	untold  untold
}

// ProbeUses are what came of having the leader do what clients want of it.
type ProbeUses struct {
	Tried bool  // it was seen to write once, where it does by a command
	Wrote error // why nobody knows that its write was accepted; nil if it was
	Kept  bool  // it was seen to keep a number, where clients can have it do so
	Keeps error // why nobody knows that it does; nil if it does
}

// ProbeLogs are what nodes wrote.
type ProbeLogs struct {
	Log   [][]string // of each, in lines
	Logs  string     // the folder that has what all wrote
	Lines string     // what of their logs could not be read; "" if all could
	Alarm string     // the first line of a log that was an alarm, after its node's name; "" if none was
}

// ProbeView is a node's view, when it was first seen, and whether the node announced it by itself.
type ProbeView struct {
	At   time.Duration
	Node string
	View history.View
	Told bool
}

// Untold says which answers name a leader whose id nobody told; "" if there are none.
func (p *Probe) Untold() string { return p.untold.words("Answers") }

func (p *Probe) see(at time.Duration, node string, v history.View, told bool) {
	if last, seen := p.last(node); !seen || last.View != v {
		p.Views = append(p.Views, ProbeView{at, node, v, told})
	}
}

// AtOdds says how nodes contradict each other in what they said last, if they do.
func (p *Probe) AtOdds() string {
	var said []ProbeView
	for _, node := range p.Nodes {
		if v, seen := p.last(node); seen && !v.View.Torn {
			said = append(said, v)
		}
	}
	for _, a := range said {
		for _, b := range said {
			if a.View.Role != history.Leader || a.View.Term != b.View.Term || b.View.Leader == "" || a.View.Leader == b.View.Leader {
				continue
			}
			in := ""
			if a.View.Term > 0 {
				in = fmt.Sprintf(" in term %d", a.View.Term)
			}
			if b.View.Role == history.Leader {
				return fmt.Sprintf("%s and %s both say that they lead%s: does each tell of itself?", a.Node, b.Node, in)
			}
			return fmt.Sprintf("%s says that it leads%s, and %s names %s: is that what servers call each other?", a.Node, in, b.Node, b.View.Leader)
		}
	}
	return ""
}

// TwoCounts says of a node that it never answered that it leads in a term of which its log told so, and the other way round, if there
// is one: lines and answers of one leadership have one term, or each such is taken for two.
func (p *Probe) TwoCounts() string {
	for _, node := range p.Nodes {
		var wrote, answered []uint64
		for _, v := range p.Views {
			switch {
			case v.Node != node || v.View.Role != history.Leader || v.View.Torn || v.View.Term == 0:
			case v.Told:
				wrote = append(wrote, v.View.Term)
			default:
				answered = append(answered, v.View.Term)
			}
		}
		both := slices.ContainsFunc(wrote, func(term uint64) bool { return slices.Contains(answered, term) })
		if len(wrote) > 0 && len(answered) > 0 && !both {
			return fmt.Sprintf("%s wrote that it leads in term %d, and answered that it leads in term %d: do its lines number terms as its answers do, and does a line tell of each?",
				node, wrote[0], answered[0])
		}
	}
	return ""
}

// Mixed says of a node what its log told that cannot be of the election of its answers, if there is something: it wrote that it leads in a term in
// which it answered after that, and never that it leads; or it wrote so, and then that it campaigns in that term. A process of several elections
// writes the same lines of each.
func (p *Probe) Mixed() string {
	const others = "do its lines tell of other elections, too, as of shards? A pattern is to match those of one alone"
	for _, node := range p.Nodes {
		answered, wrote := map[uint64]bool{}, map[uint64]bool{} // terms in which it leads
		for _, v := range p.Views {
			if v.Node == node && !v.Told && v.View.Role == history.Leader {
				answered[v.View.Term] = true
			}
		}
		for _, v := range p.Views {
			switch leads := v.View.Role == history.Leader; {
			case v.Node != node || v.View.Torn || v.View.Term == 0:
			case v.Told && leads:
				wrote[v.View.Term] = true
			case !wrote[v.View.Term]:
			case v.Told && v.View.Role == history.Candidate:
				return fmt.Sprintf("%s wrote that it leads in term %d, and then that it is a candidate in it: %s", node, v.View.Term, others)
			case !v.Told && !leads && !answered[v.View.Term]:
				return fmt.Sprintf("%s wrote that it leads in term %d, and answered in it that it does not, and never that it does: %s", node, v.View.Term, others)
			}
		}
	}
	return ""
}

// Silent are the nodes of which nothing was seen, neither an answer nor a line of the log that tells anything. It is due of each where another
// began by telling that it follows: lines that tell of leaders alone, and of what becomes of them, come of no other node.
func (p *Probe) Silent() (nodes []string, due bool) {
	first := map[string]history.Role{}
	for _, v := range slices.Backward(p.Views) {
		first[v.Node] = v.View.Role
	}
	for _, node := range p.Nodes {
		if _, seen := first[node]; !seen && !slices.Contains(p.servers, node) {
			nodes = append(nodes, node)
		}
	}
	for _, role := range first {
		due = due || role == history.Follower
	}
	return nodes, due
}

// Strangers are the nodes that were seen, and named nobody all the time though another led, where nodes name whom they follow.
func (p *Probe) Strangers() (nodes []string) {
	if !p.Names || !p.Led {
		return nil
	}
	for _, node := range p.Nodes {
		if _, seen := p.last(node); seen && !slices.Contains(p.servers, node) &&
			!slices.ContainsFunc(p.Views, func(v ProbeView) bool { return v.Node == node && v.View.Leader != "" }) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// last is what a node was last seen to say.
func (p *Probe) last(node string) (v ProbeView, seen bool) {
	for _, v := range slices.Backward(p.Views) {
		if v.Node == node {
			return v, true
		}
	}
	return v, false
}
