package targets

import (
	"slices"
	"time"

	"recount/election"
	"recount/history"
)

func init() {
	Register(&Target{
		Name:    "raft",
		About:   "Raft's election as in its paper",
		Source:  `Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", section 5`,
		Options: raftOptions("false"),
		// Neither stickiness nor the absence of ping-pong: any node that times out takes all others to its next term.
		Promises: onDisk(slices.Concat(raftPromises, []Promise{
			// Without check-quorum a leader that is heard but hears nobody goes on leading, and keeps all others from it.
			{Property: "elects", While: raftElects + ", and links are cut both ways if at all", Unless: cutsOneWay},
		})...),
		Unpromised: raftUnpromised,
		Bounds:     func(o Options) history.Bounds { return raftBounds(o, 20) },
		Node:       raftNode,
	})
	Register(&Target{
		Name:    "raft-prevote",
		About:   "Raft's election with pre-vote and check-quorum",
		Source:  `Ongaro, "Consensus: Bridging Theory and Practice", sections 4.2.3, 6.2 and 9.6`,
		Options: raftOptions("true"),
		Promises: onDisk(slices.Concat(raftPromises, []Promise{
			{Property: "elects", While: raftElects},
			// A node can win its pre-vote just before the voters hear from a leader again, and then not the vote, having
			// entered the next term alone. If it is cut off then, its return deposes the leader that the others follow. In
			// 1,000 simulated minutes with all faults at random, often two at once, this came about once.
			{Property: "sticky-leader", While: raftTiming + ", and " + votesAtOnce, Unless: delays},
			{Property: "no-ping-pong", While: raftTiming},
			{Property: "bounded-terms", While: raftTiming},
		})...),
		Unpromised: raftUnpromised,
		Bounds:     func(o Options) history.Bounds { return raftBounds(o, 10) },
		Node:       raftNode,
	})
}

const raftTiming = "messages travel in less than a fifth of the shortest election timeout"

// votesAtOnce is what a leader's stay rests on, where pre-vote protects it. Whoever has won its pre-vote holds a higher term
// from then on, and deposes the leader with it, if one was elected meanwhile.
const votesAtOnce = "whoever wins its pre-vote begins the vote at once"

var raftPromises = []Promise{
	{Property: "single-leader-per-term"},
	{Property: "fencing"},
	{Property: "monotonic-term"},
	{Property: "vote-once"},
	{Property: "ordered-updates"},
	{Property: "linearizable"},
}

const raftElects = raftTiming + ", and the nodes of a majority are all connected to each other"

// raftUnpromised is what the two extensions decide together.
func raftUnpromised(o Options) []string {
	switch {
	case !o.Bool("pre-vote"):
		return []string{"sticky-leader", "no-ping-pong", "bounded-terms"}
	case !o.Bool("check-quorum"):
		// A leader that has lost its majority goes on holding those that still hear it: they vote for nobody else.
		return []string{"elects"}
	}
	return nil
}

func raftOptions(extensions string) []Option {
	return append([]Option{
		scale("1"),
		{
			Name: "election-timeout-min", Kind: Duration, Default: "150ms",
			About: "shortest silence after which a node campaigns",
		},
		{
			Name: "election-timeout-max", Kind: Duration, Default: "300ms",
			About: "longest such silence; no less than the shortest",
		},
		{Name: "heartbeat", Kind: Duration, Default: "50ms", About: "time between a leader's heartbeats"},
		{
			Name: "pre-vote", Kind: Bool, Default: extensions,
			About: "ask whether a campaign could be won before entering a new term",
		},
		{
			Name: "check-quorum", Kind: Bool, Default: extensions,
			About: "a leader without answers from a majority steps down, and who hears a leader ignores candidates",
		},
	}, raftFootguns...)
}

func raftNode(o Options, env election.Env) election.Node {
	shortest := scaled(o, "election-timeout-min")
	return newRaft(raftConfig{
		timeoutMin:  shortest,
		timeoutMax:  max(shortest, scaled(o, "election-timeout-max")),
		heartbeat:   scaled(o, "heartbeat"),
		preVote:     o.Bool("pre-vote"),
		checkQuorum: o.Bool("check-quorum"),
		footguns: footguns{
			synchronizedTimeouts: o.Bool("synchronized-timeouts"),
			ignoreHigherTerm:     o.Bool("ignore-higher-term"),
			forgetVote:           o.Bool("forget-vote"),
			unsyncedVote:         o.Bool("unsynced-vote"),
			noQuorumCheck:        o.Bool("no-quorum-check"),
			noHeartbeatTimeout:   o.Bool("no-heartbeat-timeout"),
			voteTwice:            o.Bool("vote-twice"),
			staleLog:             o.Bool("stale-log"),
			minorityQuorum:       o.Bool("minority-quorum"),
		},
	}, env)
}

// raftBounds allows as many election timeouts for an election. Simulated with up to 9 nodes, messages of 1 to 20 ms and
// all links but those of one majority cut at random, 9,600 elections of the paper's Raft took 3.1 s at most, and 7,200
// with both extensions 1.1 s.
func raftBounds(o Options, timeouts int) history.Bounds {
	silence := max(scaled(o, "election-timeout-min"), scaled(o, "election-timeout-max"))
	return bounds(silence, time.Duration(timeouts)*silence, scaled(o, "heartbeat"))
}
