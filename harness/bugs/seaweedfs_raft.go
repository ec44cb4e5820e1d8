package bugs

import "recount/harness/record"

func init() {
	register(
		Row{
			Name: "seaweedfs-raft-forgets-term",
			Bug: "Neither term nor vote is ever stored: a member that dies comes back in the term of the last entry of its log, and may vote once " +
				"more in a term in which it has voted.",
			Sources:  []string{"https://github.com/seaweedfs/seaweedfs/pull/8677"},
			Property: "monotonic-term",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "seaweedfs/raft 1.1.3",
			Controls: []Control{{About: "seaweedfs/raft 1.2.0", Options: map[string]string{"version": "1.2.0"}}},
		},
		Row{
			Name: "seaweedfs-raft-rejoin",
			Bug: "A master that was cut off comes back with a higher term and deposes a leader that never lost its majority: the library has no " +
				"pre-vote. No version repairs it; the control is etcd, which asks first.",
			Sources:  []string{"https://github.com/seaweedfs/seaweedfs/issues/629"},
			Property: "sticky-leader",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "seaweedfs/raft 1.2.0",
			Controls: []Control{{About: "etcd 3.6.16", Target: "etcd"}},
		},
	)
	registerSoak(SoakSystem{Name: "seaweedfs-raft", About: "seaweedfs/raft 1.2.0", Target: "seaweedfs-raft", Nodes: 3})
}
