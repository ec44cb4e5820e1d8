package specfile

import (
	"maps"
	"slices"

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

// parts are the files and folders of this machine that nodes and servers are made of, or asked by.
func (s *Spec) parts() (all []string) {
	own := []*Spec{s}
	for _, one := range s.Services {
		if one.Own != nil {
			own = append(own, one.Own)
		}
	}
	for _, o := range own {
		all = append(all, o.Image.Dockerfile, o.Image.Binary, o.Image.Package)
		all = slices.AppendSeq(all, maps.Values(o.Copied))
		for _, at := range o.endpoints() {
			all = append(all, at.Certificate, at.Key)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(path string) bool { return path == "" })
}

// Target is what the spec describes, by a name.
func (s *Spec) Target(name string) *targets.Target {
	t := &targets.Target{
		Name: name, Called: s.Name, About: s.About, Source: s.Source, Options: s.Parameters, Promises: s.Promises, NoTerms: !s.HasTerms(),
		NoLeaderNames: !s.names(), Standing: s.Observe.Standing, Begins: s.Observe.Begins, Tokens: s.Observe.Tokens, Processes: s.Processes, Multicast: s.Multicast, Shared: s.Shared != "", Size: s.Size, Alarms: len(s.Alarms) > 0, Own: s.ownFaults(), OwnByCommand: s.ownRequests().byCommand(), Definition: s.Text, Parts: s.parts(),
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
