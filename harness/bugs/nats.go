package bugs

import "recount/harness/record"

func init() {
	register(
		Row{
			Name: "nats-ping-pong",
			Bug: "One link between two of three servers is cut. The follower behind it is elected, the old leader goes on, and both hold " +
				"the third, which follows now the one and now the other: its term goes down again each time. 2.10.27 settles on one.",
			Sources:  []string{"https://github.com/nats-io/nats-server/releases/tag/v2.10.27"},
			Property: "monotonic-term",
			Also:     []string{"exclusive-leadership"},
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "NATS 2.10.20",
			Controls: []Control{{About: "NATS 2.10.27", Options: map[string]string{"version": "2.10.27"}}},
		},
		Row{
			Name: "nats-rejoin",
			Bug: "A server that was cut off comes back with a higher term and deposes a leader that never lost its majority: NATS has no " +
				"pre-vote. No version repairs it; the control is etcd, which asks first.",
			Sources:  []string{"https://github.com/nats-io/nats-server/pull/5331"},
			Property: "sticky-leader",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "NATS 2.12.15",
			Controls: []Control{{About: "etcd 3.6.16", Target: "etcd"}},
		},
		Row{
			Name: "nats-unsynced-vote",
			Bug: "A server writes its term and its vote, and does not wait until they are on the disk. Its machine dies, and it comes back " +
				"in an older term, in which it may vote once more. Since 2.10.23 it waits.",
			Sources:  []string{"https://github.com/nats-io/nats-server/pull/5848"},
			Property: "monotonic-term",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "NATS 2.10.22",
			Controls: []Control{{About: "NATS 2.10.27", Options: map[string]string{"version": "2.10.27"}}},
		},
		Row{
			Name: "nats-reverts-term",
			Bug: "A server that was cut off has counted its term up, and comes back without an entry that the others have got meanwhile. It hears " +
				"the leader of a lower term, begins to catch up, and takes its own term back to that of its last entry: it may vote once more where it " +
				"has voted. Since 2.10.23 it keeps its term, and does not heed a leader of a lower one.",
			Sources: []string{
				"https://github.com/nats-io/nats-server/pull/5684", "https://github.com/nats-io/nats-server/pull/5661",
				"https://github.com/nats-io/nats-server/pull/6171",
			},
			Property: "monotonic-term",
			On:       []string{record.OnVirtual},
			Affected: "NATS 2.10.22",
			Controls: []Control{{About: "NATS 2.10.23", Options: map[string]string{"version": "2.10.23"}}},
		},
	)
	registerSoak(SoakSystem{
		Name: "nats", About: "NATS 2.12.15", Target: "nats", Nodes: 3,
		Without: []string{"disk-errors", "disk-full"},
		Because: "a server that cannot store its term leaves its group until it is started again",
	})
}
