// Package hashicorpraft is the raft library of Consul, Nomad and Vault.
package hashicorpraft

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/systems"
)

// hashicorp-raft is the library of Consul, Nomad and Vault, in a server that keeps one number by it; the recipe
// holds its main package. What its makers promise:
//
//   - leaders, terms and what a majority is needed for: https://github.com/hashicorp/raft#protocol
//   - pre-vote since 1.7.0, on by default: https://github.com/hashicorp/raft/blob/main/CHANGELOG.md
//   - the times: https://pkg.go.dev/github.com/hashicorp/raft#Config
func init() {
	targets.Register(&targets.Target{
		Name:   "hashicorp-raft",
		About:  "the raft library of Consul, Nomad and Vault; with pre-vote since 1.7",
		Source: "https://github.com/hashicorp/raft#protocol",
		Options: []targets.Option{
			{Name: "version", Kind: targets.Text, Default: "1.7.3", About: "of the library: any from 1.3.9 to 1.8"},
			{Name: "heartbeat-timeout", Kind: targets.Duration, Default: "1s", About: "a follower campaigns after one to two of these without a heartbeat"},
			{Name: "election-timeout", Kind: targets.Duration, Default: "1s", About: "a candidate campaigns anew after one to two of these"},
			systems.VotersOption("nonvoters: they get the log, and have no say"),
		},
		Voters: systems.Voters,
		Promises: targets.OnDisk([]targets.Promise{
			{Property: "single-leader-per-term"},
			{Property: "linearizable"},
			// A leader whose disk stalls keeps the lead: https://github.com/hashicorp/raft/issues/503
			{Property: "progress", While: "no disk fails or is slow", Unless: targets.FailsAnyDisk},
			{Property: "monotonic-term"}, // a term is stored before it can be asked for
			{Property: "sticky-leader", While: targets.VotesAtOnce, Suspended: targets.Delays},
			{Property: "bounded-terms"},
			{Property: "elects"},
		}...),
		Unpromised: func(o targets.Options) []string {
			if minor, _ := systems.Release(o.Value("version")); minor >= 7 {
				return nil
			}
			return []string{"sticky-leader", "bounded-terms"} // they come with pre-vote
		},
		Bounds: func(o targets.Options) history.Bounds {
			silence, round := 2*o.Duration("heartbeat-timeout"), 2*o.Duration("election-timeout")
			return history.Bounds{
				Silence: silence,
				// Ten rounds at their longest, and the transport's patience with a connection that a cut broke.
				Elect: silence + 10*round + 10*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		System: newSystem,
	})
}

// system runs members that are known in raft by the names they have here.
type system struct {
	systems.Library[view]
	systems.Members
	systems.Register
	options targets.Options
}

func newSystem(o targets.Options) (election.System, error) {
	library, err := systems.NewLibrary[view]("hashicorp-raft", o)
	err = cmp.Or(err, systems.CheckVoters(o))
	if err == nil && (o.Duration("heartbeat-timeout") < 5*time.Millisecond || o.Duration("election-timeout") < o.Duration("heartbeat-timeout")) {
		err = hint.Add(fmt.Errorf("options heartbeat-timeout and election-timeout: %v and %v",
			o.Duration("heartbeat-timeout"), o.Duration("election-timeout")),
			"the library wants 5ms at least, and an election timeout that is no shorter than the other")
	}
	if err != nil {
		return nil, fmt.Errorf("hashicorp-raft: %w", err)
	}
	return &system{Library: library, options: o}, nil
}

// Container starts a member. A leader gives up after half a heartbeat timeout without a majority, as by default.
func (s *system) Container(self election.Member, all []election.Member) election.Container {
	var nonvoters []string
	for _, m := range all {
		if !systems.Votes(s.options, m.ID) {
			nonvoters = append(nonvoters, m.ID.String())
		}
	}
	heartbeat := s.options.Duration("heartbeat-timeout")
	c := s.Start(self, systems.ByName(self), systems.NamedAddrs(all, systems.RaftPort),
		"--heartbeat-timeout="+heartbeat.String(),
		"--election-timeout="+s.options.Duration("election-timeout").String(),
		"--leader-lease-timeout="+(heartbeat/2).String())
	if len(nonvoters) > 0 {
		c.Command = append(c.Command, "--nonvoters="+strings.Join(nonvoters, ","))
	}
	c.Command = append(c.Command, s.Joining(self.ID)...)
	return c
}

// view is what a member says, asked or by itself.
type view struct{ systems.RoleView }

var roles = map[string]election.Role{
	"Follower": election.Follower, "Candidate": election.Candidate, "Leader": election.Leader,
}

func (v view) Status(self election.ID) (s election.Status, torn bool, err error) {
	return v.StatusBy(roles, self)
}

// HandOver implements election.Abdicator.
func (s *system) HandOver() election.HandOver {
	return systems.HandOver(systems.StatusPort, systems.ByName)
}

// ReadLog reads the views that the member prints when raft tells its observers of a change. They are read on the
// goroutine that makes the change.
func (s *system) ReadLog(self election.ID, line string) (election.Status, bool) {
	return systems.ReadView[view](self, line)
}
