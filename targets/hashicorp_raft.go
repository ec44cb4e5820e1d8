package targets

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

// hashicorp-raft is the library of Consul, Nomad and Vault, in a server that does nothing but elect by it; the recipe
// holds its main package. What its makers promise:
//
//   - leaders, terms and what a majority is needed for: https://github.com/hashicorp/raft#protocol
//   - pre-vote since 1.7.0, on by default: https://github.com/hashicorp/raft/blob/main/CHANGELOG.md
//   - the times: https://pkg.go.dev/github.com/hashicorp/raft#Config
func init() {
	Register(&Target{
		Name:   "hashicorp-raft",
		About:  "the raft library of Consul, Nomad and Vault; with pre-vote since 1.7",
		Source: "https://github.com/hashicorp/raft#protocol",
		Options: []Option{
			{Name: "version", Kind: Text, Default: "1.7.3", About: "of the library: any from 1.3.9 to 1.7"},
			{Name: "heartbeat-timeout", Kind: Duration, Default: "1s", About: "a follower campaigns after one to two of these without a heartbeat"},
			{Name: "election-timeout", Kind: Duration, Default: "1s", About: "a candidate campaigns anew after one to two of these"},
		},
		Promises: onDisk([]Promise{
			{Property: "single-leader-per-term"},
			{Property: "monotonic-term"}, // a term is stored before it can be asked for
			{Property: "sticky-leader", While: votesAtOnce, Unless: delays},
			{Property: "bounded-terms"},
			{Property: "elects"},
		}...),
		Unpromised: func(o Options) []string {
			if strings.HasPrefix(o.Value("version"), "1.7.") {
				return nil
			}
			return []string{"sticky-leader", "bounded-terms"} // they come with pre-vote
		},
		Bounds: func(o Options) history.Bounds {
			silence, round := 2*o.Duration("heartbeat-timeout"), 2*o.Duration("election-timeout")
			return history.Bounds{
				Silence: silence,
				// Ten rounds at their longest, and the transport's patience with a connection that a cut broke.
				Elect: silence + 10*round + 10*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		System: newHashicorpRaft,
	})
}

var hashicorpRaftVersion = regexp.MustCompile(`^1\.[3-7]\.(0|[1-9][0-9]*)$`)

const (
	hashicorpRaftPort   = 7000
	hashicorpStatusPort = 7001
)

// hashicorpRaft runs members that are known in raft by the names they have here.
type hashicorpRaft struct{ options Options }

func newHashicorpRaft(o Options) (election.System, error) {
	var err error
	switch {
	case !hashicorpRaftVersion.MatchString(o.Value("version")):
		err = hint.Add(fmt.Errorf("option version: %q is no version that Recount runs", o.Value("version")), "known: all from 1.3.9 to 1.7")
	case o.Duration("heartbeat-timeout") < 5*time.Millisecond, o.Duration("election-timeout") < o.Duration("heartbeat-timeout"):
		err = hint.Add(fmt.Errorf("options heartbeat-timeout and election-timeout: %v and %v",
			o.Duration("heartbeat-timeout"), o.Duration("election-timeout")),
			"the library wants 5ms at least, and an election timeout that is no shorter than the other")
	}
	if err != nil {
		return nil, fmt.Errorf("targets: hashicorp-raft: %w", err)
	}
	return &hashicorpRaft{o}, nil
}

// Image names the recipe.
func (s *hashicorpRaft) Image() election.Image {
	return election.Image{Recipe: "hashicorp-raft", Version: s.options.Value("version")}
}

// Container starts a member. A leader gives up after half a heartbeat timeout without a majority, as by default.
func (s *hashicorpRaft) Container(self election.Member, all []election.Member) election.Container {
	members := make([]string, len(all))
	for i, m := range all {
		members[i] = m.ID.String() + "=" + netip.AddrPortFrom(m.Addr, hashicorpRaftPort).String()
	}
	heartbeat := s.options.Duration("heartbeat-timeout")
	return election.Container{
		Data: "/data",
		Command: []string{
			"/usr/bin/hashicorp-raft",
			"--id=" + self.ID.String(),
			"--members=" + strings.Join(members, ","),
			"--status=" + netip.AddrPortFrom(everyAddr(self.Addr), hashicorpStatusPort).String(),
			"--data=/data/raft",
			"--heartbeat-timeout=" + heartbeat.String(),
			"--election-timeout=" + s.options.Duration("election-timeout").String(),
			"--leader-lease-timeout=" + (heartbeat / 2).String(),
		},
	}
}

// Observer asks a member for its view.
func (s *hashicorpRaft) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	return &ownObserver[hashicorpView]{newAsker(dial, hashicorpStatusPort), "hashicorp-raft", self.ID}
}

// hashicorpView is what a member says, asked or by itself. Its main puts the parts together so that they belong together, or
// says that they may not.
type hashicorpView struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Term   uint64 `json:"term"`
	Leader string `json:"leader"`
	Torn   bool   `json:"torn"`
}

var hashicorpRoles = map[string]election.Role{
	"Follower": election.Follower, "Candidate": election.Candidate, "Leader": election.Leader,
}

func (v hashicorpView) status(self election.ID) (s election.Status, torn bool, err error) {
	role, ok := hashicorpRoles[v.State]
	if !ok {
		return election.Status{}, false, fmt.Errorf("raft state %q is none of those known", v.State)
	}
	if v.ID != self.String() {
		return election.Status{}, false, fmt.Errorf("the answer is that of %q", v.ID)
	}
	return election.Status{Role: role, Term: v.Term, Leader: memberNamed(v.Leader)}, v.Torn, nil
}

// memberNamed returns the member of that name; None for "" and for what is no name of a member's.
func memberNamed(name string) election.ID {
	var id election.ID
	if _, err := fmt.Sscanf(name, "n%d", &id); err != nil || id.String() != name {
		return election.None
	}
	return id
}

// ReadLog reads the views that the member prints when raft tells its observers of a change. They are read on the
// goroutine that makes the change.
func (s *hashicorpRaft) ReadLog(self election.ID, line string) (election.Status, bool) {
	return readOwnLine[hashicorpView](self, line)
}
