package specfile

import (
	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.FromFile(func(path string) (*targets.Target, error) {
		s, err := Load(path)
		if err != nil {
			return nil, err
		}
		return s.Target(path), nil
	})
}

// Target is what the spec describes, by a name.
func (s *Spec) Target(name string) *targets.Target {
	t := &targets.Target{
		Name: name, About: s.About, Source: s.Source, Options: s.Parameters, Promises: s.Promises, NoTerms: !s.HasTerms(),
		NoLeaderNames: !s.names(), Standing: s.Observe.Standing, Processes: s.Processes, Multicast: s.Multicast, Definition: s.Text,
		Bounds: func(o targets.Options) history.Bounds {
			return history.Bounds{Silence: s.Times.Silence.value(o), Elect: s.Times.Elect.value(o), Poll: s.Times.Poll}
		},
		System: func(o targets.Options) (election.System, error) { return s.System(o) },
	}
	if !s.Voters.all() {
		t.Voters = s.voting
	}
	if len(s.Services) > 0 {
		if t.Servers = s.countServers; len(s.electing()) < len(s.Services) {
			t.Electors = s.electors
		}
	}
	return t
}
