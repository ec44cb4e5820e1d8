package bugs

import "recount/harness/record"

func init() {
	register(
		Row{
			Name: "hashicorp-raft-rejoin",
			Bug: "A follower that was cut off comes back with a higher term and deposes a leader that never lost its majority. " +
				"Pre-vote, in 1.7.0 and on by default, has it ask first.",
			Sources:  []string{"https://github.com/hashicorp/raft/pull/474", "https://github.com/hashicorp/raft/pull/530"},
			Property: "sticky-leader",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "hashicorp/raft 1.6.1",
			Controls: []Control{{About: "hashicorp/raft 1.7.3", Options: map[string]string{"version": "1.7.3"}}},
		},
		Row{
			Name: "hashicorp-raft-backoff",
			Bug: "While a follower is down, the leader waits longer and longer between two heartbeats to it, up to 41 s. The follower " +
				"comes back, hears nothing, campaigns, and the leader is gone. Since the repair the leader waits half a heartbeat timeout at most.",
			Sources:  []string{"https://github.com/hashicorp/raft/pull/494", "https://github.com/hashicorp/vault/issues/14153"},
			Property: "sticky-leader",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "hashicorp/raft 1.3.9",
			Controls: []Control{{About: "hashicorp/raft 1.6.1", Options: map[string]string{"version": "1.6.1"}}},
		},
		Row{
			Name: "hashicorp-raft-heartbeat-race",
			Bug: "Heartbeats are handled on the goroutine of their connection, beside the main one and beside each other, and nothing holds " +
				"together that a term is found to be higher and that it is stored. Of two heartbeats that come at one time, of a leader and of " +
				"its successor, the older one may be stored last: the term goes down. The same race has diverged logs (Antithesis, 2026). " +
				"No version repairs it; the control is etcd, which handles one message at a time.",
			Sources:  []string{"https://github.com/hashicorp/raft/issues/695", "https://github.com/hashicorp/raft/pull/701"},
			Property: "monotonic-term",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "hashicorp/raft 1.7.3",
			Controls: []Control{{About: "etcd 3.6.16", Target: "etcd"}},
		},
	)
	registerSoak(SoakSystem{Name: "hashicorp-raft", About: "hashicorp/raft 1.7.3", Target: "hashicorp-raft", Nodes: 3})
}
