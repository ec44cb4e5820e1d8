package targets

import (
	"fmt"
	"net/netip"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

// etcd elects among its own servers, by raft with check-quorum and, since 3.5 or when asked to, pre-vote. What it
// promises, in its makers' words:
//
//   - no split brain, and a new leader after about an election timeout: https://etcd.io/docs/v3.6/op-guide/failures/
//   - terms are stored before anything is sent in them: https://pkg.go.dev/go.etcd.io/raft/v3#Ready
//   - what pre-vote is for, and that 3.4 has it off: https://github.com/etcd-io/etcd/blob/main/CHANGELOG/CHANGELOG-3.4.md
//   - on by default: https://github.com/etcd-io/etcd/blob/main/CHANGELOG/CHANGELOG-3.5.md
//   - heartbeat and election timeout: https://etcd.io/docs/v3.6/tuning/
func init() {
	Register(&Target{
		Name:   "etcd",
		About:  "the election among etcd's own servers: raft, with pre-vote since 3.5",
		Source: "https://etcd.io/docs/v3.6/op-guide/failures/",
		Options: []Option{
			{Name: "version", Kind: Text, Default: "3.6.16", About: "of the server: 3.4.15, 3.4.23, or any 3.5, 3.6 or 3.7"},
			{Name: "pre-vote", Kind: Choice, Default: "default", Choices: []string{"default", "true", "false"},
				About: "ask before campaigning; default is the version's own choice: false in 3.4, true since 3.5"},
			{Name: "heartbeat", Kind: Duration, Default: "100ms", About: "the leader's heartbeat interval"},
			{Name: "election-timeout", Kind: Duration, Default: "1s", About: "a follower campaigns after one to two of these without a heartbeat"},
		},
		Promises: onDisk([]Promise{
			{Property: "single-leader-per-term"},
			// raft.status tells the term in memory. A server stores a new term before it sends anything in it, not
			// before it can be asked for it.
			{Property: "monotonic-term", While: "no kill falls between a server's raising its term and storing it"},
			{Property: "sticky-leader", While: votesAtOnce, Unless: delays},
			{Property: "no-ping-pong"},
			{Property: "bounded-terms"},
			{Property: "elects"},
		}...),
		Unpromised: func(o Options) []string {
			if etcdPreVote(o) {
				return nil
			}
			return []string{"sticky-leader", "no-ping-pong", "bounded-terms"}
		},
		Bounds: func(o Options) history.Bounds {
			timeout := o.Duration("election-timeout")
			return history.Bounds{
				Silence: 2 * timeout, // etcd draws it anew, between one and two timeouts
				// Ten rounds at their longest, and the time in which the connections that a cut broke are made anew:
				// etcd gives one up 5 s after the last byte, and dials again after a pause. 3.5 took 23 s once.
				Elect: 10*2*timeout + 10*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		System: newEtcd,
	})
}

var etcdVersion = regexp.MustCompile(`^3\.([4-7])\.[0-9]+$`)

// etcdPreVote tells whether the servers ask before they campaign.
func etcdPreVote(o Options) bool {
	if v := o.Value("pre-vote"); v != "default" {
		return v == "true"
	}
	return !strings.HasPrefix(o.Value("version"), "3.4.")
}

const (
	etcdPeerPort   = 2380
	etcdClientPort = 2379
	etcdToken      = "recount" // of the cluster
)

// etcdSystem runs etcd. Servers are known by their raft ids, which are computed from their addresses.
type etcdSystem struct {
	options Options
	preVote bool

	mu  sync.Mutex
	ids map[uint64]election.ID
}

func newEtcd(o Options) (election.System, error) {
	heartbeat, timeout := o.Duration("heartbeat"), o.Duration("election-timeout")
	var err error
	switch {
	case !etcdVersion.MatchString(o.Value("version")):
		err = hint.Add(fmt.Errorf("option version: %q is no version of etcd that Recount runs", o.Value("version")),
			"known: 3.4.15, 3.4.23, and all of 3.5, 3.6 and 3.7")
	case heartbeat < time.Millisecond:
		err = hint.Add(fmt.Errorf("option heartbeat: %v is too short", heartbeat), "etcd counts in milliseconds")
	case timeout < 5*heartbeat:
		err = hint.Add(fmt.Errorf("option election-timeout: %v is too short for a heartbeat of %v", timeout, heartbeat),
			"etcd wants at least five heartbeats in it")
	case timeout > 50*time.Second:
		err = hint.Add(fmt.Errorf("option election-timeout: %v is too long", timeout), "etcd takes 50s at most")
	}
	if err != nil {
		return nil, fmt.Errorf("targets: etcd: %w", err)
	}
	return &etcdSystem{options: o, preVote: etcdPreVote(o), ids: map[uint64]election.ID{}}, nil
}

// Image names the recipe.
func (s *etcdSystem) Image() election.Image {
	return election.Image{Recipe: "etcd", Version: s.options.Value("version")}
}

// Container starts a server as a member of a cluster that is new unless the server finds its data. It listens on all of
// its own addresses; the others know it by the one in the cluster's network.
func (s *etcdSystem) Container(self election.Member, all []election.Member) election.Container {
	s.meet(all)
	cluster := make([]string, len(all))
	for i, m := range all {
		cluster[i] = m.ID.String() + "=" + etcdURL(m.Addr, etcdPeerPort)
	}
	ms := func(option string) string {
		return strconv.FormatInt(s.options.Duration(option).Milliseconds(), 10)
	}
	every := everyAddr(self.Addr)
	c := election.Container{
		Data: "/data",
		Command: []string{
			"/usr/bin/etcd",
			"--name=" + self.ID.String(),
			"--data-dir=/data/etcd",
			"--listen-peer-urls=" + etcdURL(every, etcdPeerPort),
			"--listen-client-urls=" + etcdURL(every, etcdClientPort),
			"--initial-advertise-peer-urls=" + etcdURL(self.Addr, etcdPeerPort),
			"--advertise-client-urls=" + etcdURL(self.Addr, etcdClientPort),
			"--initial-cluster=" + strings.Join(cluster, ","),
			"--initial-cluster-state=new",
			"--initial-cluster-token=" + etcdToken,
			"--heartbeat-interval=" + ms("heartbeat"),
			"--election-timeout=" + ms("election-timeout"),
			"--pre-vote=" + strconv.FormatBool(s.preVote),
			// 3.4 would log in another form. At this level raft tells its changes of role and leader.
			"--logger=zap",
			"--log-level=info",
			"--log-outputs=stderr",
		},
	}
	if strings.HasPrefix(s.options.Value("version"), "3.4.") && runtime.GOARCH != "amd64" {
		c.Env = []string{"ETCD_UNSUPPORTED_ARCH=" + runtime.GOARCH} // it refuses to start without
	}
	return c
}

func etcdURL(addr netip.Addr, port uint16) string {
	return "http://" + netip.AddrPortFrom(addr, port).String()
}
