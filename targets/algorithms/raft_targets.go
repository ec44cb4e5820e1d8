package algorithms

import (
	"slices"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:    "raft",
		About:   "Raft's election as in its paper",
		Source:  `Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", section 5`,
		Options: raftOptions("false"),
		// Neither stickiness nor the absence of ping-pong: any node that times out takes all others to its next term.
		Promises: targets.OnDisk(slices.Concat(raftPromises, []targets.Promise{
			{Property: "linearizable"},
			// Without check-quorum a leader that is heard but hears nobody goes on leading, and keeps all others from it.
			{Property: "elects", While: targets.RaftElects + ", and links are cut both ways if at all", Suspended: targets.CutsOneWay},
		})...),
		Unpromised: raftUnpromised,
		Bounds:     func(o targets.Options) history.Bounds { return raftBounds(o, 20) },
		Node:       raftNode,
	})
	targets.Register(&targets.Target{
		Name:       "raft-prevote",
		About:      "Raft's election with pre-vote and check-quorum",
		Source:     `Ongaro, "Consensus: Bridging Theory and Practice", sections 4.2.3, 6.2 and 9.6`,
		Options:    raftOptions("true"),
		Promises:   targets.OnDisk(append([]targets.Promise{{Property: "linearizable"}}, raftPreVotePromises...)...),
		Unpromised: raftUnpromised,
		Bounds:     func(o targets.Options) history.Bounds { return raftBounds(o, 10) },
		Node:       raftNode,
	})
}

var raftPromises = []targets.Promise{
	{Property: "single-leader-per-term"},
	{Property: "fencing"},
	{Property: "monotonic-term"},
	{Property: "vote-once"},
	{Property: "quorum"},
	{Property: "agreement"},
	{Property: "ordered-updates"},
	{Property: "learns-leader"},
	{Property: "progress"},
}

// raftPreVotePromises are those with both extensions.
var raftPreVotePromises = slices.Concat(raftPromises, []targets.Promise{
	{Property: "elects", While: targets.RaftElects},
	// A node can win its pre-vote just before the voters hear from a leader again, and then not the vote, having entered
	// the next term alone. If it is cut off then, its return deposes the leader that the others follow. In 1,000 simulated
	// minutes with all faults at random, often two at once, this came about once.
	{Property: "sticky-leader", While: targets.RaftTiming + ", and " + targets.VotesAtOnce, Suspended: targets.Delays},
	{Property: "no-ping-pong", While: targets.RaftTiming},
	{Property: "bounded-terms", While: targets.RaftTiming},
})

// raftUnpromised is what the two extensions decide together, and the two election timeouts.
func raftUnpromised(o targets.Options) (broken []string) {
	switch {
	case !o.Bool("pre-vote"):
		broken = []string{"sticky-leader", "no-ping-pong", "bounded-terms"}
	case !o.Bool("check-quorum"):
		// A leader that has lost its majority goes on holding those that still hear it: they vote for nobody else.
		broken = []string{"elects"}
	}
	if c := raftTimesOf(o); 2*c.timeoutMax < 3*c.timeoutMin { // all wait for about as long, and split the vote again and again
		broken = append(broken, "elects")
	}
	return broken
}

// raftTimes are the options that every Raft has.
func raftTimes() []targets.Option {
	return []targets.Option{
		targets.Scale("1"),
		{
			Name: "election-timeout-min", Kind: targets.Duration, Default: "150ms",
			About: "shortest silence after which a node campaigns",
		},
		{
			Name: "election-timeout-max", Kind: targets.Duration, Default: "300ms",
			About: "longest such silence; no less than the shortest",
		},
		{Name: "heartbeat", Kind: targets.Duration, Default: "50ms", About: "time between a leader's heartbeats"},
	}
}

func raftTimesOf(o targets.Options) raftConfig {
	shortest := targets.Scaled(o, "election-timeout-min")
	return raftConfig{
		timeoutMin: shortest,
		timeoutMax: max(shortest, targets.Scaled(o, "election-timeout-max")),
		heartbeat:  targets.Scaled(o, "heartbeat"),
	}
}

func raftOptions(extensions string) []targets.Option {
	return slices.Concat(raftTimes(), []targets.Option{
		{
			Name: "pre-vote", Kind: targets.Bool, Default: extensions,
			About: "ask whether a campaign could be won before entering a new term",
		},
		{
			Name: "check-quorum", Kind: targets.Bool, Default: extensions,
			About: "a leader without answers from a majority steps down, and who hears a leader ignores candidates",
		},
	}, raftFootguns)
}

func raftNode(o targets.Options, env election.Env) election.Node {
	c := raftTimesOf(o)
	c.preVote, c.checkQuorum = o.Bool("pre-vote"), o.Bool("check-quorum")
	c.footguns = footguns{
		synchronizedTimeouts: o.Bool("synchronized-timeouts"),
		ignoreHigherTerm:     o.Bool("ignore-higher-term"),
		forgetVote:           o.Bool("forget-vote"),
		unsyncedVote:         o.Bool("unsynced-vote"),
		noQuorumCheck:        o.Bool("no-quorum-check"),
		noHeartbeatTimeout:   o.Bool("no-heartbeat-timeout"),
		voteTwice:            o.Bool("vote-twice"),
		staleLog:             o.Bool("stale-log"),
		minorityQuorum:       o.Bool("minority-quorum"),
		noBacktrack:          o.Bool("no-backtrack"),
		leaderByVote:         o.Bool("leader-by-vote"),
	}
	return newRaft(c, env)
}

// raftBounds allows as many election timeouts for an election. Simulated with up to 9 nodes, messages of 1 to 20 ms and
// all links but those of one majority cut at random, 9,600 elections of the paper's Raft took 3.1 s at most, and 7,200
// with both extensions 1.1 s.
func raftBounds(o targets.Options, timeouts int) history.Bounds {
	silence := max(targets.Scaled(o, "election-timeout-min"), targets.Scaled(o, "election-timeout-max"))
	return targets.BoundsOf(silence, time.Duration(timeouts)*silence, targets.Scaled(o, "heartbeat"))
}
