package harness

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"recount/checkers"
	"recount/election"
	"recount/harness/record"
	"recount/history"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/nemesis"
	"recount/targets"
	"recount/workloads"
)

// Applicable returns the workloads that make sense for a target.
func Applicable(words []string, t *targets.Target) (fitting []string) {
	o, err := t.Parse(nil)
	for _, name := range words {
		if w, unknown := workloads.Find(name); err == nil && unknown == nil && fits(w, t, o) == nil {
			fitting = append(fitting, name)
		}
	}
	return fitting
}

// fits tells why a target cannot be under a workload, if it cannot.
func fits(w *workloads.Workload, t *targets.Target, o targets.Options) error {
	if w.Needs != 0 && !t.Can(w.Needs, o) {
		what, lacks := needed(w.Needs)
		err := fmt.Errorf("workload %s: %s cannot %s", w.Name, t.Name, what)
		if t.Definition != nil {
			return hint.Add(err, "%s; or leave the workload out", lacks)
		}
		return hint.Add(err, "recount list workloads says what each takes")
	}
	if t.System == nil || w.Writes == workloads.NoWrites {
		return nil
	}
	y, err := t.System(o)
	if err != nil {
		return err
	}
	writer, told := resourceOf(y)
	switch own := writer != nil || told != nil; {
	case own && w.Writes == workloads.AcceptStale:
		return hint.Add(fmt.Errorf("workload %s: %s has a resource of its own, which decides what it takes", w.Name, t.Name),
			"take the workload fence: it is about that one")
	case told == nil && observed(y) == election.ByLogs:
		return hint.Add(fmt.Errorf("workload %s: its writer asks each node whether it leads, and %s is observed by logs alone", w.Name, t.Name),
			"observe it by http, metrics or a command, have its log tell of its own writes (writes: {log: …}), or leave the workload out")
	}
	return nil
}

// needed is what a workload wants nodes to do, in words, and what a file lacks that does not say how.
func needed(do election.Verb) (what, lacks string) {
	switch do {
	case election.Resign:
		return "be asked to hand over", "the file lacks resign, which says how a leader is asked: resign: {http: /resign}"
	case election.Update:
		return "tell of what its leaders decide", "no field of a file is for that: only an algorithm in Go does it"
	}
	return "read and write a number for clients", "the file lacks register, which says how: register: {get: {http: /kv/x}, put: {http: /kv/x, body: '{{.Value}}'}}"
}

// observed is how a system's members are observed.
func observed(y election.System) election.Way {
	if o, says := y.(election.Observed); says {
		return o.Observed()
	}
	return election.OverDial
}

// silent returns what tells whether nobody can ask a node: where logs alone tell who leads, the servers that nodes elect through are asked.
func (s *subject) silent() func(node string) bool {
	byLogs := false
	if s.target.System != nil {
		y, err := s.target.System(s.options)
		byLogs = err == nil && observed(y) == election.ByLogs
	}
	return func(node string) bool { return byLogs && !slices.Contains(s.servers, node) }
}

// runnable tells why leaders cannot write where the run takes place, if they cannot: no command runs in virtual time.
func (s *subject) runnable(w *workloads.Workload) error {
	if s.On != record.OnVirtual || w.Writes == workloads.NoWrites {
		return nil
	}
	y, err := s.target.System(s.options)
	if err != nil {
		return err
	}
	overDial := observed(y) == election.OverDial || observed(y) == election.FromHere
	if writer, told := resourceOf(y); writer != nil || told == nil && !overDial {
		return hint.Add(fmt.Errorf("workload %s: no command runs in virtual time, and leaders of %s write by one", w.Name, s.Target),
			"add --on docker, or leave the workload out")
	}
	return nil
}

// subject is what a plan comes down to once its names are looked up.
type subject struct {
	record.Plan
	target  *targets.Target
	options targets.Options
	names   []string // candidates, then servers
	servers []string // of the names
	peers   bool     // nobody elects through the servers
	voting  []string // of the names, where not all vote
	bounds  history.Bounds
	notes   []string // on the plan
}

// Check finds what is wrong with a plan that is new.
func Check(p record.Plan) error {
	s, err := resolve(p)
	if err == nil {
		err = s.Schedule.CheckBegins(s.Time)
	}
	return Usage(err)
}

// CheckAgain finds what is wrong with a plan that a run was made by before, or with what is left of it.
func CheckAgain(p record.Plan) error {
	_, err := resolve(p)
	return Usage(err)
}

// resolve checks a plan, fills in its defaults, and draws its schedule.
func resolve(p record.Plan) (*subject, error) {
	s := &subject{Plan: p}
	var err error
	if s.target, err = targets.Find(p.Target); err != nil {
		return nil, err
	}
	s.target = s.target.On(p.On != record.OnSim, p.Options)
	if s.options, err = s.target.Parse(p.Options); err != nil {
		return nil, err
	}
	var system election.System
	if s.target.System != nil {
		if system, err = s.target.System(s.options); err != nil { // it checks what no option can tell alone
			return nil, err
		}
	}
	s.bounds = s.target.Bounds(s.options)
	if s.Schedule, err = s.Schedule.Timed(s.unit); err != nil {
		return nil, err
	}
	if s.Nodes == 0 {
		s.Nodes = 5
		if s.target.Servers != nil {
			s.Nodes = 3 // candidates, and there are servers besides
		}
	}
	if s.Time == 0 {
		s.Time = max(30*time.Second, s.Schedule.End()+5*time.Second)
	}
	switch {
	case p.On != record.OnSim && p.On != record.OnVirtual && p.On != record.OnDocker:
		return nil, hint.Unknown("place to run on", p.On, []string{record.OnSim, record.OnVirtual, record.OnDocker})
	case p.On == record.OnVirtual && s.target.System == nil:
		return nil, hint.Add(fmt.Errorf("%s is an algorithm, not a real server: there is nothing to run in virtual time", p.Target),
			"the simulator runs algorithms in virtual time: leave --on away")
	case p.On == record.OnSim && s.target.Node == nil:
		return nil, hint.Add(fmt.Errorf("%s is a real system: it cannot be simulated", p.Target), "add --on docker; or --on virtual, where it is all Go")
	case CheckSize(s.Nodes) != nil:
		return nil, CheckSize(s.Nodes)
	case s.Time < 0:
		return nil, hint.Add(fmt.Errorf("time %v", s.Time), "a run lasts a positive time, such as 30s")
	}
	if ops := 2 * float64(s.Nodes) * s.Time.Seconds() / s.bounds.Poll.Seconds(); ops > fewOps && ops > roomForOps() {
		longest := time.Duration(roomForOps() / ops * float64(s.Time)).Truncate(time.Minute)
		return nil, hint.Add(fmt.Errorf("%v of %d nodes make about %.3g ops: no more than %.3g fit into memory", s.Time, s.Nodes, ops, roomForOps()),
			"take a --time of %v or less, or several runs with different seeds", longest)
	}
	if err := s.name(); err != nil {
		return nil, err
	}
	if _, err := schedule(p.Goroutines); err != nil {
		return nil, err
	}
	if p.Goroutines != "" && p.On != record.OnVirtual {
		return nil, hint.Add(fmt.Errorf("goroutines in %s order: only real servers in virtual time have them", p.Goroutines), "add --on virtual")
	}
	if p.On == record.OnVirtual {
		if err := s.runsVirtual(); err != nil {
			return nil, err
		}
	}
	for _, name := range p.Workloads {
		w, err := workloads.Find(name)
		if err != nil {
			return nil, err
		}
		if err := fits(w, s.target, s.options); err != nil {
			return nil, err
		}
		if err := s.runnable(w); err != nil {
			return nil, err
		}
	}
	for _, name := range p.Unfit {
		if w, err := workloads.Find(name); err == nil {
			if why := fits(w, s.target, s.options); why != nil {
				s.notes = append(s.notes, fmt.Sprintf("the scenario's clients leave something out: %v", why))
			}
		}
	}
	for _, property := range slices.Concat(p.Require, sortedKeys(p.Expect)) {
		if err := KnownProperty(property); err != nil {
			return nil, err
		}
		if v := p.Expect[property]; v > checkers.Invalid {
			return nil, hint.Add(fmt.Errorf("expect %s: there is no verdict number %d", property, int(v)), "checkers.Valid or checkers.Invalid")
		}
	}
	if len(p.Schedule) == 0 && len(p.Faults) > 0 {
		if err := s.draw(); err != nil {
			return nil, err
		}
	}
	if err := s.Schedule.Check(s.names); err != nil {
		return nil, err
	}
	if err := s.Schedule.CheckParts(sortedKeys(s.target.Processes)); err != nil {
		return nil, err
	}
	if p.On != record.OnSim {
		if err := cmp.Or(s.Schedule.CheckBlind(), nemesis.CheckBlindActions(s.Recorded)); err != nil {
			return nil, err
		}
	}
	if err := nemesis.CheckActions(s.Recorded, s.names); err != nil {
		return nil, err
	}
	if err := s.answers(); err != nil {
		return nil, err
	}
	if err := s.Schedule.CheckEnds(s.Time); err != nil {
		return nil, err
	}
	if system != nil {
		if err := there(system); err != nil {
			return nil, err
		}
		if err := s.fitting(system); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// there tells what is missing on this machine of what a system's nodes are made of.
func there(system election.System) error {
	if made, known := system.(interface{ There() error }); known {
		return made.There()
	}
	return nil
}

// fitting tells what cannot be started or asked of the run's members, of a system that can tell. Where they will be, nobody knows yet.
func (s *subject) fitting(system election.System) error {
	made, known := system.(interface {
		Fits(all []election.Member) error
	})
	if !known {
		return nil
	}
	id := election.ID(0)
	return made.Fits(s.members(func(string) netip.Addr {
		id++
		return targets.Unplaced(id)
	}))
}

// runsVirtual tells why the target's servers cannot run in virtual time, if they cannot.
func (s *subject) runsVirtual() error {
	if runtime.GOOS != "linux" {
		return hint.Add(errors.New("virtual time is for Linux alone: nodes are processes whose kernel Recount stands in for"),
			"add --on docker, or run Recount itself on Linux")
	}
	system, err := s.target.System(s.options)
	if err != nil {
		return err
	}
	if e, says := system.(election.Encrypted); says && e.Encrypted() {
		return hint.Add(fmt.Errorf("%s is asked over TLS, whose keys no seed decides: not in virtual time", s.Target),
			"have it answer without TLS where it runs so, or add --on docker")
	}
	if b, can := system.(election.Bootstrapper); can && b.Bootstraps() {
		return hint.Add(fmt.Errorf("nodes of %s become a cluster by a command (bootstrap), and no command runs in virtual time", s.Target),
			"have them find each other by what they are started with, or add --on docker")
	}
	if s.target.Multicast {
		return hint.Add(fmt.Errorf("nodes of %s send to groups or share an address (multicast), and in virtual time each has one address and hears what is sent to that", s.Target),
			"add --on docker")
	}
	_, err = s.images(system, func(i election.Image) (string, error) { return "", runsVirtual(i) })
	return err
}

// name gives nodes and servers their names, and says which of them vote.
func (s *subject) name() (err error) {
	for i := range s.Nodes {
		s.names = append(s.names, election.ID(i+1).String())
	}
	if s.voting, err = s.voters(); err != nil || s.target.Servers == nil {
		return err
	}
	for i := range s.target.Servers(s.options) {
		s.servers = append(s.servers, fmt.Sprintf("s%d", i+1))
	}
	s.names = append(s.names, s.servers...)
	if s.target.Electors != nil {
		if through := s.target.Electors(s.options); len(through) > 0 {
			s.voting = through
		} else {
			s.peers = true
		}
	}
	return nil
}

// voters are those of whom a leader takes a majority, if not all nodes vote; else nil.
func (s *subject) voters() (names []string, err error) {
	if s.target.Voters == nil {
		return nil, nil
	}
	ids, err := s.target.Voters(s.options, s.Nodes)
	if err != nil || len(ids) == s.Nodes {
		return nil, err
	}
	for _, id := range ids {
		names = append(names, id.String())
	}
	return names, nil
}

// unit is what a schedule may give its times in multiples of: the target's silence, or an option that is a duration.
func (s *subject) unit(of string) (time.Duration, error) {
	if of == "" {
		return s.bounds.Silence, nil
	}
	scale, names := 1.0, []string{}
	for _, o := range s.target.Options {
		switch {
		case o.Name == "scale" && o.Kind == targets.Number: // of all of an algorithm's times
			scale = s.options.Number(o.Name)
		case o.Kind == targets.Duration:
			names = append(names, o.Name)
		}
	}
	if !slices.Contains(names, of) {
		return 0, hint.Unknown("time of "+s.Target, of, names)
	}
	return time.Duration(scale * float64(s.options.Duration(of))), nil
}

// expected is how many ops a run is to record, at a guess that is seldom too low: polls, and a quarter as many of all
// else; up to a million, for which room may be made at once.
func (s *subject) expected() int {
	polls := 2 * s.Nodes * int((s.Time+s.bounds.Elect)/s.bounds.Poll)
	return min(polls+polls/4, 1_000_000)
}

// KnownProperty returns an error that lists the properties if there is none of that name.
func KnownProperty(property string) error {
	var known []string
	for _, c := range checkers.All() {
		known = append(known, c.Property)
	}
	switch {
	case property == NoProgress || slices.Contains(known, property):
		return nil
	case strings.Contains(property, ","):
		return hint.Add(fmt.Errorf("%q is more than one property", property), "name one")
	default:
		return hint.Unknown("property", property, known)
	}
}

// MaxNodes is how many nodes a cluster may have.
const MaxNodes = 99

// CheckSize finds what is wrong with a number of nodes.
func CheckSize(nodes int) error {
	if nodes < 2 || nodes > MaxNodes {
		return hint.Add(fmt.Errorf("a run of %s cannot be made", count.Of(nodes, "node")), "an election takes 2 to %d nodes", MaxNodes)
	}
	return nil
}
