package targets

import (
	"time"

	"recount/election"
	"recount/history"
)

func init() {
	Register(&Target{
		Name:    "highest-address",
		About:   "the member with the highest address leads, dead or alive",
		Source:  `Microsoft, "Leader Election pattern": the instance with the lowest or highest id; no failure detection`,
		NoTerms: true,
		Options: []Option{
			scale("1"),
			{
				Name: "leader", Kind: Choice, Default: "highest", Choices: []string{"highest", "lowest"},
				About: "which of the addresses leads",
			},
		},
		// Nobody else ever leads, so nobody can lead besides, or take over. That is all it is good for.
		Promises: []Promise{
			{Property: "exclusive-leadership"},
			{Property: "agreement"},
			{Property: "sticky-leader"},
			{Property: "no-ping-pong"},
		},
		// It has no times of its own. These are those of the detectors that others have and it lacks.
		Bounds: func(o Options) history.Bounds {
			unit := time.Duration(o.Number("scale") * float64(time.Second))
			return bounds(2*unit, unit, unit)
		},
		Node: func(o Options, env election.Env) election.Node {
			if o.Value("leader") == "lowest" {
				return fixed{env.ID(), 1}
			}
			return fixed{env.ID(), election.ID(env.Size())}
		},
	})
}

// fixed is a node that knows the leader by looking at the list of members. Nodes that agree on the list agree on the
// leader, without a message; and go on to do so when the leader is dead.
type fixed struct{ self, leader election.ID }

func (fixed) Start()                                {}
func (fixed) Receive(election.ID, election.Message) {}
func (fixed) Expire(election.Timer)                 {}

// Status never changes.
func (f fixed) Status() election.Status {
	s := election.Status{Leader: f.leader}
	if f.self == f.leader {
		s.Role = election.Leader
	}
	return s
}
