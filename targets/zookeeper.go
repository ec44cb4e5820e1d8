package targets

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"recount/election"
	"recount/history"
)

// ZooKeeper elects among its own servers, by FastLeaderElection, and numbers its leaders by epochs, the upper half of each
// transaction's id (zxid). What it promises, in its makers' words:
//
//   - one leader of each epoch, and what an epoch is: https://zookeeper.apache.org/doc/r3.8.0/zookeeperInternals.html#sc_leaderElection
//   - times: https://zookeeper.apache.org/doc/r3.8.0/zookeeperAdmin.html#sc_clusterOptions
//   - the words for asking a server: https://zookeeper.apache.org/doc/r3.8.0/zookeeperAdmin.html#sc_4lw
func init() {
	Register(&Target{
		Name:   "zookeeper",
		About:  "the election among ZooKeeper's own servers",
		Source: "https://zookeeper.apache.org/doc/r3.8.0/zookeeperInternals.html#sc_leaderElection",
		Options: []Option{
			{Name: "version", Kind: Choice, Default: "3.8.0", Choices: []string{"3.8.0"}, About: "of the servers"},
			{Name: "tick", Kind: Duration, Default: "500ms", About: "ZooKeeper's tickTime, in which it counts all others"},
			{Name: "sync-limit", Kind: Number, Default: "4", About: "ticks of silence after which leader and followers give each other up"},
			// https://issues.apache.org/jira/browse/ZOOKEEPER-2872: only a snapshot that the leader sent is synced.
			{Name: "trust-empty-snapshot", Kind: Bool, Default: "false",
				About: "start with a log but no snapshot, too (snapshot.trust.empty): a server whose machine died before its first " +
					"snapshot was on disk refuses for ever if not"},
		},
		Promises: onDisk([]Promise{
			{Property: "single-leader-per-term"},
			{Property: "sticky-leader"},
			{Property: "no-ping-pong"},
			{Property: "bounded-terms"},
			{Property: "elects"},
		}...),
		Bounds: func(o Options) history.Bounds {
			silence := time.Duration(o.Number("sync-limit") * float64(o.Duration("tick")))
			return history.Bounds{
				Silence: silence + o.Duration("tick"),
				// Servers that look for a leader in vain ask ever more seldom, and wait for each other to connect: more than
				// 15 s were measured after a long cut.
				Elect: 10*silence + 20*time.Second,
				Poll:  100 * time.Millisecond,
			}
		},
		System: func(o Options) (election.System, error) {
			return &zookeeper{options: o, states: map[election.ID]*zookeeperState{}, addrs: map[string]election.ID{}}, nil
		},
	})
}

const (
	zookeeperClientPort   = 2181
	zookeeperPeerPort     = 2888
	zookeeperElectionPort = 3888
)

// zookeeper runs ZooKeeper.
type zookeeper struct {
	options Options

	mu     sync.Mutex
	states map[election.ID]*zookeeperState
	addrs  map[string]election.ID
}

func (s *zookeeper) Image() election.Image {
	return election.Image{Recipe: "zookeeper", Version: s.options.Value("version")}
}

func (s *zookeeper) Container(self election.Member, all []election.Member) election.Container {
	s.meet(all)
	config := fmt.Sprintf(`tickTime=%d
initLimit=10
syncLimit=%d
dataDir=/data
clientPort=%d
admin.enableServer=false
4lw.commands.whitelist=srvr
standaloneEnabled=false
`, s.options.Duration("tick").Milliseconds(), int(s.options.Number("sync-limit")), zookeeperClientPort)
	for _, m := range all {
		config += fmt.Sprintf("server.%d=%s:%d:%d\n", m.ID, m.Addr, zookeeperPeerPort, zookeeperElectionPort)
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
