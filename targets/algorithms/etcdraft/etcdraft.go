// Package etcdraft is the raft library of etcd, CockroachDB and TiKV as a target. It is a package of its own because it links the
// library: whoever does not import it can link another version of it.
package etcdraft

import (
	"fmt"
	"time"

	raftlib "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
	"google.golang.org/protobuf/proto"

	"recount/election"
	"recount/history"
	"recount/targets"
)

// etcd-raft is the raft library of etcd, CockroachDB and TiKV, driven as its documentation says a RawNode is to be. What
// its makers promise and what its options are for:
//
//   - https://pkg.go.dev/go.etcd.io/raft/v3#hdr-Usage: what is stored before what is sent
//   - https://pkg.go.dev/go.etcd.io/raft/v3#Config: CheckQuorum, PreVote, ElectionTick
func init() {
	targets.Register(&targets.Target{
		Name:   "etcd-raft",
		About:  "etcd's raft library, version " + etcdRaftVersion + ", with pre-vote and check-quorum as options",
		Source: "https://pkg.go.dev/go.etcd.io/raft/v3#Config",
		Options: []targets.Option{
			targets.Scale("1"),
			{Name: "tick", Kind: targets.Duration, Default: "100ms", About: "the library's unit of time, and a leader's heartbeat interval"},
			{Name: "election-ticks", Kind: targets.Number, Default: "10", About: "a follower campaigns after one to two times so many ticks without a heartbeat"},
			{Name: "pre-vote", Kind: targets.Bool, Default: "true", About: "ask before campaigning"},
			{Name: "check-quorum", Kind: targets.Bool, Default: "true", About: "a leader without a majority steps down; who hears one votes for nobody"},
			{
				Name: "reads", Kind: targets.Choice, Default: "safe", Choices: []string{"safe", "lease"},
				About:  "how a leader answers reads: asking a majority each time (ReadOnlySafe), or by check-quorum's lease (ReadOnlyLeaseBased)",
				Breaks: []string{"linearizable"},
			},
		},
		Promises: targets.OnDisk(
			targets.Promise{Property: targets.StaysUp}, // the library ends over a log that lost what it had
			targets.Promise{Property: "single-leader-per-term"},
			targets.Promise{Property: "fencing"},
			targets.Promise{Property: "monotonic-term"},
			targets.Promise{Property: "vote-once"},
			targets.Promise{Property: "quorum"},
			targets.Promise{Property: "agreement"},
			targets.Promise{Property: "linearizable"},
			targets.Promise{Property: "progress"},
			targets.Promise{Property: "elects", While: targets.RaftElects},
			targets.Promise{Property: "learns-leader"},
			targets.Promise{Property: "sticky-leader", While: targets.RaftTiming + ", and " + targets.VotesAtOnce, Suspended: targets.Delays},
			targets.Promise{Property: "no-ping-pong", While: targets.RaftTiming},
			targets.Promise{Property: "bounded-terms", While: targets.RaftTiming},
		),
		Unpromised: func(o targets.Options) []string {
			var broken []string
			if !o.Bool("pre-vote") {
				broken = append(broken, "bounded-terms")
			}
			if !o.Bool("check-quorum") {
				broken = append(broken, "elects")
			}
			if broken != nil {
				broken = append(broken, "sticky-leader", "no-ping-pong")
			}
			return broken
		},
		Bounds: func(o targets.Options) history.Bounds {
			timeout := time.Duration(etcdRaftTicks(o)) * targets.Scaled(o, "tick")
			return targets.BoundsOf(2*timeout, 20*timeout, targets.Scaled(o, "tick"))
		},
		Node: newEtcdRaft,
	})
}

// etcdRaftVersion is the library's, as go.mod has it.
const etcdRaftVersion = "3.7.0"

// etcdRaftTicks is what the library calls ElectionTick: more than a heartbeat's one.
func etcdRaftTicks(o targets.Options) int { return int(min(max(2, o.Number("election-ticks")), 1000)) }

// etcdRaft drives the library. Its messages are the library's own, whole, in Data.
//
// The library draws its election timeouts from the machine's randomness, and a run must have all of its own from its
// seed. So the timeout is counted here, from the same distribution and set back by the same events, and when it has run
// out the library is told to campaign. All else is the library's.
type etcdRaft struct {
	env    election.Env
	config raftlib.Config
	tick   time.Duration

	node *raftlib.RawNode
	log  *disk
	view raftlib.BasicStatus
	vote *pb.HardState // as last told to Granted
	conf *pb.ConfState // who the members are, as far as the log is applied

	admissions map[uint64]admission // that it has asked for, by what tells them apart

	elapsed, timeout int // in ticks

	register
}

func newEtcdRaft(o targets.Options, env election.Env) election.Node {
	reads := raftlib.ReadOnlySafe
	if o.Value("reads") == "lease" && o.Bool("check-quorum") { // which the library demands for it
		reads = raftlib.ReadOnlyLeaseBased
	}
	return &etcdRaft{env: env, tick: targets.Scaled(o, "tick"), config: raftlib.Config{
		ID:                        uint64(env.ID()),
		ElectionTick:              etcdRaftTicks(o),
		HeartbeatTick:             1,
		MaxSizePerMsg:             1 << 10, // a message is a datagram
		MaxInflightMsgs:           256,
		MaxUncommittedEntriesSize: 1 << 30,
		PreVote:                   o.Bool("pre-vote"),
		CheckQuorum:               o.Bool("check-quorum"),
		ReadOnlyOption:            reads,
		StepDownOnRemoval:         true,
		Logger:                    silent{},
	}, admissions: map[uint64]admission{}}
}

const tickTimer election.Timer = 0

// Start takes up the log, the term and the vote that an earlier life left.
func (n *etcdRaft) Start() {
	n.guard(func() error {
		log, err := load(n.env)
		if err != nil {
			return err
		}
		n.env.Sync() // the life before may have ended before it could
		n.log, n.config.Storage, n.conf = log, log, &log.members
		if a, was := n.env.(election.Admitted); was && a.Ticket() != 0 {
			n.config.ID = a.Ticket()
		}
		n.vote, _, _ = log.InitialState()
		if n.node, err = raftlib.NewRawNode(&n.config); err != nil {
			return err
		}
		n.redraw()
		n.env.SetTimer(tickTimer, n.tick)
		return nil
	})
}

// Expire is a tick.
func (n *etcdRaft) Expire(election.Timer) {
	n.env.SetTimer(tickTimer, n.tick)
	n.guard(func() error {
		if n.view.RaftState == raftlib.StateLeader {
			n.node.Tick()
			return nil
		}
		n.node.TickQuiesced() //nolint:staticcheck // the one way to count the library's lease on without its own timeout
		if n.elapsed++; n.elapsed < n.timeout {
			return nil
		}
		n.elapsed = 0
		return n.node.Campaign()
	})
}

// Receive hands a message to the library.
func (n *etcdRaft) Receive(from election.ID, m election.Message) {
	n.guard(func() error {
		var msg pb.Message
		if err := proto.Unmarshal(m.Data, &msg); err != nil || nodeOf(msg.GetFrom()) != from || msg.GetTo() != n.config.ID {
			return nil // it is nobody's, or for who was here before
		}
		_ = n.node.Step(&msg) // what the library does not want it drops
		switch msg.GetType() {
		case pb.MsgApp, pb.MsgHeartbeat, pb.MsgSnap:
			if s := n.node.BasicStatus(); s.Lead == msg.GetFrom() && s.GetTerm() == msg.GetTerm() {
				n.elapsed = 0
			}
		}
		return nil
	})
}

// Resign hands the leadership over to the first member that the leader has heard from lately.
func (n *etcdRaft) Resign() {
	n.guard(func() error {
		if n.view.RaftState != raftlib.StateLeader {
			return nil
		}
		var heir uint64
		n.node.WithProgress(func(id uint64, typ raftlib.ProgressType, p tracker.Progress) {
			if id != n.config.ID && typ == raftlib.ProgressTypePeer && p.RecentActive && (heir == 0 || id < heir) {
				heir = id
			}
		})
		if heir != 0 {
			n.node.TransferLeader(heir)
		}
		return nil
	})
}

// guard lets the library do something and then does what it wants done. The library panics where a server would have to end, mostly
// since the disk has lost what was synced to it; and so the process does.
func (n *etcdRaft) guard(do func() error) {
	if err := do(); err != nil {
		panic(err)
	}
	for n.node.HasReady() {
		n.handle(n.node.Ready())
	}
	was := n.view
	if n.view = n.node.BasicStatus(); was.GetTerm() != n.view.GetTerm() || was.RaftState != n.view.RaftState {
		n.redraw()
		n.forgetReads()
	}
}

// redraw draws a new election timeout, as the library does whenever its term or state changes.
func (n *etcdRaft) redraw() {
	n.elapsed, n.timeout = 0, n.config.ElectionTick+n.env.Rand().IntN(n.config.ElectionTick)
}

// handle stores what must be on disk, and then sends.
func (n *etcdRaft) handle(r raftlib.Ready) {
	if err := n.log.save(r); err != nil {
		panic(err)
	}
	if hard := r.HardState; hard.GetVote() != raftlib.None && (hard.GetTerm() != n.vote.GetTerm() || hard.GetVote() != n.vote.GetVote()) {
		n.vote = hard
		n.env.Granted(hard.GetTerm(), nodeOf(hard.GetVote()))
	}
	for _, m := range r.Messages {
		if m.GetType() == pb.MsgVoteResp && !m.GetReject() {
			n.elapsed = 0
		}
		data, err := proto.Marshal(m)
		if err != nil {
			panic(err)
		}
		n.env.Send(nodeOf(m.GetTo()), election.Message{Kind: m.GetType().String(), Term: m.GetTerm(), OK: !m.GetReject(), Data: data})
	}
	n.reseat(r.CommittedEntries)
	n.apply(r)
	n.node.Advance(r)
}

// Status is what this node believes.
func (n *etcdRaft) Status() election.Status {
	s := election.Status{Term: n.view.GetTerm(), Leader: nodeOf(n.view.Lead)}
	switch {
	case n.view.RaftState == raftlib.StateLeader:
		s.Role = election.Leader
	case n.view.RaftState != raftlib.StateFollower:
		s.Role = election.Candidate
	}
	return s
}

// silent is the library's log, which nobody reads. What a server would end for ends the process.
type silent struct{}

func (silent) Debug(...any)              {}
func (silent) Debugf(string, ...any)     {}
func (silent) Info(...any)               {}
func (silent) Infof(string, ...any)      {}
func (silent) Warning(...any)            {}
func (silent) Warningf(string, ...any)   {}
func (silent) Error(...any)              {}
func (silent) Errorf(string, ...any)     {}
func (silent) Fatal(v ...any)            { panic(fmt.Sprint(v...)) }
func (silent) Fatalf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }
func (silent) Panic(v ...any)            { panic(fmt.Sprint(v...)) }
func (silent) Panicf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }
