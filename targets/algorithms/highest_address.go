package algorithms

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:    "highest-address",
		About:   "the member with the highest address leads, dead or alive",
		Source:  `Microsoft, "Leader Election pattern": the instance with the lowest or highest id; no failure detection`,
		NoTerms: true,
		Options: []targets.Option{
			targets.Scale("1"),
			{
				Name: "leader", Kind: targets.Choice, Default: "highest", Choices: []string{"highest", "lowest"},
				About: "which of the addresses leads",
			},
		},
		// Nobody else ever leads, so nobody can lead besides, or take over. That is all it is good for.
		Promises: []targets.Promise{
			{Property: "exclusive-leadership"},
			{Property: "agreement"},
			{Property: "sticky-leader"},
			{Property: "no-ping-pong"},
		},
		// It has no times of its own. These are those of the detectors that others have and it lacks.
		Bounds: func(o targets.Options) history.Bounds {
			unit := time.Duration(o.Number("scale") * float64(time.Second))
			return targets.BoundsOf(2*unit, unit, unit)
		},
		Node: func(o targets.Options, env election.Env) election.Node {
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
