// Package etcd is etcd: the election among its own servers, and servers for elections through it.
package etcd

import (
	"fmt"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/systems"
)

// etcd elects among its own servers, by raft with check-quorum and, since 3.5 or when asked to, pre-vote. What it
// promises, in its makers' words:
//
//   - no split brain, and a new leader after about an election timeout: https://etcd.io/docs/v3.6/op-guide/failures/
//   - terms are stored before anything is sent in them: https://pkg.go.dev/go.etcd.io/raft/v3#Ready
//   - what pre-vote is for, and that 3.4 has it off: https://github.com/etcd-io/etcd/blob/main/CHANGELOG/CHANGELOG-3.4.md
//   - on by default: https://github.com/etcd-io/etcd/blob/main/CHANGELOG/CHANGELOG-3.5.md
//   - heartbeat and election timeout: https://etcd.io/docs/v3.6/tuning/
var target = &targets.Target{
	Name:   "etcd",
	About:  "the election among etcd's own servers: raft, with pre-vote since 3.5",
	Source: "https://etcd.io/docs/v3.6/op-guide/failures/",
	Options: []targets.Option{
		{Name: "version", Kind: targets.Text, Default: "3.6.16", About: "of the server: 3.4.15, 3.4.23, or any 3.5, 3.6 or 3.7"},
		{Name: "pre-vote", Kind: targets.Choice, Default: "default", Choices: []string{"default", "true", "false"},
			About: "ask before campaigning; default is the version's own choice: false in 3.4, true since 3.5"},
		{Name: "heartbeat", Kind: targets.Duration, Default: "100ms", About: "the leader's heartbeat interval"},
		{Name: "election-timeout", Kind: targets.Duration, Default: "1s", About: "a follower campaigns after one to two of these without a heartbeat"},
		{Name: "reads", Kind: targets.Choice, Default: "linearizable", Choices: []string{"linearizable", "serializable"},
			About: "how a server reads for clients: after it has asked the leader, or what it has itself", Breaks: []string{"linearizable"}},
		systems.VotersOption("learners, which are added to the cluster when it has begun"),
	},
	Voters: voters,
	Promises: targets.OnDisk([]targets.Promise{
		{Property: "single-leader-per-term"},
		{Property: "linearizable"},
		{Property: "progress"},
		// raft.status tells the term in memory. A server stores a new term before it sends anything in it, not
		// before it can be asked for it.
		targets.StoresTerm,
		{Property: "sticky-leader", While: targets.VotesAtOnce, Suspended: targets.Delays},
		{Property: "no-ping-pong"},
		{Property: "bounded-terms"},
		{Property: "elects"},
	}...),
	Unpromised: func(o targets.Options) []string {
		if preVote(o) {
			return nil
		}
		return []string{"sticky-leader", "no-ping-pong", "bounded-terms"}
	},
	Bounds: func(o targets.Options) history.Bounds {
		timeout := o.Duration("election-timeout")
		return history.Bounds{
			Silence: 2 * timeout, // etcd draws it anew, between one and two timeouts
			// Ten rounds at their longest, and the time in which the connections that a cut broke are made anew:
			// etcd gives one up 5 s after the last byte, and dials again after a pause. 3.5 took 23 s once.
			Elect: 10*2*timeout + 10*time.Second,
			Poll:  50 * time.Millisecond,
		}
	},
	System: newSystem,
}

func init() { targets.Register(target) }

// preVote tells whether the servers ask before they campaign.
func preVote(o targets.Options) bool {
	if v := o.Value("pre-vote"); v != "default" {
		return v == "true"
	}
	return !strings.HasPrefix(o.Value("version"), "3.4.")
}

// oneLearner tells whether a cluster of that version may have one learner, and no more.
func oneLearner(o targets.Options) bool {
	v := o.Value("version")
	return strings.HasPrefix(v, "3.4.") || strings.HasPrefix(v, "3.5.")
}

// voters reads who votes.
func voters(o targets.Options, nodes int) ([]election.ID, error) {
	ids, err := systems.Voters(o, nodes)
	if err == nil && nodes-len(ids) > 1 && oneLearner(o) {
		err = hint.Add(fmt.Errorf("option voters: %d of %d nodes: etcd %s has one learner at most", len(ids), nodes, o.Value("version")),
			"take %v, or version 3.6", hint.Set("nodes", len(ids)+1))
	}
	return ids, err
}

// Founds implements election.Founded: a cluster begins with its voters, and learners are added.
func (s *system) Founds(self election.ID) bool { return systems.Votes(s.options, self) }

const (
	// ClientPort is where servers listen to clients.
	ClientPort   = 2379
	peerPort     = 2380
	clusterToken = "recount"
)

// system runs etcd. Servers are known by their raft ids, which are computed from their addresses.
type system struct {
	options targets.Options
	preVote bool

	mu        sync.Mutex
	ids       map[uint64]election.ID
	newcomers map[election.ID]uint64 // the raft ids of those that were added, the latest of that name
	cluster   string                 // of whom it consisted when somebody was added last, as servers are told
}

func newSystem(o targets.Options) (election.System, error) {
	heartbeat, timeout := o.Duration("heartbeat"), o.Duration("election-timeout")
	unknown := systems.CheckVersion("version", imageOf(o.Value("version")))
	err := systems.CheckVoters(o)
	switch {
	case err != nil:
	case unknown != nil:
		err = unknown
	case heartbeat < time.Millisecond:
		err = hint.Add(fmt.Errorf("option heartbeat: %v is too short", heartbeat), "etcd counts in milliseconds")
	case timeout < 5*heartbeat:
		err = hint.Add(fmt.Errorf("option election-timeout: %v is too short for a heartbeat of %v", timeout, heartbeat),
			"etcd wants at least five heartbeats in it")
	case timeout > 50*time.Second:
		err = hint.Add(fmt.Errorf("option election-timeout: %v is too long", timeout), "etcd takes 50s at most")
	}
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	return &system{options: o, preVote: preVote(o), ids: map[uint64]election.ID{}, newcomers: map[election.ID]uint64{}}, nil
}

// Servers is the driver of servers of that version, with all else as it is by default.
func Servers(version string) (election.System, error) {
	o, err := target.Parse(map[string]string{"version": version})
	if err != nil {
		return nil, err
	}
	return newSystem(o)
}

func imageOf(version string) election.Image { return election.Image{Recipe: Name, Version: version} }

// Image names the recipe.
func (s *system) Image() election.Image { return imageOf(s.options.Value("version")) }

// Container starts a server as a member of a cluster that is new unless the server finds its data, or was added to it. It listens on all of
// its own addresses; the others know it by the one in the cluster's network.
func (s *system) Container(self election.Member, all []election.Member) election.Container {
	s.meet(all)
	folder, state := "/data/etcd", "new"
	initial := initialCluster(all, func(m election.Member) bool { return s.Founds(m.ID) })
	if raft, cluster := s.joining(self.ID); raft != 0 {
		folder, initial, state = fmt.Sprintf("%s-%x", folder, raft), cluster, "existing"
	}
	ms := func(option string) string {
		return strconv.FormatInt(s.options.Duration(option).Milliseconds(), 10)
	}
	every := systems.EveryAddr(self.Addr)
	c := election.Container{
		Data: "/data",
		Command: []string{
			"/usr/bin/etcd",
			"--name=" + self.ID.String(),
			"--data-dir=" + folder,
			"--listen-peer-urls=" + URL(every, peerPort),
			"--listen-client-urls=" + URL(every, ClientPort),
			"--initial-advertise-peer-urls=" + URL(self.Addr, peerPort),
			"--advertise-client-urls=" + URL(self.Addr, ClientPort),
			"--initial-cluster=" + initial,
			"--initial-cluster-state=" + state,
			"--initial-cluster-token=" + clusterToken,
			"--heartbeat-interval=" + ms("heartbeat"),
			"--election-timeout=" + ms("election-timeout"),
			"--pre-vote=" + strconv.FormatBool(s.preVote),
			// 3.4 would log in another form. At this level raft tells its changes of role and leader.
			"--logger=zap",
			"--log-level=info",
			"--log-outputs=stderr",
		},
	}
	if !systems.Votes(s.options, election.ID(len(all))) && !oneLearner(s.options) {
		c.Command = append(c.Command, "--max-learners="+strconv.Itoa(len(all)))
	}
	if strings.HasPrefix(s.options.Value("version"), "3.4.") && runtime.GOARCH != "amd64" {
		c.Env = []string{"ETCD_UNSUPPORTED_ARCH=" + runtime.GOARCH} // it refuses to start without
	}
	return c
}

// initialCluster is how servers are told of those members.
func initialCluster(all []election.Member, is func(election.Member) bool) string {
	var cluster []string
	for _, m := range all {
		if is(m) {
			cluster = append(cluster, m.ID.String()+"="+URL(m.Addr, peerPort))
		}
	}
	return strings.Join(cluster, ",")
}

// URL is what a server is called by others and by clients.
func URL(addr netip.Addr, port uint16) string {
	return "http://" + netip.AddrPortFrom(addr, port).String()
}
