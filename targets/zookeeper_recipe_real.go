package targets

import (
	"fmt"
	"time"

	"recount/election"
	"recount/hint"
	"recount/history"
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

// zookeeperRecipe is ZooKeeper's servers, and candidates.
type zookeeperRecipe struct {
	candidateLogs
	options Options
	servers election.System
}

func newZooKeeperRecipe(o Options) (election.System, error) {
	if t := o.Duration("session-timeout"); t < time.Second || t > 10*time.Second {
		return nil, fmt.Errorf("targets: zookeeper-recipe: %w", hint.Add(fmt.Errorf("option session-timeout: %v", t), "servers grant 1s to 10s"))
	}
	servers, err := Find("zookeeper")
	if err != nil {
		return nil, err
	}
	own, err := servers.Parse(map[string]string{"version": o.Value("version")})
	if err != nil {
		return nil, err
	}
	system, err := servers.System(own)
	return &zookeeperRecipe{options: o, servers: system}, err
}

func (s *zookeeperRecipe) Image() election.Image {
	return election.Image{Recipe: "zookeeper-candidate", Version: s.options.Value("client")}
}

func (s *zookeeperRecipe) ServerImage() election.Image { return s.servers.Image() }

func (s *zookeeperRecipe) Container(self election.Member, all []election.Member) election.Container {
	_, servers := split(all)
	if self.Server {
		return s.servers.Container(self, servers)
	}
	return election.Container{Command: []string{
		"/usr/bin/candidate", "-name=" + self.Name,
		"-servers=" + addresses(servers, "%s", zookeeperClientPort),
		"-session-timeout=" + s.options.Value("session-timeout"),
	}}
}

func (s *zookeeperRecipe) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	if self.Server {
		_, servers := split(all)
		return s.servers.Observer(self, servers, dial)
	}
	return observeCandidate(dial)
}
