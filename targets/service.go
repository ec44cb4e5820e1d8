package targets

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"recount/election"
	"recount/history"
)

// service is a system of candidates that elect through a real service, in containers of their own. The candidates are
// mains of ours: all are started alike, and tell their views alike.
type service struct {
	image    election.Image  // of the candidates
	servers  election.System // what they elect through
	numbered bool            // whether it numbers leaderships
	// flags are those of a candidate's command that say more than its name.
	flags func(self election.Member, candidates, servers []election.Member) []string
}

func (s *service) Image() election.Image       { return s.image }
func (s *service) ServerImage() election.Image { return s.servers.Image() }

// Container starts a candidate, or a server, to which the servers are all there are.
func (s *service) Container(self election.Member, all []election.Member) election.Container {
	candidates, servers := split(all)
	if self.Server {
		return s.servers.Container(self, servers)
	}
	command := []string{"/usr/bin/candidate", "-name=" + self.Name}
	return election.Container{Command: append(command, s.flags(self, candidates, servers)...)}
}

// Observer asks a candidate for its view, and a server as its own system does.
func (s *service) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	if self.Server {
		_, servers := split(all)
		return s.servers.Observer(self, servers, dial)
	}
	return candidateObserver{newAsker(dial, candidatePort), s.numbered}
}

// candidatePort is where a candidate tells its view: see docker/recipes/candidate.
const candidatePort = 7300

// serversOption is how many servers the candidates elect through.
func serversOption(servers string) Option {
	return Option{Name: "servers", Kind: Number, Default: servers, About: "how many servers the candidates elect through"}
}

// countServers reads that option.
func countServers(o Options) int { return int(o.Number("servers")) }

// split returns the candidates and the servers of all members.
func split(all []election.Member) (candidates, servers []election.Member) {
	for _, m := range all {
		if m.Server {
			servers = append(servers, m)
		} else {
			candidates = append(candidates, m)
		}
	}
	return candidates, servers
}

// serversOf is the system of the target of that name with these options.
func serversOf(target string, options map[string]string) (election.System, error) {
	t, err := Find(target)
	if err != nil {
		return nil, err
	}
	o, err := t.Parse(options)
	if err != nil {
		return nil, err
	}
	return t.System(o)
}

// addresses lists where servers listen, each address written by its format: "http://%s".
func addresses(servers []election.Member, format string, port int) string {
	var list []string
	for _, m := range servers {
		list = append(list, fmt.Sprintf(format, m.Addr.String()+":"+strconv.Itoa(port)))
	}
	return strings.Join(list, ",")
}

// candidateView is what a candidate tells of itself, under one lock: an undivided answer.
type candidateView struct {
	Leads  bool   `json:"leads"`
	Token  uint64 `json:"token"`
	Leader string `json:"leader"`
}

// status is what that says of the election. Who has started again knows of no leadership until the service tells it of one.
func (v candidateView) status(numbered bool) (election.Status, error) {
	s := election.Status{Term: v.Token}
	switch {
	case v.Leads:
		s.Role = election.Leader
	case numbered && v.Token == 0:
		s.Role = election.Unknown
	}
	if v.Leader != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(v.Leader, "n"))
		if s.Leader = election.ID(n); err != nil || s.Leader.String() != v.Leader {
			return election.Status{}, fmt.Errorf("targets: the leader %q is no candidate", v.Leader)
		}
	}
	return s, nil
}

// candidateObserver asks a candidate.
type candidateObserver struct {
	*asker
	numbered bool
}

// Observe asks for its view.
func (o candidateObserver) Observe(ctx context.Context) (election.Status, bool, error) {
	var v candidateView
	if err := o.ask(ctx, "/view", &v); err != nil {
		return election.Status{}, false, fmt.Errorf("targets: observe candidate: %w", err)
	}
	s, err := v.status(o.numbered)
	return s, false, err
}

// ReadLog reads "view {…}": candidates announce each new view on a line of its own.
func (s *service) ReadLog(_ election.ID, line string) (election.Status, bool) {
	text, announces := strings.CutPrefix(line, "view ")
	var v candidateView
	if !announces || json.Unmarshal([]byte(text), &v) != nil {
		return election.Status{}, false
	}
	status, err := v.status(s.numbered)
	return status, err == nil
}

// reachesServers is what the liveness of such an election takes. A client that is connected to a server which is cut off
// from the others need not notice before its lease is over.
const reachesServers = "all servers are up and all candidates reach them"

// server tells whether a node is one: servers are named s1, s2 and so on.
func server(node string) bool { return strings.HasPrefix(node, "s") }

// touchesServers reports whether a change concerns a server, a way to one, its clock, or its disk.
func touchesServers(did history.Changes) bool {
	return slices.ContainsFunc(did.Links, func(l history.Link) bool {
		return (server(l.From) || server(l.To)) && l.LinkState != history.LinkState{} && breaksLinks(did)
	}) || slices.ContainsFunc(did.Procs, func(p history.Proc) bool { return server(p.Node) && p.State != history.Up }) ||
		slices.ContainsFunc(did.Clocks, func(k history.Clock) bool { return server(k.Node) }) || failing(did, server)
}

// servicePromises are those of an election through a service that numbers its leaderships.
func servicePromises(more ...Promise) []Promise {
	return onDisksOf(server, append([]Promise{
		{Property: "single-leader-per-term"},
		{Property: "fencing"},
		{Property: "agreement"},
		{Property: "sticky-leader", While: reachesServers, Unless: touchesServers},
		{Property: "no-ping-pong", While: reachesServers, Unless: touchesServers},
		{Property: "elects", While: reachesServers, Unless: touchesServers},
	}, more...))
}
