// Package zookeeper is ZooKeeper: the election among its own servers, and servers for elections through it.
package zookeeper

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
	"recount/targets/systems"
)

// ZooKeeper elects among its own servers, by FastLeaderElection, and numbers its leaders by epochs, the upper half of each
// transaction's id (zxid). What it promises, in its makers' words:
//
//   - one leader of each epoch, and what an epoch is: https://zookeeper.apache.org/doc/r3.8.0/zookeeperInternals.html#sc_leaderElection
//   - times: https://zookeeper.apache.org/doc/r3.8.0/zookeeperAdmin.html#sc_clusterOptions
//   - the words for asking a server: https://zookeeper.apache.org/doc/r3.8.0/zookeeperAdmin.html#sc_4lw
var target = &targets.Target{
	Name:   "zookeeper",
	About:  "the election among ZooKeeper's own servers",
	Source: "https://zookeeper.apache.org/doc/r3.8.0/zookeeperInternals.html#sc_leaderElection",
	Options: []targets.Option{
		{Name: "version", Kind: targets.Choice, Default: Version, Choices: []string{Version}, About: "of the servers"},
		{Name: "tick", Kind: targets.Duration, Default: "500ms", About: "ZooKeeper's tickTime, in which it counts all others"},
		{Name: "sync-limit", Kind: targets.Number, Default: "4", About: "ticks of silence after which leader and followers give each other up"},
		// https://issues.apache.org/jira/browse/ZOOKEEPER-2872: only a snapshot that the leader sent is synced.
		{Name: "trust-empty-snapshot", Kind: targets.Bool, Default: "false",
			About: "start with a log but no snapshot, too (snapshot.trust.empty): a server whose machine died before its first " +
				"snapshot was on disk refuses for ever if not"},
		systems.VotersOption("observers"),
	},
	Voters: systems.Voters,
	Promises: targets.OnDisk([]targets.Promise{
		{Property: "single-leader-per-term"},
		{Property: "sticky-leader"},
		{Property: "no-ping-pong"},
		{Property: "bounded-terms"},
		{Property: "elects"},
	}...),
	Bounds: func(o targets.Options) history.Bounds {
		silence := time.Duration(o.Number("sync-limit") * float64(o.Duration("tick")))
		return history.Bounds{
			Silence: silence + o.Duration("tick"),
			// Servers that look for a leader in vain ask ever more seldom, and wait for each other to connect: more than
			// 15 s were measured after a long cut.
			Elect: 10*silence + 20*time.Second,
			Poll:  100 * time.Millisecond,
		}
	},
	System: newSystem,
}

func init() { targets.Register(target) }

const (
	// ClientPort is where servers listen to clients.
	ClientPort   = 2181
	peerPort     = 2888
	electionPort = 3888
)

// system runs ZooKeeper.
type system struct {
	options targets.Options

	mu     sync.Mutex
	states map[election.ID]*state
	addrs  map[string]election.ID
}

func newSystem(o targets.Options) (election.System, error) {
	if err := systems.CheckVoters(o); err != nil {
		return nil, fmt.Errorf("zookeeper: %w", err)
	}
	return &system{options: o, states: map[election.ID]*state{}, addrs: map[string]election.ID{}}, nil
}

// Servers is the driver of servers of that version which trust an empty snapshot, with all else as it is by default.
func Servers(version string) (election.System, error) {
	o, err := target.Parse(map[string]string{"version": version, "trust-empty-snapshot": "true"})
	if err != nil {
		return nil, err
	}
	return newSystem(o)
}

func (s *system) Image() election.Image {
	return election.Image{Recipe: "zookeeper", Version: s.options.Value("version")}
}

func (s *system) Container(self election.Member, all []election.Member) election.Container {
	s.meet(all)
	config := fmt.Sprintf(`tickTime=%d
initLimit=10
syncLimit=%d
dataDir=/data
clientPort=%d
admin.enableServer=false
4lw.commands.whitelist=srvr
standaloneEnabled=false
`, s.options.Duration("tick").Milliseconds(), int(s.options.Number("sync-limit")), ClientPort)
	for _, m := range all {
		kind := "participant"
		if !systems.Votes(s.options, m.ID) {
			kind = "observer"
		}
		config += fmt.Sprintf("server.%d=%s:%d:%d:%s\n", m.ID, m.Addr, peerPort, electionPort, kind)
		if m.ID == self.ID {
			config += "peerType=" + kind + "\n"
		}
	}
	return election.Container{
		Data:  "/data",
		Files: map[string]string{"/zoo.cfg": config, "/data/myid": fmt.Sprintf("%d\n", self.ID)},
		Command: strings.Fields("/usr/lib/jvm/java-17-openjdk-" + runtime.GOARCH + "/bin/java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Xmx96m " +
			"-Dorg.slf4j.simpleLogger.showDateTime=true -Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS " +
			"-Dorg.slf4j.simpleLogger.showThreadName=false -Dorg.slf4j.simpleLogger.showShortLogName=true " +
			"-Dzookeeper.jmx.log4j.disable=true " +
			"-Dzookeeper.snapshot.trust.empty=" + s.options.Value("trust-empty-snapshot") + " -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar " +
			"org.apache.zookeeper.server.quorum.QuorumPeerMain /zoo.cfg"),
	}
}
