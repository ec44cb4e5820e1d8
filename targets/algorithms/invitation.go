package algorithms

import (
	"slices"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
	"recount/targets/algorithms/detector"
)

func init() {
	targets.Register(&targets.Target{
		Name:    "invitation",
		About:   "every node leads a group of its own; leaders invite each other, and the larger group's leader stays",
		Source:  bullySource + `, section IV; Petrov, Database Internals, chapter 10, "Invitation Algorithm"`,
		NoTerms: true,
		Options: append([]targets.Option{targets.Scale("0.1")}, detector.Options("1s", "3")...),
		// Many leaders are what it is about: there is one in each group, and groups form when nodes miss each other.
		Promises: []targets.Promise{
			{Property: "agreement"},
			{Property: "elects", While: wholeNetwork, Suspended: targets.BreaksLinks},
			{Property: "learns-leader", While: wholeNetwork, Suspended: targets.BreaksLinks},
		},
		Bounds: func(o targets.Options) history.Bounds {
			return postBounds(o, detector.Silence(o)+10*targets.Scaled(o, "heartbeat"))
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			return &invitation{
				post: newPost(o, env), lost: detector.Silence(o),
				member: make([]bool, env.Size()+1), answered: newContacts(env.Size()),
			}
		},
	})
}

// invitation is a node of the Invitation algorithm. It is the leader of a group, at first of itself alone, or a member
// of another's. A leader sends heartbeats to its members, which answer (ALIVE), and invites everybody else (INVITE,
// with the size of its group in Value):
//   - the leader of a smaller group joins: it hands over its members (ACCEPT, with all of them in List) and tells them
//     (JOINED, naming the new leader in Node);
//   - the leader of a larger one invites in return;
//   - a member names its own leader (REFER), which the inviter turns to, unless that has referred it to another before (they are in List, and
//     the next invitation tells them): members that take each other for their leader would send it to and fro for as long as they do.
//
// Of two groups of one size the one whose leader has the higher id counts as the larger. A member that misses its
// leader leads a group of itself again.
type invitation struct {
	post
	lost     time.Duration // after which a member that does not answer is none
	member   []bool        // of the group that this node leads, by id
	size     int           // how many they are, this node included
	answered contacts      // when each of them last answered
}

const asideTimer = freeTimer // who resigned has left the post to others for long enough

// Start leads a group of one.
func (i *invitation) Start() { i.alone() }

// Expire ends a wait.
func (i *invitation) Expire(t election.Timer) {
	switch t {
	case beatTimer:
		i.beat()
	case silenceTimer:
		i.alone()
	case asideTimer:
		i.aside = false
	}
}

// Receive handles a message.
func (i *invitation) Receive(from election.ID, m election.Message) {
	leads := i.role == election.Leader
	switch m.Kind {
	case "INVITE":
		i.invited(from, m)
	case "REFER":
		if leads && m.Node != i.env.ID() && !i.member[m.Node] && !slices.Contains(m.List, m.Node) {
			i.invite(m.Node, m.List)
		}
	case "ACCEPT":
		i.accept(m)
	case "JOINED":
		if !leads && i.leader == from && m.Node != i.env.ID() {
			i.follow(m.Node)
		}
	case "HEARTBEAT":
		if !leads && i.leader == from {
			i.follow(from)
			i.env.Send(from, election.Message{Kind: "ALIVE"})
		}
	case "ALIVE":
		i.answered[from] = i.env.Now()
	case "RESIGN":
		if i.leader == from {
			i.alone()
		}
	}
}

// alone makes a group of this node.
func (i *invitation) alone() {
	clear(i.member)
	i.member[i.env.ID()], i.size, i.aside = true, 1, false
	i.lead()
	i.env.SetTimer(beatTimer, i.interval/2+time.Duration(i.env.Rand().Int64N(int64(i.interval))))
}

// beat holds the group together and looks for others.
func (i *invitation) beat() {
	i.env.SetTimer(beatTimer, i.interval)
	since := i.env.Now() - i.lost
	for id := election.ID(1); int(id) <= i.env.Size(); id++ {
		switch {
		case id == i.env.ID():
		case i.member[id] && i.answered[id] >= since:
			i.env.Send(id, i.heartbeat())
		default:
			if i.member[id] {
				i.member[id] = false
				i.size--
			}
			if !i.aside {
				i.invite(id, nil)
			}
		}
	}
}

// invite invites a node to which some have referred this one, each to the next.
func (i *invitation) invite(id election.ID, referred []election.ID) {
	i.env.Send(id, election.Message{Kind: "INVITE", Value: uint64(i.size), List: referred})
}

// invited answers an invitation.
func (i *invitation) invited(by election.ID, m election.Message) {
	size := int(m.Value)
	larger := size > i.size || size == i.size && by > i.env.ID()
	switch {
	case i.role == election.Leader && !larger && !i.aside:
		i.invite(by, nil)
	case i.role == election.Leader:
		i.join(by)
	case i.leader == by: // which has lost sight of this node
		i.env.Send(by, election.Message{Kind: "ACCEPT", List: []election.ID{i.env.ID()}})
	default:
		i.env.Send(by, election.Message{Kind: "REFER", Node: i.leader, List: append(slices.Clone(m.List), i.env.ID())})
	}
}

// join hands this node's group over to another leader.
func (i *invitation) join(leader election.ID) {
	var all []election.ID
	for id, m := range i.member {
		if m && election.ID(id) != leader {
			all = append(all, election.ID(id))
		}
	}
	i.follow(leader)
	i.tell(all)
	i.env.Send(leader, election.Message{Kind: "ACCEPT", List: all})
}

// accept takes members in, or sends them on to who leads this node by now. Value counts how often that was done: two
// groups that joined each other at once would do it for ever.
func (i *invitation) accept(m election.Message) {
	if i.role != election.Leader {
		if m.Value++; int(m.Value) < i.env.Size() {
			i.tell(m.List)
			i.env.Send(i.leader, m)
		}
		return
	}
	for _, id := range m.List {
		if !i.member[id] {
			i.member[id] = true
			i.size++
		}
		i.answered[id] = i.env.Now()
		if id != i.env.ID() {
			i.env.Send(id, i.heartbeat())
		}
	}
}

// tell sends others to this node's leader.
func (i *invitation) tell(others []election.ID) {
	for _, id := range others {
		if id != i.env.ID() && id != i.leader {
			i.env.Send(id, election.Message{Kind: "JOINED", Node: i.leader})
		}
	}
}

// Resign leaves the group without its leader. Each member leads a group of its own again; this node joins any of them. If
// none is in reach it soon invites them itself: two that resigned while they were apart would else wait for each other for ever.
func (i *invitation) Resign() {
	if i.role == election.Leader {
		broadcast(i.env, election.Message{Kind: "RESIGN"})
		i.alone()
		i.aside = true
		i.env.SetTimer(asideTimer, i.lost)
	}
}
