package targets

import (
	"fmt"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

// ZooKeeper's recipe for a lock, through real servers, by the client that most programs in Go use. What is said of it:
//
//   - the recipe, and that the lock may be lost while its holder does not know:
//     https://zookeeper.apache.org/doc/r3.8.0/recipes.html#sc_recipes_Locks
//   - what a client may believe while it is disconnected: https://zookeeper.apache.org/doc/r3.8.0/zookeeperProgrammers.html#ch_zkSessions
//   - the client: https://pkg.go.dev/github.com/go-zookeeper/zk#Lock
func zookeeperRecipeReal() *Target {
	return &Target{
		About:  "candidates in containers of their own that take a lock of real ZooKeeper servers, with go-zookeeper/zk",
		Source: "https://zookeeper.apache.org/doc/r3.8.0/recipes.html#sc_recipes_Locks",
		Options: []Option{
			{Name: "version", Kind: Choice, Default: "3.8.0", Choices: []string{"3.8.0"}, About: "of the servers"},
			{Name: "client", Kind: Choice, Default: "1.0.4", Choices: []string{"1.0.3", "1.0.4"}, About: "version of go-zookeeper/zk"},
			serversOption("3"),
			{Name: "session-timeout", Kind: Duration, Default: "3s", About: "silence after which the servers end a session: 1s to 10s"},
		},
		Promises: servicePromises(),
		Bounds: func(o Options) history.Bounds {
			timeout := o.Duration("session-timeout")
			return history.Bounds{
				Silence: timeout + time.Second, // servers look for sessions that are over once a tick
				Elect:   3*timeout + 30*time.Second,
				Poll:    50 * time.Millisecond,
			}
		},
		Servers: countServers,
		System:  newZooKeeperRecipe,
	}
}

func newZooKeeperRecipe(o Options) (election.System, error) {
	if t := o.Duration("session-timeout"); t < time.Second || t > 10*time.Second {
		return nil, fmt.Errorf("targets: zookeeper-recipe: %w", hint.Add(fmt.Errorf("option session-timeout: %v", t), "servers grant 1s to 10s"))
	}
	servers, err := serversOf("zookeeper", map[string]string{"version": o.Value("version"), "trust-empty-snapshot": "true"})
	if err != nil {
		return nil, err
	}
	return &service{
		numbered: true,
		image:    election.Image{Recipe: "zookeeper-candidate", Version: o.Value("client")},
		servers:  servers,
		flags: func(_ election.Member, _, servers []election.Member) []string {
			return []string{
				"-servers=" + addresses(servers, "%s", zookeeperClientPort),
				"-session-timeout=" + o.Value("session-timeout"),
			}
		},
	}, nil
}
