package harness

import (
	"runtime"
	"slices"

	"recount/docker"
	"recount/election"
	"recount/harness/record"
	"recount/nemesis"
	"recount/targets"
)

// Drawn returns the names of the faults that "all" stands for in a run of a target: those that can take effect there. Not every
// election can be asked to hand over, or to change its members. A server in a container that keeps no data has no disk that could fail, and the clocks of
// programs can be skewed on amd64 only: an engine is taken to be on a machine of this one's kind. Of a target that is not known,
// it is all.
func Drawn(target string, options map[string]string, on string) []string {
	return drawnOn(target, options, on, runtime.GOARCH)
}

func drawnOn(target string, options map[string]string, on, architecture string) []string {
	lacks := lacking(target, options, on, architecture)
	return slices.DeleteFunc(nemesis.Drawn(), func(name string) bool { return lacks(name) != "" })
}

// Lack is what a target or a machine does not have that a fault takes.
type Lack string

// The lacks.
const (
	NoResign  Lack = "resign"  // leaders cannot be asked to hand over
	NoMembers Lack = "members" // the cluster cannot be asked to change its members
	NoLearner Lack = "learner" // who is added votes at once
	NoData    Lack = "data"    // nodes have no disk
	NoClocks  Lack = "clocks"  // programs of that architecture have clocks that cannot be skewed
)

// Undrawn returns the faults that Drawn leaves out, by what is lacking for them.
func Undrawn(target string, options map[string]string, on string) map[Lack][]string {
	lacks, out := lacking(target, options, on, runtime.GOARCH), map[Lack][]string{}
	for _, name := range nemesis.Drawn() {
		if l := lacks(name); l != "" {
			out[l] = append(out[l], name)
		}
	}
	return out
}

// lacking returns what tells what is lacking for a fault, the target's before the machine's; "" if nothing is.
func lacking(target string, options map[string]string, on, architecture string) func(fault string) Lack {
	answers, members, learners, data := takes(target, options, on, handsOver), takes(target, options, on, reconfigures),
		takes(target, options, on, teaches), takes(target, options, on, keepsData)
	clocks := on != record.OnDocker || docker.CanSkew(architecture) == nil
	return func(fault string) Lack {
		f, err := nemesis.Find(fault)
		switch {
		case err != nil:
		case f.Members && !members:
			return NoMembers
		case f.Learners && !learners:
			return NoLearner
		case f.Asks && !answers:
			return NoResign
		case f.Disks && !data:
			return NoData
		case f.Clocks && !clocks:
			return NoClocks
		}
		return ""
	}
}

// takes tells whether a target can do something there, as far as that is known.
func takes(target string, options map[string]string, on string, can func(t *targets.Target, o targets.Options, on string) bool) bool {
	t, err := targets.Find(target)
	if err != nil {
		return true
	}
	t = t.On(on != record.OnSim, options)
	o, err := t.Parse(options)
	return err != nil || can(t, o, on)
}

// handsOver tells whether a target's leaders can be asked to hand over.
func handsOver(t *targets.Target, o targets.Options, _ string) bool { return t.Can(election.Resign, o) }

// keepsData tells whether a target's nodes have a disk, as far as that is known.
func keepsData(t *targets.Target, o targets.Options, on string) bool {
	if on == record.OnSim || t.System == nil {
		return true
	}
	system, err := t.System(o)
	if err != nil {
		return true
	}
	if described, is := system.(interface{ KeepsData() bool }); is {
		return described.KeepsData() // its container can be filled in for members of a run only, of which nobody knows here how many there are
	}
	n := election.Member{ID: 1, Name: "n1", Addr: targets.Unplaced(1)}
	return system.Container(n, []election.Member{n}).Data != ""
}
