package algorithms

import "recount/targets"

// raftFootguns are the mistakes that raft can be made with, and what each breaks. A vote that is lost, or given twice,
// lets two nodes win one term; then nothing holds that rests on there being one winner.
var raftFootguns = []targets.Option{
	footgun("synchronized-timeouts", "nodes campaign at the same instants, and split the vote again and again",
		"elects"),
	footgun("ignore-higher-term", "a leader does not step down for a higher term: it goes on besides its successor",
		"exclusive-leadership", "agreement", "sticky-leader", "elects", "learns-leader", "progress"),
	footgun("forget-vote", "term and vote are not on disk: a node that restarts votes twice",
		"single-leader-per-term", "fencing", "monotonic-term", "vote-once", "agreement", "linearizable", "ordered-updates"),
	footgun("unsynced-vote", "term and vote are written and not synced: a node whose machine dies votes twice",
		"single-leader-per-term", "fencing", "monotonic-term", "vote-once", "agreement", "linearizable", "ordered-updates"),
	footgun("no-quorum-check", "a leader that is cut off with a minority goes on to serve reads, with check-quorum or without",
		"exclusive-leadership", "elects", "linearizable"),
	footgun("no-heartbeat-timeout", "a follower does not miss its leader: a dead one is never replaced",
		"elects"),
	footgun("vote-twice", "a node votes for whoever asks, also in a term in which it has voted",
		"single-leader-per-term", "fencing", "vote-once", "agreement", "linearizable", "ordered-updates"),
	footgun("stale-log", "a node votes for a candidate whose log is older: an elected leader lacks what was committed",
		"linearizable", "ordered-updates"),
	footgun("minority-quorum", "half of the nodes are taken for a majority: both halves of an even split elect",
		"single-leader-per-term", "fencing", "quorum", "exclusive-leadership", "agreement", "sticky-leader", "no-ping-pong",
		"bounded-terms", "elects", "linearizable", "ordered-updates"),
	footgun("no-backtrack", "a leader does not go back for a follower whose log differs: once too many do, it leads in name only",
		"progress"),
	footgun("leader-by-vote", "a node takes nobody for the leader but whom it voted for: if it was away, it knows of none",
		"learns-leader", "sticky-leader"),
}

func footgun(name, about string, breaks ...string) targets.Option {
	return targets.Option{Name: name, Kind: targets.Bool, Default: "false", About: about, Breaks: breaks}
}
