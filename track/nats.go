package track

import "recount/harness"

func init() {
	register(
		Row{
			Name: "nats-ping-pong",
			Bug: "One link between two of three servers is cut. Both its ends take the leadership of the meta group from each other " +
				"through the third, for as long as the link is down. 2.10.27 settles.",
			Sources:  []string{"https://github.com/nats-io/nats-server/releases/tag/v2.10.27"},
			Property: "no-ping-pong",
			On:       harness.OnDocker,
			Affected: "NATS 2.10.20",
			Controls: []Control{{About: "NATS 2.10.27", Options: map[string]string{"version": "2.10.27"}}},
		},
		Row{
			Name: "nats-rejoin",
			Bug: "A server that was cut off comes back with a higher term and deposes a leader that never lost its majority: NATS has no " +
				"pre-vote. No version repairs it; the control is etcd, which asks first.",
			Sources:  []string{"https://github.com/nats-io/nats-server/pull/5331"},
			Property: "sticky-leader",
			On:       harness.OnDocker,
			Affected: "NATS 2.12.15",
			Controls: []Control{{About: "etcd 3.6.16", Target: "etcd"}},
		},
	)
	registerSoak(Long{Name: "nats", About: "NATS 2.12.15", Target: "nats", Nodes: 3})
}
