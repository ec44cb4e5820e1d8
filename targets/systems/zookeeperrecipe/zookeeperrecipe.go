// Package zookeeperrecipe is the recipe for a lock that ZooKeeper documents, through real servers.
package zookeeperrecipe

import (
	"fmt"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/systems"
	"recount/targets/systems/zookeeper"
)

// ZooKeeper's recipe for a lock, through real servers, by the client that most programs in Go use. What is said of it:
//
//   - the recipe, and that the lock may be lost while its holder does not know:
//     https://zookeeper.apache.org/doc/r3.8.0/recipes.html#sc_recipes_Locks
//   - what a client may believe while it is disconnected: https://zookeeper.apache.org/doc/r3.8.0/zookeeperProgrammers.html#ch_zkSessions
//   - the client: https://pkg.go.dev/github.com/go-zookeeper/zk#Lock
func init() {
	targets.Register(&targets.Target{
		Name:   "zookeeper-recipe",
		About:  "candidates in containers of their own that take a lock of real ZooKeeper servers, with go-zookeeper/zk",
		Source: "https://zookeeper.apache.org/doc/r3.8.0/recipes.html#sc_recipes_Locks",
		Options: []targets.Option{
			{Name: "version", Kind: targets.Choice, Default: zookeeper.Version, Choices: []string{zookeeper.Version}, About: "of the servers"},
			{Name: "client", Kind: targets.Choice, Default: "1.0.4", Choices: []string{"1.0.3", "1.0.4"}, About: "version of go-zookeeper/zk"},
			systems.ServersOption("3"),
			{Name: "session-timeout", Kind: targets.Duration, Default: "3s", About: "silence after which the servers end a session: 1s to 10s"},
		},
		Promises: systems.ServicePromises(),
		Bounds: func(o targets.Options) history.Bounds {
			timeout := o.Duration("session-timeout")
			return history.Bounds{
				Silence: timeout + time.Second, // servers look for sessions that are over once a tick
				Elect:   3*timeout + 30*time.Second,
				Poll:    50 * time.Millisecond,
			}
		},
		Servers: systems.CountServers,
		System:  newSystem,
	})
}

func newSystem(o targets.Options) (election.System, error) {
	if t := o.Duration("session-timeout"); t < time.Second || t > 10*time.Second {
		return nil, fmt.Errorf("zookeeper-recipe: %w", hint.Add(fmt.Errorf("option session-timeout: %v", t), "servers grant 1s to 10s"))
	}
	candidate := election.Image{Recipe: "zookeeper-candidate", Version: o.Value("client")}
	if err := systems.CheckVersion("client", candidate); err != nil {
		return nil, fmt.Errorf("zookeeper-recipe: %w", err)
	}
	servers, err := zookeeper.Servers(o.Value("version"))
	if err != nil {
		return nil, err
	}
	return &systems.Service{
		Numbered:  true,
		Candidate: candidate,
		Servers:   servers,
		Flags: func(_ election.Member, _, servers []election.Member) []string {
			return []string{
				"-servers=" + systems.Addresses(servers, "%s", zookeeper.ClientPort),
				"-session-timeout=" + o.Value("session-timeout"),
			}
		},
	}, nil
}
