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
	s, system, err := lookUp(p)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		s.fillIn, s.checkPlace, s.checkExtent, s.name, s.checkVirtual, s.checkWorkloads, s.checkProperties, s.checkFaults,
	} {
		if err := step(); err != nil {
			return nil, err
		}
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

// lookUp finds what a plan names: its target, and the system that its options make of that; nil of an algorithm.
func lookUp(p record.Plan) (s *subject, system election.System, err error) {
	s = &subject{Plan: p}
	if s.target, err = targets.Find(p.Target); err != nil {
		return nil, nil, err
	}
	s.target = s.target.On(p.On != record.OnSim, p.Options)
	if s.options, err = s.target.Parse(p.Options); err != nil {
		return nil, nil, err
	}
	if s.target.System != nil {
		if system, err = s.target.System(s.options); err != nil { // it checks what no option can tell alone
			return nil, nil, err
		}
	}
	s.bounds = s.target.Bounds(s.options)
	if err := s.bounds.Fit(); err != nil { // a history of it could not be read
		return nil, nil, hint.Add(fmt.Errorf("%s: %w", s.Target, err), "give it shorter times")
	}
	return s, system, nil
}

// fillIn gives a plan its defaults.
func (s *subject) fillIn() (err error) {
	if s.Schedule, err = s.Schedule.Timed(s.unit); err != nil {
		return err
	}
	if s.Nodes == 0 {
		usual := 5
		if s.target.Servers != nil {
			usual = 3 // candidates, and there are servers besides
		}
		s.Nodes = cmp.Or(s.target.Size, usual)
	}
	if s.Time == 0 {
		s.Time = max(30*time.Second, s.Schedule.End()+5*time.Second)
	}
	return nil
}

// checkPlace tells why the target does not run where the plan says.
func (s *subject) checkPlace() error {
	switch {
	case s.On != record.OnSim && s.On != record.OnVirtual && s.On != record.OnDocker:
		return hint.Unknown("place to run on", s.On, []string{record.OnSim, record.OnVirtual, record.OnDocker})
	case s.On == record.OnVirtual && s.target.System == nil:
		return hint.Add(fmt.Errorf("%s is an algorithm, not a real server: there is nothing to run in virtual time", s.Target),
			"the simulator runs algorithms in virtual time: leave %v away", hint.Named("on"))
	case s.On == record.OnSim && s.target.Node == nil:
		return hint.Add(fmt.Errorf("%s is a real system: it cannot be simulated", s.Target), "add %v; or %v, where it is all Go", hint.Set("on", record.OnDocker), hint.Set("on", record.OnVirtual))
	}
	return nil
}

// checkExtent tells whether the run has too many nodes or ops, or too few, or ends before it begins.
func (s *subject) checkExtent() error {
	if err := CheckSize(s.Nodes); err != nil {
		return err
	}
	if s.Time < 0 {
		return hint.Add(fmt.Errorf("time %v", s.Time), "a run lasts a positive time, such as 30s")
	}
	if ops := 2 * float64(s.Nodes) * s.Time.Seconds() / s.bounds.Poll.Seconds(); ops > fewOps && ops > roomForOps() {
		longest := time.Duration(roomForOps() / ops * float64(s.Time)).Truncate(time.Minute)
		return hint.Add(fmt.Errorf("%v of %d nodes make about %.3g ops: no more than %.3g fit into memory", s.Time, s.Nodes, ops, roomForOps()),
			"take a %v of %v or less, or several runs with different seeds", hint.Named("time"), longest)
	}
	return nil
}

// checkVirtual tells what of a plan only virtual time has, and why the target's servers cannot run in it.
func (s *subject) checkVirtual() error {
	if _, err := schedule(s.Goroutines); err != nil {
		return err
	}
	if s.On == record.OnVirtual {
		return s.runsVirtual()
	}
	if s.Goroutines != "" {
		return hint.Add(fmt.Errorf("goroutines in %s order: only real servers in virtual time have them", s.Goroutines), "add %v", hint.Set("on", record.OnVirtual))
	}
	return nil
}

// checkWorkloads tells which of the plan's workloads the target cannot be under.
func (s *subject) checkWorkloads() error {
	for _, name := range s.Workloads {
		w, err := workloads.Find(name)
		if err != nil {
			return err
		}
		if err := fits(w, s.target, s.options); err != nil {
			return err
		}
		if err := s.runnable(w); err != nil {
			return err
		}
	}
	for _, name := range s.Unfit {
		if w, err := workloads.Find(name); err == nil {
			if why := fits(w, s.target, s.options); why != nil {
				s.notes = append(s.notes, fmt.Sprintf("the scenario's clients leave something out: %v", why))
			}
		}
	}
	return nil
}

// checkProperties tells which properties, or verdicts on them, there are not.
func (s *subject) checkProperties() error {
	for _, property := range slices.Concat(s.Require, sortedKeys(s.Expect)) {
		if err := KnownProperty(property); err != nil {
			return err
		}
		if v := s.Expect[property]; v > checkers.Invalid {
			return hint.Add(fmt.Errorf("expect %s: there is no verdict number %d", property, int(v)), "checkers.Valid or checkers.Invalid")
		}
	}
	return nil
}

// checkFaults draws the schedule, unless the plan has one, and tells what of it cannot be done.
func (s *subject) checkFaults() error {
	if len(s.Schedule) == 0 && len(s.Faults) > 0 {
		if err := s.draw(); err != nil {
			return err
		}
	}
	if err := s.Schedule.Check(s.names); err != nil {
		return err
	}
	if err := s.Schedule.CheckParts(sortedKeys(s.target.Processes)); err != nil {
		return err
	}
	if s.On != record.OnSim {
		if err := cmp.Or(s.Schedule.CheckBlind(), nemesis.CheckBlindActions(s.Recorded)); err != nil {
			return err
		}
	}
	if err := nemesis.CheckActions(s.Recorded, s.names); err != nil {
		return err
	}
	if err := s.answers(); err != nil {
		return err
	}
	s.noteBrief()
	return s.Schedule.CheckEnds(s.Time)
}

// there tells what is missing on this machine that a system's nodes are made of.
func there(system election.System) error {
	if s, tells := system.(election.Sourced); tells {
		return s.There()
	}
	return nil
}

// fitting tells which of the run's members cannot be started or asked, of a system that can tell. Their addresses are not known yet.
func (s *subject) fitting(system election.System) error {
	f, tells := system.(election.Fitting)
	if !tells {
		return nil
	}
	id := election.ID(0)
	return f.Fits(s.members(func(string) netip.Addr {
		id++
		return targets.Unplaced(id)
	}))
}

// runsVirtual tells why the target's servers cannot run in virtual time, if they cannot.
func (s *subject) runsVirtual() error {
	if runtime.GOOS != "linux" {
		return hint.Add(errors.New("virtual time is for Linux alone: nodes are processes whose kernel Recount stands in for"),
			"add %v, or run Recount itself on Linux", hint.Set("on", record.OnDocker))
	}
	system, err := s.target.System(s.options)
	if err != nil {
		return err
	}
	if e, says := system.(election.Encrypted); says && e.Encrypted() {
		return hint.Add(fmt.Errorf("%s is asked over TLS, whose keys no seed decides: not in virtual time", s.Target),
			"have it answer without TLS where it runs so, or add %v", hint.Set("on", record.OnDocker))
	}
	if err := s.commandless(system); err != nil {
		return err
	}
	if s.target.Shared {
		return hint.Add(fmt.Errorf("nodes of %s share a folder, and in virtual time each has its own", s.Target), "add %v", hint.Set("on", record.OnDocker))
	}
	_, err = s.images(system, func(i election.Image) (string, error) { return "", runsVirtual(i) })
	return err
}

// commandless tells what of a run takes a command in a node, if anything does: none runs in virtual time.
func (s *subject) commandless(system election.System) error {
	founds, starts := false, false
	if b, can := system.(election.Bootstrapper); can {
		_, founds = b.Bootstraps()
	}
	if b, can := system.(election.Starter); can {
		_, starts = b.Starts()
	}
	for _, by := range []struct {
		command   bool
		what, way string
	}{
		{founds, "become a cluster by a command (bootstrap)", "ask them by HTTP (bootstrap: {http: …}), have them find each other by what they are started with"},
		{starts, "are told of their starts by a command (post-start)", "tell them by HTTP (post-start: {http: …})"},
		{s.target.OwnByCommand && len(nemesis.Owns(s.Schedule, s.Recorded)) > 0, "are asked for faults of its own by a command",
			"ask for them by HTTP (inject: {http: …}), leave the fault own out"},
	} {
		if by.command {
			return hint.Add(fmt.Errorf("nodes of %s %s, and no command runs in virtual time", s.Target, by.what), "%s, or add %v", by.way, hint.Set("on", record.OnDocker))
		}
	}
	return nil
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

// CheckSize finds what is wrong with a number of nodes.
func CheckSize(nodes int) error {
	if nodes < 2 || nodes > targets.MaxNodes {
		return hint.Add(fmt.Errorf("a run of %s cannot be made", count.Of(nodes, "node")), "an election takes 2 to %d nodes", targets.MaxNodes)
	}
	return nil
}
