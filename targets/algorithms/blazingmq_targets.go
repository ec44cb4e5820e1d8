package algorithms

import (
	"slices"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

const blazingmqSource = `BlazingMQ, "Leader Election and State Machine Replication in BlazingMQ"`

func init() {
	targets.Register(&targets.Target{
		Name:     "blazingmq-term",
		About:    "BlazingMQ's elector with terms, before it learned to scout",
		Source:   blazingmqSource + `, "Updated Algorithm using Term"`,
		Options:  blazingmqOptions,
		Promises: targets.OnDisk(blazingmqPromises...),
		Bounds:   blazingmqBounds,
		Node:     func(o targets.Options, env election.Env) election.Node { return blazingmqNode(o, env, false) },
	})
	targets.Register(&targets.Target{
		Name:    "blazingmq-scouting",
		About:   "BlazingMQ's elector that asks for support before it proposes an election",
		Source:  blazingmqSource + `, "The ElectionScouting Request"`,
		Options: blazingmqOptions,
		Promises: targets.OnDisk(slices.Concat(blazingmqPromises, []targets.Promise{
			{
				Property: "elects",
				// Who is supported and then hears of no vote proposes again and again, in higher and higher terms.
				While:     blazingmqTiming + ", the nodes of a majority are all connected to each other, and no link loses messages of one kind",
				Suspended: targets.PicksMessages,
			},
			{
				Property: "sticky-leader",
				While:    blazingmqTiming + ", and whoever is supported in its scouting proposes an election at once",
				Unless:   targets.Delays,
			},
			{Property: "no-ping-pong", While: blazingmqTiming},
			{Property: "bounded-terms", While: blazingmqTiming},
		})...),
		Bounds: blazingmqBounds,
		Node:   func(o targets.Options, env election.Env) election.Node { return blazingmqNode(o, env, true) },
	})
}

const blazingmqTiming = "messages travel in less than a tenth of the time between heartbeats"

// Without scouting the elector does not promise to elect: a node that is heard but hears nothing proposes higher and
// higher terms, which all others honour, so that nobody else keeps a term for long enough to win it.
var blazingmqPromises = []targets.Promise{
	{Property: "single-leader-per-term"},
	{Property: "fencing"},
	{Property: "monotonic-term"},
	{Property: "vote-once"},
	{Property: "quorum"},
	{Property: "agreement"},
	{Property: "ordered-updates"},
	{Property: "learns-leader"},
}

// The waits are those of the article, where it gives them, and of the source's configuration elsewhere.
var blazingmqOptions = []targets.Option{
	targets.Scale("0.1"),
	{Name: "heartbeat", Kind: targets.Duration, Default: "2s", About: "time between a leader's heartbeats"},
	{Name: "missed", Kind: targets.Number, Default: "3", About: "how many missing heartbeats lose a leader, or a follower"},
	{Name: "random-wait", Kind: targets.Duration, Default: "3s", About: "longest random wait of a node without a leader"},
	{Name: "initial-wait", Kind: targets.Duration, Default: "8s", About: "wait of a node that starts, before its random wait"},
	{
		Name: "result-wait", Kind: targets.Duration, Default: "4s",
		About: "how long answers to a proposal or a scouting are waited for",
	},
	{
		Name: "forget-term", Kind: targets.Bool, Default: "false",
		About:  "a node starts with term 0, as the article has it: one that restarts says yes twice in a term",
		Breaks: []string{"single-leader-per-term", "fencing", "monotonic-term", "vote-once", "agreement", "ordered-updates"},
	},
}

func blazingmqNode(o targets.Options, env election.Env, scouting bool) election.Node {
	return newBlazingmq(blazingmqConfig{
		heartbeat:  targets.Scaled(o, "heartbeat"),
		silence:    blazingmqSilence(o),
		initial:    targets.Scaled(o, "initial-wait"),
		random:     targets.Scaled(o, "random-wait"),
		result:     targets.Scaled(o, "result-wait"),
		scouting:   scouting,
		forgetTerm: o.Bool("forget-term"),
	}, env)
}

func blazingmqSilence(o targets.Options) time.Duration {
	return time.Duration(o.Number("missed") * float64(targets.Scaled(o, "heartbeat")))
}

// blazingmqBounds allows six failed rounds for an election. Simulated with up to 9 nodes, messages of 1 to 20 ms and
// all links but those of one majority cut at random, 7,200 elections with scouting took 1.9 s at most at scale 0.1.
func blazingmqBounds(o targets.Options) history.Bounds {
	random := targets.Scaled(o, "random-wait")
	lost := max(blazingmqSilence(o), targets.Scaled(o, "initial-wait")) + random
	return targets.BoundsOf(lost, lost+6*(targets.Scaled(o, "result-wait")+random), targets.Scaled(o, "heartbeat"))
}
