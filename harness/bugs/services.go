package bugs

import "recount/harness/record"

// What goes wrong where candidates elect through a service.
func init() {
	checked := []Control{{About: "the same, with the token checked", Workloads: []string{"fence"}}}
	register(
		Row{
			Name: "etcd-election-lost-session",
			Bug: "A candidate waits in Campaign, and its session ends. Campaign waits on: when those before it are gone it says that the candidate " +
				"leads, which has no key any more, while another one leads indeed. The client's makers leave it to those who use it to watch the " +
				"session; an operator of PostgreSQL that did not had no failover for twelve hours.",
			Sources: []string{
				"https://github.com/cagriekin/charts/issues/326", "https://github.com/etcd-io/etcd/issues/12334",
				"https://pkg.go.dev/go.etcd.io/etcd/client/v3/concurrency#Election.Campaign",
			},
			Property: "exclusive-leadership",
			On:       []string{record.OnVirtual},
			Affected: "etcd 3.6.16, clientv3/concurrency 3.6.4, session not watched",
			Controls: []Control{{About: "the same, session watched", Options: map[string]string{"watch-session": "true"}}},
		},
		Row{
			Name: "etcd-election-paused-leader",
			Bug: "A leader elected through etcd stands still until its lease is over and somebody else leads, goes on, and writes. " +
				"An election keeps nobody from writing; the revision of the leader's key, checked by what is written to, does.",
			Sources: []string{
				"https://jepsen.io/analyses/etcd-3.4.3",
				"https://etcd.io/docs/v3.6/learning/why/#notes-on-the-usage-of-lock-and-lease",
			},
			Property: "fencing",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "etcd 3.6.16, clientv3/concurrency 3.6.4, revision not checked",
			Controls: checked,
		},
		Row{
			Name: "etcd-lock-expired-waiter",
			Bug: "Who waits for a lock of etcd until its lease is gone is told that it has the lock as soon as the holder gives it " +
				"back, and so is the next one in line.",
			Sources:  []string{"https://github.com/etcd-io/etcd/issues/11456", "https://jepsen.io/analyses/etcd-3.4.3"},
			Property: "single-leader-per-term",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "etcd 3.4.23, /v3/lock/lock",
			Virtual:  "3.4.15",
			Controls: []Control{{About: "etcd 3.5.35", Options: map[string]string{"version": "3.5.35"}}},
		},
		Row{
			Name: "zookeeper-lock-paused-holder",
			Bug: "Who has a lock of ZooKeeper stands still until its session is over and somebody else has the lock, goes on, and " +
				"writes. The id of the transaction that made its lock (czxid), checked by what is written to, tells.",
			Sources: []string{
				"https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html",
				"https://zookeeper.apache.org/doc/r3.8.0/recipes.html#sc_recipes_Locks",
			},
			Property: "fencing",
			On:       []string{record.OnDocker},
			Affected: "ZooKeeper 3.8.0, go-zookeeper/zk 1.0.4, czxid not checked",
			Controls: checked,
		},
		Row{
			Name: "redis-sentinel-old-master",
			Bug: "A master of Redis that is cut off from all others goes on taking writes after the sentinels have made another one, " +
				"and loses them when it is back.",
			Sources: []string{
				"https://github.com/redis/redis/issues/1073",
				"https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#example-2-basic-setup-with-three-boxes",
			},
			Property: "exclusive-leadership",
			On:       []string{record.OnDocker},
			Affected: "Redis and Sentinel 7.0.15",
			Controls: []Control{{About: "the same, min-replicas-to-write 1", Options: map[string]string{"min-replicas-to-write": "1"}}},
		},
		Row{
			Name: "redlock-restart",
			Bug: "Two of three Redis servers that hold a lock by Redlock restart without having written it to disk, and give it to " +
				"somebody else while its holder has it still.",
			Sources: []string{
				"https://redis.io/docs/latest/develop/use/patterns/distributed-locks/#performance-crash-recovery-and-fsync",
				"https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html",
			},
			Property: "exclusive-leadership",
			On:       []string{record.OnDocker},
			Affected: "Redis 7.0.15, go-redsync 4.13.0, no persistence",
			Controls: []Control{{About: "the same, appendfsync always", Options: map[string]string{"persistence": "always"}}},
		},
		Row{
			Name: "controller-runtime-shutdown",
			Bug: "A manager that does not lead is asked to end, and on its way out starts what only a leader is to do, beside the leader. Since " +
				"0.17.3 it does not start what was not started before.",
			Sources: []string{
				"https://github.com/kubernetes-sigs/controller-runtime/issues/2719", "https://github.com/kubernetes-sigs/controller-runtime/pull/2724",
			},
			Property: "exclusive-leadership",
			Also:     []string{"single-leader-per-term"},
			On:       []string{record.OnVirtual},
			Affected: "controller-runtime 0.17.2, client-go 0.29.0",
			Controls: []Control{{About: "controller-runtime 0.17.3, client-go 0.29.2", Options: map[string]string{"version": "0.17.3"}}},
		},
		Row{
			Name: "client-go-lease-duration",
			Bug: "A candidate waits for its own lease duration before it takes the lease, not for the one that the holder has " +
				"written into it. If its own is shorter, it takes a lease that is being renewed.",
			Sources:  []string{"https://github.com/kubernetes/kubernetes/issues/47671"},
			Property: "exclusive-leadership",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "client-go 0.26.15",
			Controls: []Control{{About: "client-go 0.34.1", Options: map[string]string{"version": "0.34.1"}}},
		},
		Row{
			Name: "client-go-release-on-cancel",
			Bug: "With ReleaseOnCancel a leader that is asked to end gives the lease back while its work still runs, and its " +
				"successor begins.",
			Sources:  []string{"https://github.com/kubernetes/client-go/issues/728"},
			Property: "exclusive-leadership",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "client-go 0.34.1, ReleaseOnCancel",
			Controls: []Control{{About: "the same, without", Options: map[string]string{"release-on-cancel": "false"}}},
		},
	)
	registerSoak(
		SoakSystem{Name: "zookeeper", About: "ZooKeeper 3.8.0", Target: "zookeeper", Nodes: 3,
			Without: []string{"crash", "lose-writes"},
			Because: "a server whose machine died may refuse to start again, as its first snapshot, and the names of the files " +
				"with its epochs, are not synced (\"The accepted epoch, 7 is less than the current epoch, 8\")"},
		SoakSystem{Name: "redis-sentinel", About: "Redis and Sentinel 7.0.15", Target: "redis-sentinel", Nodes: 3},
		SoakSystem{Name: "etcd-election", About: "etcd 3.6.16, clientv3/concurrency 3.6.4", Target: "etcd-election", Nodes: 3},
		SoakSystem{Name: "zookeeper-recipe", About: "ZooKeeper 3.8.0, go-zookeeper/zk 1.0.4", Target: "zookeeper-recipe", Nodes: 3},
		SoakSystem{Name: "redlock", About: "Redis 7.0.15, go-redsync 4.13.0", Target: "redlock", Nodes: 3},
		SoakSystem{Name: "kubernetes-lease", About: "client-go 0.34.1 over etcd 3.6.16", Target: "kubernetes-lease", Nodes: 3},
		SoakSystem{
			Name: "kubernetes-lease-apiserver", About: "client-go 0.34.1 over kube-apiserver 1.34.4",
			Target: "kubernetes-lease", Options: map[string]string{"server": "apiserver"}, Nodes: 3,
		},
	)
}
