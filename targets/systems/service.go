package systems

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"recount/docker/recipes"
	"recount/election"
	"recount/history"
	"recount/targets"
)

// Service is a system of candidates that elect through a real service, in containers of their own. The candidates are
// mains of ours: all are started alike, and tell their views alike.
type Service struct {
	Candidate election.Image  // of the candidates
	Servers   election.System // what they elect through
	Numbered  bool            // whether it numbers leaderships
	// Flags are those of a candidate's command that say more than its name.
	Flags func(self election.Member, candidates, servers []election.Member) []string
}

// Image is that of the candidates.
func (s *Service) Image() election.Image { return s.Candidate }

// ServerImage is that of all servers.
func (s *Service) ServerImage(election.Member) election.Image { return s.Servers.Image() }

// Container starts a candidate, or a server, to which the servers are all there are.
func (s *Service) Container(self election.Member, all []election.Member) election.Container {
	candidates, servers := split(all)
	if self.Server {
		return s.Servers.Container(self, servers)
	}
	command := []string{"/usr/bin/candidate", "-name=" + self.Name}
	return election.Container{Command: append(command, s.Flags(self, candidates, servers)...)}
}

// Observer asks a candidate for its view, and a server as its own system does.
func (s *Service) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	if self.Server {
		_, servers := split(all)
		return s.Servers.Observer(self, servers, dial)
	}
	return candidateObserver{NewAsker(dial, candidatePort), s.Numbered}
}

// candidateMain is the file that the mains of all candidates share: how they tell their views.
//
//go:embed candidate.go.txt
var candidateMain string

// CandidateRecipe is how a candidate is made with each version of a client that a pattern lets through: of a main and a go.mod, in
// which VERSION stands for the client's.
func CandidateRecipe(versions *regexp.Regexp, main, mod string, more ...string) func(version string) recipes.Recipe {
	return func(version string) recipes.Recipe {
		if !versions.MatchString(version) {
			return nil
		}
		return recipes.GoMain{
			Main: main,
			More: append([]string{candidateMain}, more...),
			Mod:  strings.ReplaceAll(mod, "VERSION", version),
			Path: "usr/bin/candidate",
		}
	}
}

// candidatePort is where a candidate tells its view.
const candidatePort = 7300

// ServersOption is how many servers the candidates elect through.
func ServersOption(servers string) targets.Option {
	return targets.Option{
		Name: "servers", Kind: targets.Choice, Default: servers, Choices: strings.Split("1 2 3 4 5 6 7 8 9", " "),
		About: "how many servers the candidates elect through",
	}
}

// CountServers reads that option.
func CountServers(o targets.Options) int { return int(o.Value("servers")[0] - '0') }

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

// Addresses lists where members listen, in their order, each address written by its format: "http://%s".
func Addresses(members []election.Member, format string, port uint16) string {
	var list []string
	for _, m := range members {
		list = append(list, fmt.Sprintf(format, netip.AddrPortFrom(m.Addr, port)))
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
			return election.Status{}, fmt.Errorf("the leader %q is no candidate", v.Leader)
		}
	}
	return s, nil
}

// candidateObserver asks a candidate.
type candidateObserver struct {
	*Asker
	numbered bool
}

// Observe asks for its view.
func (o candidateObserver) Observe(ctx context.Context) (election.Status, bool, error) {
	var v candidateView
	if err := o.Ask(ctx, "/view", &v); err != nil {
		return election.Status{}, false, fmt.Errorf("observe candidate: %w", err)
	}
	s, err := v.status(o.numbered)
	return s, false, err
}

// ReadLog reads "view {…}": candidates announce each new view on a line of its own.
func (s *Service) ReadLog(_ election.ID, line string) (election.Status, bool) {
	text, announces := strings.CutPrefix(line, "view ")
	var v candidateView
	if !announces || json.Unmarshal([]byte(text), &v) != nil {
		return election.Status{}, false
	}
	status, err := v.status(s.Numbered)
	return status, err == nil
}

// ReachesServers is what the liveness of such an election takes. A client that is connected to a server which is cut off
// from the others need not notice before its lease is over.
const ReachesServers = "all servers are up and all candidates reach them"

// server tells whether a node is one: servers are named s1, s2 and so on.
func server(node string) bool { return strings.HasPrefix(node, "s") }

// TouchesServers reports whether a change concerns a server, a way to one, its clock, or its disk.
func TouchesServers(did history.Changes) bool {
	return slices.ContainsFunc(did.Links, func(l history.Link) bool {
		return (server(l.From) || server(l.To)) && l.LinkState != history.LinkState{} && targets.BreaksLinks(did)
	}) || slices.ContainsFunc(did.Procs, func(p history.Proc) bool { return server(p.Node) && p.State != history.Up }) ||
		slices.ContainsFunc(did.Clocks, func(k history.Clock) bool { return server(k.Node) }) || targets.FailsDisk(did, server)
}

// ServicePromises are those of an election through a service that numbers its leaderships.
func ServicePromises(more ...targets.Promise) []targets.Promise {
	return OnServersDisks(append([]targets.Promise{
		{Property: "single-leader-per-term"},
		{Property: "fencing"},
		{Property: "agreement"},
		{Property: "sticky-leader", While: ReachesServers, Suspended: TouchesServers},
		{Property: "no-ping-pong", While: ReachesServers, Suspended: TouchesServers},
		{Property: "elects", While: ReachesServers, Suspended: TouchesServers},
	}, more...))
}

// OnServersDisks has promises rest on what the servers' disks keep.
func OnServersDisks(promises []targets.Promise) []targets.Promise {
	return targets.OnDisksOf(server, promises)
}

// Release takes a version such as 1.7.3 apart: its minor version is 7 and its patch 3. What is not told is 0.
func Release(version string) (minor, patch int) {
	fmt.Sscanf(version, "%d.%d.%d", new(int), &minor, &patch)
	return minor, patch
}

// CheckVersion refuses a version, given by an option, of which no image can be had.
func CheckVersion(option string, image election.Image) error {
	if err := recipes.Check(image); err != nil {
		return fmt.Errorf("option %s: %w", option, err)
	}
	return nil
}
