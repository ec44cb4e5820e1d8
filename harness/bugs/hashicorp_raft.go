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
	)
	registerSoak(SoakSystem{Name: "hashicorp-raft", About: "hashicorp/raft 1.7.3", Target: "hashicorp-raft", Nodes: 3})
}
