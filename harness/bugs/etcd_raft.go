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
	)
	registerSoak(SoakSystem{Name: "etcd-raft", About: "etcd's raft library", Target: "etcd-raft", Nodes: 3})
	registerSoak(SoakSystem{Name: "dragonboat", About: "dragonboat v4", Target: "dragonboat", Nodes: 3})
}
