package checkers

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"recount/history"
)

// facts are what a history tells, gathered in one pass over it and shared by all checkers. None of them changes it. They
// are whole when the history has ended.
type facts struct {
	given       *history.Setup // nil where the history has none
	setup       history.Setup  // zero then
	nodes       []string
	servers     set       // of the nodes, those that never lead
	serving     set       // of them, those that the others elect through: all, or none where the others are peers
	voters      set       // of the nodes, those of which a leader takes a majority, at first
	franchise   set       // of the nodes, those that can come to vote: all, but for candidates that elect through servers
	leaders     set       // of the nodes, those that may lead, at some time
	seen        []watched // of each node
	answers     []answer  // in order of time
	left        leftOut   // of them
	leaderNames []string  // whom answers name as leader
	makes       []int32   // of these, how those are made that are no node's name, else 0; agreement looks for them
	heights     []height
	leads       []leadership
	repeated    bool // a term was led twice: terms tell no order
	termless    int  // undivided claims without a term, where leaderships are numbered
	world       world
	phases      []phase
	frozen      []span // when the machine stood still
	still       history.Standstills
	stalls      []span         // when the machine stood still, and so long after as a node may still be put out by it
	actions     []action       // the ends of what the nemesis did, as far as it may have had an effect
	tried       int            // faults that were to be injected
	took        int            // of them, those that were seen to take effect
	stated      bool           // an op of the nemesis told what it does
	hollow      *history.Fault // the first that may have taken effect and told nothing of that
	missed      missed         // the first that was aimed by words and hit no node
	unfelt      string         // the first fault that was not seen to take effect, and why
	restarts    int            // of nodes that had been down
	store       int            // the member that the others elect through, as part of the election; -1 if there is none
	resigned    []resignation
	reseated    []changed // what the nemesis did to memberships, in order
	added       string    // a node that it made a voter though begin does not name it
	exits       []exit
	misled      misled
	mistaken    mistaken
	ops         int        // so far
	open        begun      // operations under way
	began       *beginning // of the latest op, if it is an end
	unended     string     // why nothing is valid in a history without an end; "" where there is one
	end         time.Duration
	lapses      func(property string) []Lapse                     // see Judging.Suspend; nil where nothing is known of promises
	holds       func() []hold                                     // allHolds, worked out once
	overlooked  func() string                                     // whoWasOverlooked, worked out once
	again       func(each func(op *history.Op, number int)) error // see Judging.Reread; ops are numbered from 0
}

// newest is the number of the latest op.
func (f *facts) newest() int { return f.ops - 1 }

// answer is what a node said about itself: when it was asked, or by itself.
type answer struct {
	from, to time.Duration // it was true at some time between
	term     uint64
	tenure   uint64
	op       int   // the Index of the op
	lead     int32 // the leadership that it claims; -1 for none
	leader   int32 // whom it names as leader, in facts.leaderNames
	node     int16
	role     history.Role
	polled   bool
	torn     bool
	mute     bool // it says nothing of a term
	ended    bool // it is the end of its node's process, or of what it was as a member
	dull     bool // it says the same as the one of its node before, which came shortly before it
	stale    bool // it was announced, and what ran then may have ended before it was read, or stood still
	repeats  bool // nobody asked for it: it is what the node announced before, which stands
	nameless bool // it claims to lead and tells no term, where leaderships are numbered: in which it is nobody knows
}

func (a *answer) claims() bool { return a.role == history.Leader && !a.torn }

// blank reports whether an answer says nothing of whether its node leads.
func (a *answer) blank() bool { return a.torn || a.role == history.UnknownRole && !a.ended }

// vague reports whether an answer says nothing of whether its node leads, or not in which leadership: it denies none.
func (a *answer) vague() bool { return a.blank() || a.nameless }

// heard reports whether what an answer tells is known to more than its node, or was told to who asked. A node that announces something else may end
// before it has saved it, and before anybody else hears of it.
func (a *answer) heard() bool { return a.claims() || a.polled && !a.repeats }

// begins is when an answer was asked for, or else announced.
func (a *answer) begins() time.Duration {
	if a.polled {
		return a.from
	}
	return a.to
}

// tells reports whether an answer says anything about the node's term.
func (a *answer) tells() bool {
	return !a.torn && !a.mute && (a.role != history.UnknownRole || a.term != 0)
}

// height is the highest term that anybody had reported by the end of a span. Who reported it then had not come so far by
// its beginning.
type height struct {
	span
	term uint64
	by   int32 // in answers
}

// watched tells how well a node was observed.
type watched struct {
	polls, announced, whole int           // answers, changes it told of by itself, and those of both that were not torn
	torn, none              int           // answers that were, and questions that are known to have got no answer
	asked                   bool          // at all, whether it answered or not
	last                    span          // of the last one that was asked for
	view                    answer        // the last one that was asked for and not torn
	frank                   answer        // the last of those that said whether it leads
	up                      bool          // surely, ever since its last answer
	fell                    time.Duration // when it was no longer so, if it was
	silent                  []span        // when it was, and gave no answer for longer than it may
	unseen                  []span        // when nothing was seen of it, wherever it was then
	counts                  time.Duration // until when what was seen of it last does; at first, and since a start, until it should answer
	gaps                    int           // between answers, while it was
	gapTime                 time.Duration // their sum
	worst                   time.Duration // and the longest stretch that two of its answers leave open, or one and its fall, or the end
	highest                 uint64        // term that it reported, as who it is now
	heard                   uint64        // the highest of those that will not be forgotten if its process ends
	another                 time.Duration // until when it may have been another member; -1 if it never was
	said                    int32         // the last one that was announced and not torn, in answers; -1 if none was
	avowed                  int32         // the last of those that said whether it leads; -1 if none did
	stands                  int32         // what it said so, if that holds until it says something else; -1 if nothing does
	ahead                   []*history.Op // what it is about to say, where that is postponed
	doubted                 time.Duration // until when that may be older than an answer that says something else
	gone                    time.Duration // until when its last process may have gone on that surely ended, or may have; -never if none did
	late                    bool          // its log lines may be from before an op had left it down or standing still
	open                    []leadKey     // leaderships that it claimed and has not surely denied since
	deaths                  []death       // of its processes, in the order in which they were to come, or came
	settled                 int           // of them, those of which it is known what came of them
	known                   time.Duration // when that was known last
	starting                bool          // it may be started yet
	rises                   []height      // each term that it told and that was higher than all before; by is left out
}

// shows takes note of an answer that was asked for, as far as it tells of one instant, and of whether its node leads.
func (w *watched) shows(a answer) {
	if !a.torn {
		w.view = a
	}
	if !a.vague() {
		w.frank = a
	}
}

// below is when a node was asked for its last undivided answer from before it told a term that high; 0 if there is none.
func (w *watched) below(term uint64) time.Duration {
	k := sort.Search(len(w.rises), func(k int) bool { return w.rises[k].term >= term })
	if k < len(w.rises) {
		return w.rises[k].from
	}
	return w.view.from
}

// resignation is when a node was asked to hand over, until it had heard so: for ever, if nobody knows.
type resignation struct {
	span
	over time.Duration // when that ended, whatever came of it
	node int
	op   int  // the number of the one that asked
	open bool // that is the nemesis's, and has not ended
}

// byLeave reports whether the old leader was asked to go, in this leadership, and may have gone for that: not long before it
// went, or as long before as faults may have kept what it then told its heir from getting there. Where nobody knows what came of
// asking it, it may have gone for that at any time since; such as did so long after that count only if told to.
func (f *facts) byLeave(h handover, perhaps bool) bool {
	s := span{f.answers[h.from.first].from, h.span.to}
	return slices.ContainsFunc(f.resigned, func(r resignation) bool {
		if !perhaps {
			r.to = min(r.to, r.over)
		}
		return r.node == h.from.node && r.meets(s) && h.span.from <= f.lingers(r.to)
	})
}

// maybeAsked says that nobody knows whether the old leader of a handover was asked to go.
func (f *facts) maybeAsked(h handover) string {
	return fmt.Sprintf("%s may have been asked to go: nobody knows what came of doing so", f.nodes[h.from.node])
}

// lingers is until when it may show what a leader told its heir at a time. It shows soon, or soon after a phase with faults that
// it was told in, or soon before: a link that is cut holds back what is on its way, and a process that stands still what has come.
func (f *facts) lingers(told time.Duration) time.Duration {
	until := told + f.settled()
	for _, p := range f.phases {
		if len(p.faults) > 0 && p.from <= until {
			until = max(until, p.to+f.settled())
		}
	}
	return until
}

// exit is when a node's process ended by itself.
type exit struct {
	at     time.Duration
	op     int // its Index
	node   int
	how    string
	excuse excuse
}

// excuse is why a process may have ended by itself: the nemesis was at it, or what it works with.
type excuse int

const (
	none excuse = iota
	itsDisk
	itsPower
	itsPlace
	itsEnd
	itsPast
	noMember
)

var excuses = [...]string{
	itsDisk: "while its disk was failing it", itsPower: "while its processor, its memory, another process of the node or a fault of its own was failing it",
	itsPlace: "once it was to leave the cluster", itsEnd: "while it was being ended or stood still", noMember: "of a node that is no member",
	itsPast: "just after its disk, its processor, its memory or its place in the cluster was not right",
}

// action is the end of something that the nemesis did.
type action struct {
	begun time.Duration
	at    time.Duration
	op    int // its Index
	f     history.F
	fault *history.Fault // nil if nothing tells of it
	whole bool           // the end told of it, not only the beginning
	seen  bool           // it took effect
}

// missed is a fault that was to be injected, and hit no node.
type missed struct {
	fault *history.Fault // nil if there is none
	at    time.Duration
	why   string
}

// phase is a stretch of time in which the faults stayed the same. A fault that moves, like a flapping link, is one
// fault.
type phase struct {
	span
	faults []*history.Fault // under way, in the order in which they began
}

// lull is how long a node may go without answering before what it last said no longer counts.
func (f *facts) lull() time.Duration { return f.setup.Bounds.Lull() }

// sight is for how long nothing may be told of a node for it surely not to have lost the lead and won it back, where nothing tells that: for no
// longer than others wait for a leader, if that is known.
func (f *facts) sight() time.Duration { return cmp.Or(f.setup.Bounds.Silence, f.lull()) }

// lag is how long it takes at most until what a node announced is read.
func (f *facts) lag() time.Duration {
	if f.setup.Standing && f.setup.Lag > 0 {
		return f.setup.Lag
	}
	return f.lull()
}

// quorum is how many voters are a majority.
func (f *facts) quorum() int { return f.setup.Quorum() }

// electorate reports whether a set of nodes has all that it takes to elect a leader at all times: a majority, and somebody to lead.
// A store that is part of the election makes no difference to when a leader is due: to need it is the election's weakness.
func (f *facts) electorate(nodes set, rolls ...roll) bool {
	return f.most(nodes, rolls...) && nodes.and(f.leaders) != (set{})
}

// index is the number that an answer's op goes by in results.
func (f *facts) index(a *answer) int { return a.op }

// leader is whom an answer names as leader; "" for nobody.
func (f *facts) leader(a *answer) string { return f.leaderNames[a.leader] }

// actionsIn returns what the nemesis did within s.
func (f *facts) actionsIn(s span) []action {
	i := sort.Search(len(f.actions), func(k int) bool { return f.actions[k].at >= s.from })
	j := sort.Search(len(f.actions), func(k int) bool { return f.actions[k].at > s.to })
	return f.actions[i:max(i, j)]
}

// action returns the last thing that the nemesis had done by then; nil if it had done nothing.
func (f *facts) action(by time.Duration) *action {
	k := sort.Search(len(f.actions), func(k int) bool { return f.actions[k].at > by })
	if k == 0 {
		return nil
	}
	return &f.actions[k-1]
}

// stalled reports whether the machine stood still at a time that bears on s.
func (f *facts) stalled(s span) bool {
	return slices.ContainsFunc(f.stalls, s.meets)
}

// excused is by how much a machine that stood still prolongs what happens in s: by as long as it did so then, and for timers
// that ran out meanwhile by as long again, but no longer than a silence each time.
func (f *facts) excused(s span) (d time.Duration) {
	for _, o := range f.frozen {
		if o.overlaps(s) {
			d += min(o.to, s.to) - max(o.from, s.from) + min(o.length(), f.setup.Bounds.Silence)
		}
	}
	return d
}

// answering reports whether node i gave an answer often enough throughout s.
func (f *facts) answering(i int, s span) bool {
	return !slices.ContainsFunc(f.seen[i].silent, s.meets)
}

// highest returns the highest term that anybody had reported by a time, and who; 0 and nil if nobody had reported one.
func (f *facts) highest(by time.Duration) (uint64, *answer) {
	k := sort.Search(len(f.heights), func(k int) bool { return f.heights[k].to > by })
	if k == 0 {
		return 0, nil
	}
	return f.heights[k-1].term, &f.answers[f.heights[k-1].by]
}
