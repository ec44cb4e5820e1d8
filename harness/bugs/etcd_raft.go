package bugs

import "recount/harness/record"

func init() {
	register(
		Row{
			Name: "etcd-raft-deaf-leader",
			Bug: "A leader that hears nobody stays the leader for ever, unless the option CheckQuorum, off by default, has it step " +
				"down. Where it is still heard, as here, it keeps everybody else from leading.",
			Sources:  []string{"https://pkg.go.dev/go.etcd.io/raft/v3#Config", "https://decentralizedthoughts.github.io/2020-12-12-raft-liveness-full-omission/"},
			Property: "elects",
			On:       []string{record.OnSim, record.OnDocker},
			Affected: "etcd's raft library, check-quorum off",
			Controls: []Control{{About: "the same, check-quorum on", Options: map[string]string{"check-quorum": "true"}}},
		},
		Row{
			Name: "etcd-raft-term-inflation",
			Bug: "A follower that is cut off counts its term up for as long as that lasts, unless the option PreVote, off by default, " +
				"has it ask first.",
			Sources:  []string{"https://pkg.go.dev/go.etcd.io/raft/v3#Config", "https://github.com/etcd-io/etcd/issues/9333"},
			Property: "bounded-terms",
			Also:     []string{"sticky-leader"},
			On:       []string{record.OnSim, record.OnDocker},
			Affected: "etcd's raft library, pre-vote off",
			Controls: []Control{{About: "the same, pre-vote on", Options: map[string]string{"pre-vote": "true"}}},
		},
		Row{
			Name: "etcd-raft-lease-outlasts",
			Bug: "With ReadOnlyLeaseBased a leader reads without asking anybody for as long as check-quorum leaves it in office. That looks " +
				"once in an election timeout whether a majority has answered since it looked last, so a leader that is cut off reads on for " +
				"up to two, and its followers elect another after one.",
			Sources:  []string{"https://github.com/etcd-io/raft/issues/166", "https://pkg.go.dev/go.etcd.io/raft/v3#ReadOnlyOption"},
			Property: "linearizable",
			On:       []string{record.OnSim, record.OnDocker},
			Affected: "etcd's raft library, ReadOnlyLeaseBased",
			Controls: []Control{{About: "the same, ReadOnlySafe", Options: map[string]string{"reads": "safe"}}},
		},
		Row{
			Name: "etcd-raft-lease-read-transfer",
			Bug: "With ReadOnlyLeaseBased a leader that was asked to hand over reads on by its lease. Those who elect its heir are not bound " +
				"by that lease, as the leader itself has asked for the campaign.",
			Sources:  []string{"https://github.com/etcd-io/raft/issues/99", "https://github.com/etcd-io/etcd/issues/12704"},
			Property: "linearizable",
			On:       []string{record.OnSim, record.OnDocker},
			Affected: "etcd's raft library, ReadOnlyLeaseBased",
			Controls: []Control{{About: "the same, ReadOnlySafe", Options: map[string]string{"reads": "safe"}}},
		},
	)
	registerSoak(SoakSystem{Name: "etcd-raft", About: "etcd's raft library", Target: "etcd-raft", Nodes: 3})
	registerSoak(SoakSystem{Name: "dragonboat", About: "dragonboat v4", Target: "dragonboat", Nodes: 3})
}
