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
		Row{
			Name: "hashicorp-raft-diverged-configuration",
			Bug: "Whoever is asked for its vote looks into its own configuration whether the candidate is a voter, though it is the candidate's that " +
				"counts. Where configurations have diverged, who has not heard yet that others were made voters refuses them; where its vote is " +
				"needed, and its own log is too short to win, nobody is elected. It came with 1.3.7, no version repairs it; the control is etcd's " +
				"library, where candidates alone look. The report has a cluster of 1.3.1 that elected nobody with two members of three, of which one " +
				"asked the other for no vote; why they differed it does not tell.",
			Sources: []string{
				"https://github.com/hashicorp/raft/issues/472", "https://github.com/hashicorp/raft/pull/477",
				"https://github.com/ongardie/dissertation#readme",
			},
			Property: "elects",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "hashicorp/raft 1.7.3",
			Controls: []Control{{About: "etcd's raft library 3.5.0", Target: "etcd-raft-server", Options: map[string]string{"version": "3.5.0"}}},
		},
		Row{
			Name: "hashicorp-raft-disk-stall",
			Bug: "A leader waits for its disk on one goroutine, and sends heartbeats on others, which need no disk. " +
				"So while its disk hangs all hear it, it keeps the lead, and nothing that is written gets through. No version repairs it; the " +
				"control is etcd, whose leader sends no heartbeats while it waits for its disk, and is replaced.",
			Sources: []string{
				"https://github.com/hashicorp/raft/issues/503", "https://github.com/hashicorp/raft/issues/666",
				"https://github.com/hashicorp/raft/pull/683", "https://github.com/hashicorp/consul/issues/22064",
			},
			Property: "progress",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "hashicorp/raft 1.7.3",
			Controls: []Control{{About: "etcd 3.6.16", Target: "etcd"}},
		},
	)
	registerSoak(SoakSystem{Name: "hashicorp-raft", About: "hashicorp/raft 1.7.3", Target: "hashicorp-raft", Nodes: 3})
}
