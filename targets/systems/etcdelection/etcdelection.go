// Package etcdelection is the election and the lock that etcd has for its clients, through real servers.
package etcdelection

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/systems"
	"recount/targets/systems/etcd"
)

// etcd's election and lock for clients, through real servers. What its makers say of it:
//
//   - a lock or an election alone protects nothing; the revision has to be checked by what it protects:
//     https://etcd.io/docs/v3.6/learning/why/#notes-on-the-usage-of-lock-and-lease
//   - an election's keys and their revisions: https://pkg.go.dev/go.etcd.io/etcd/client/v3/concurrency#Election
//   - the lock service: https://etcd.io/docs/v3.6/dev-guide/api_concurrency_reference_v3/
//   - granted to a waiter whose lease was gone, before 3.5 (and 3.4.28): https://github.com/etcd-io/etcd/issues/11456
func init() {
	targets.Register(&targets.Target{
		Name:   "etcd-election",
		About:  "candidates in containers of their own that elect through real etcd servers, with its own client",
		Source: "https://etcd.io/docs/v3.6/learning/why/#notes-on-the-usage-of-lock-and-lease",
		Options: []targets.Option{
			{Name: "version", Kind: targets.Text, Default: "3.6.16", About: "of the servers: 3.4.15, 3.4.23, or any 3.5, 3.6 or 3.7"},
			{Name: "client", Kind: targets.Text, Default: "3.6.4", About: "version of the client: any 3.5, 3.6 or 3.7"},
			systems.ServersOption("3"),
			{
				Name: "api", Kind: targets.Choice, Default: "election", Choices: []string{"election", "lock"},
				About: "concurrency.Election of the client, or the lock service of the servers",
			},
			{
				Name: "watch-session", Kind: targets.Bool, Default: "true",
				About: "with the election, a candidate that waits gives up when its session ends; the client leaves that to those who use it",
			},
			{Name: "ttl", Kind: targets.Duration, Default: "3s", About: "how long a lease lasts that is not kept alive, in whole seconds"},
		},
		Promises: systems.ServicePromises(),
		Unpromised: func(o targets.Options) []string {
			if o.Value("api") == "lock" && strings.HasPrefix(o.Value("version"), "3.4.") {
				return []string{"single-leader-per-term", "agreement", "fencing"}
			}
			return nil
		},
		Bounds: func(o targets.Options) history.Bounds {
			ttl := o.Duration("ttl")
			return history.Bounds{
				Silence: ttl + time.Second, // servers look for leases that are over twice a second
				// A session that the client has to find out about, another to begin, and a new leader of the servers.
				Elect: 3*ttl + 20*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		Servers: systems.CountServers,
		System:  newSystem,
	})
}

func newSystem(o targets.Options) (election.System, error) {
	ttl := o.Duration("ttl")
	if ttl < 2*time.Second || ttl%time.Second != 0 {
		return nil, fmt.Errorf("etcd-election: %w", hint.Add(fmt.Errorf("option ttl: %v", ttl), "leases last whole seconds, 2s or more"))
	}
	candidate := election.Image{Recipe: "etcd-candidate", Version: o.Value("client")}
	if err := systems.CheckVersion("client", candidate); err != nil {
		return nil, fmt.Errorf("etcd-election: %w", err)
	}
	servers, err := etcd.Servers(o.Value("version"))
	if err != nil {
		return nil, err
	}
	return &systems.Service{
		Numbered:  true,
		Candidate: candidate,
		Servers:   servers,
		Flags: func(_ election.Member, _, servers []election.Member) []string {
			return []string{
				"-endpoints=" + systems.Addresses(servers, "http://%s", etcd.ClientPort),
				"-ttl=" + strconv.Itoa(int(ttl.Seconds())),
				"-api=" + o.Value("api"),
				"-watch-session=" + o.Value("watch-session"),
			}
		},
	}, nil
}
