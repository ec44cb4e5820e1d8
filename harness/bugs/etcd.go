package bugs

import "recount/harness/record"

func init() {
	register(
		Row{
			Name: "etcd-rejoin",
			Bug: "A member that was cut off comes back with a higher term and deposes a leader that never lost its majority. " +
				"Pre-vote, an option since 3.4 and the default since 3.5, has it ask first.",
			Sources:  []string{"https://github.com/etcd-io/etcd/issues/8499", "https://github.com/etcd-io/etcd/issues/12959"},
			Property: "sticky-leader",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "etcd 3.4.23",
			Virtual:  "3.4.15",
			Controls: []Control{
				{About: "etcd 3.4.23, pre-vote on", Options: map[string]string{"pre-vote": "true"}},
				{About: "etcd 3.6.16", Options: map[string]string{"version": "3.6.16"}},
			},
		},
		Row{
			Name: "etcd-flapping-link",
			Bug: "The link between the leader and one follower goes down and comes back, whoever leads. Each time the follower " +
				"campaigns and takes the leadership, as in the outage of 2 November 2020 that a half-failed switch caused at Cloudflare.",
			Sources: []string{
				"https://blog.cloudflare.com/a-byzantine-failure-in-the-real-world/",
				"https://github.com/etcd-io/etcd/blob/main/CHANGELOG/CHANGELOG-3.5.md",
			},
			Property: "sticky-leader",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "etcd 3.4.23",
			Virtual:  "3.4.15",
			Controls: []Control{{About: "etcd 3.4.23, pre-vote on", Options: map[string]string{"pre-vote": "true"}}},
		},
		Row{
			Name: "etcd-orphan",
			Bug: "One link is down, between the leader and a follower. The follower has no leader for as long as that lasts: the third " +
				"member hears the leader and refuses it its vote. Its term grows, and when the link is back it deposes the leader. Pre-vote " +
				"mends the end of it; that the follower is left alone meanwhile is so in every version with check-quorum, since 3.0.",
			Sources:  []string{"https://github.com/etcd-io/etcd/issues/8129"},
			Property: "sticky-leader",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "etcd 3.4.23",
			Virtual:  "3.4.15",
			Controls: []Control{{About: "etcd 3.4.23, pre-vote on", Options: map[string]string{"pre-vote": "true"}}},
		},
	)
	registerSoak(SoakSystem{Name: "etcd", About: "etcd 3.6.16", Target: "etcd", Nodes: 5})
}
