package targets

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

// etcd's election and lock for clients, through real servers. What its makers say of it:
//
//   - a lock or an election alone protects nothing; the revision has to be checked by what it protects:
//     https://etcd.io/docs/v3.6/learning/why/#notes-on-the-usage-of-lock-and-lease
//   - an election's keys and their revisions: https://pkg.go.dev/go.etcd.io/etcd/client/v3/concurrency#Election
//   - the lock service: https://etcd.io/docs/v3.6/dev-guide/api_concurrency_reference_v3/
//   - granted to a waiter whose lease was gone, before 3.5 (and 3.4.28): https://github.com/etcd-io/etcd/issues/11456
func etcdElectionReal() *Target {
	return &Target{
		About:  "candidates in containers of their own that elect through real etcd servers, with its own client",
		Source: "https://etcd.io/docs/v3.6/learning/why/#notes-on-the-usage-of-lock-and-lease",
		Options: []Option{
			{Name: "version", Kind: Text, Default: "3.6.16", About: "of the servers: 3.4.15, 3.4.23, or any 3.5, 3.6 or 3.7"},
			{Name: "client", Kind: Text, Default: "3.6.4", About: "version of the client: any 3.5, 3.6 or 3.7"},
			serversOption("3"),
			{
				Name: "api", Kind: Choice, Default: "election", Choices: []string{"election", "lock"},
				About: "concurrency.Election of the client, or the lock service of the servers",
			},
			{Name: "ttl", Kind: Duration, Default: "3s", About: "how long a lease lasts that is not kept alive, in whole seconds"},
		},
		Promises: servicePromises(),
		Unpromised: func(o Options) []string {
			if o.Value("api") == "lock" && strings.HasPrefix(o.Value("version"), "3.4.") {
				return []string{"single-leader-per-term", "agreement", "fencing"}
			}
			return nil
		},
		Bounds: func(o Options) history.Bounds {
			ttl := o.Duration("ttl")
			return history.Bounds{
				Silence: ttl + time.Second, // servers look for leases that are over twice a second
				// A session that the client has to find out about, another to begin, and a new leader of the servers.
				Elect: 3*ttl + 20*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		Servers: countServers,
		System:  newEtcdElection,
	}
}

func newEtcdElection(o Options) (election.System, error) {
	ttl := o.Duration("ttl")
	if ttl < 2*time.Second || ttl%time.Second != 0 {
		return nil, fmt.Errorf("targets: etcd-election: %w", hint.Add(fmt.Errorf("option ttl: %v", ttl), "leases last whole seconds, 2s or more"))
	}
	servers, err := etcdServers(o.Value("version"))
	if err != nil {
		return nil, err
	}
	return &service{
		numbered: true,
		image:    election.Image{Recipe: "etcd-candidate", Version: o.Value("client")},
		servers:  servers,
		flags: func(_ election.Member, _, servers []election.Member) []string {
			return []string{
				"-endpoints=" + addresses(servers, "http://%s", etcdClientPort),
				"-ttl=" + strconv.Itoa(int(ttl.Seconds())),
				"-api=" + o.Value("api"),
			}
		},
	}, nil
}

// etcdServers is the driver of servers of that version alone.
func etcdServers(version string) (election.System, error) {
	return serversOf("etcd", map[string]string{"version": version})
}
